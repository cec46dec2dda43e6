/* Fault rules: which calls they fit and what they do to them. The syntax stands in fault_driver.h. */
#ifndef DRIVER_FAULTS_H
#define DRIVER_FAULTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

#define FAULT_TEXT_SIZE 256

enum fault_crash {
    FAULT_CRASH_NONE,
    FAULT_CRASH_SEGV,
    FAULT_CRASH_ABORT,
    FAULT_CRASH_KILL,
};

enum fault_block {
    FAULT_BLOCK_NONE,
    FAULT_BLOCK_FLAG,
    FAULT_BLOCK_DESCRIPTOR,
    FAULT_BLOCK_FIFO,
};

struct fault_effects {
    bool has_result;
    bool after;
    VkResult result;
    uint64_t delay_us;
    enum fault_block block;
    int block_descriptor;
    const char *block_path; /* the rule's */
    enum fault_crash crash;
    bool drop;
    bool untouched;
    bool has_reported;
    uint64_t reported;
    uint64_t grow;
    uint64_t shortfall;
};

enum fault_condition {
    FAULT_WHEN_ALWAYS,
    FAULT_WHEN_DATA,
    FAULT_WHEN_NO_DATA,
    FAULT_WHEN_CORRUPT,
    FAULT_WHEN_QUERY,
    FAULT_WHEN_FETCH,
    FAULT_WHEN_EXTENSION,
    FAULT_WHEN_CHAIN,
};

struct fault_rule {
    char function[FAULT_TEXT_SIZE]; /* glob */
    uint32_t first;                 /* of the calls that fit, from 1 */
    uint32_t last;
    enum fault_condition condition;
    char extension[FAULT_TEXT_SIZE];
    VkStructureType chained;
    char path[FAULT_TEXT_SIZE];
    struct fault_effects effects;
    atomic_uint calls; /* that fit so far */
};

/* Reads what stands behind "fault=". 0 or -EINVAL with a sentence in `problem`. Changes `text`. */
int fault_rule_parse(struct fault_rule *rule, char *text, char *problem, size_t problem_size);

struct call;

/* Counts the call for every rule that it fits, and adds up the effects of those that act on it: the first
 * result, the sum of delays and sizes, any flag. */
void faults_collect(struct call *call, struct fault_effects *effects);

/* Carries out delay, block and crash, in this order. */
void faults_apply(struct call *call, const struct fault_effects *effects);

/* A new configuration: nobody is held any more, and new calls will be. */
void faults_restart(void);

#endif
