/* The oracle's findings: kept in memory for fault_oracle_...(), and as lines in a file. Any thread. */
#ifndef DRIVER_ORACLE_REPORT_H
#define DRIVER_ORACLE_REPORT_H

#include "fault_driver.h"

/* The file to append to from now on; NULL or "": none. */
void oracle_report_open(const char *path);

/* How many there are: those that one command causes begin here. */
uint32_t oracle_report_position(void);

/* Adds one. A finding of the same kind about another subresource of the same image with the same layouts,
 * already added at or behind `since`, is only counted there. */
void oracle_report_add(const struct fault_violation *violation, uint32_t since);

/* "VK_IMAGE_LAYOUT_" left out; a number where it isn't known. In storage of the caller's. */
#define LAYOUT_NAME_SIZE 64
const char *layout_name(VkImageLayout layout, char name[LAYOUT_NAME_SIZE]);

#endif
