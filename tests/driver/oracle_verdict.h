/* What the oracle's tests have in common: how it is asked, and what it ought to have found. */
#ifndef ORACLE_VERDICT_H
#define ORACLE_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "oracle_scene.h"

/* The driver, from the beginning, with this configuration. */
void verdict_configure(const char *text);

/* Whether the kinds of violations found aren't those expected (enum fault_oracle_kind, united); says so then.
 * A scene that was validated is judged by validation instead, which has messages where rules are broken:
 * validation swallows some of the commands that it complains about, so that the driver doesn't see them. */
bool verdict_is_wrong(const char *name, uint32_t expected, const struct scene *validated);

#endif
