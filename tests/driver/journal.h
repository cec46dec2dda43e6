/* The journal: records in memory, counts per function, lines in a file. */
#ifndef DRIVER_JOURNAL_H
#define DRIVER_JOURNAL_H

#include "fault_driver.h"
#include "driver_commands.h"

/* Counts the call; and adds its record if `keep`. */
void journal_call(enum command_id command, const struct fault_record *record, bool keep);
/* Keeps and writes a record, a call's or another event's. */
void journal_add(const struct fault_record *record);
/* The file to append to from now on; NULL or "": none. */
void journal_open(const char *path);
void journal_clear(void);
/* Records that the driver was handed this cache data. */
void journal_cache_data(const void *data, size_t size);

#endif
