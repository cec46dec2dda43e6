/* One call into the driver, from the wrapper's entry to its return: where fault rules act and records are
 * made. */
#ifndef DRIVER_CALL_H
#define DRIVER_CALL_H

#include "driver_commands.h"
#include "fault_driver.h"
#include "faults.h"

struct call {
    enum command_id command;
    uint64_t parent;       /* first argument */
    uint64_t handle;       /* second one if it is a handle; then the object created */
    const void *info;      /* the first const structure with sType, or NULL */
    VkPipelineCache cache; /* the first argument of this type */
    void *output;          /* the last argument if it points to something writable */
    bool ran;              /* the implementation was called */
    struct fault_effects effects;
    struct fault_record record; /* details are added by the implementation */
};

/* Applies the rules that fit (delay, block, crash) and says whether the implementation is to run. Until
 * call_end() it is this thread's call_current(). */
bool call_begin(struct call *call);

/* Writes the record; returns what the caller gets: `result`, or what a rule put in its place. */
VkResult call_end(struct call *call, VkResult result);

/* The same for functions that return no VkResult. */
void call_end_plain(struct call *call);

struct call *call_current(void);

#endif
