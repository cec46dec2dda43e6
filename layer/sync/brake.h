/* The emergency brake: if the device is lost in a process whose barriers were repaired, that may have been
 * the repairs' doing, and a program that crashes under them shouldn't crash every time. So its next runs only
 * report, until the user deletes the mark or sets barriers to repair, or the mark is 7 days old; however
 * those runs end. The mark is a file beside this application's stores, see store.h; where nothing may be
 * written (persist, browsers, secure processes) there is no brake. */
#ifndef RC_SYNC_BRAKE_H
#define RC_SYNC_BRAKE_H

#include <stdbool.h>

struct device_sync;
struct instance;

/* Whether an earlier run of this application has left its mark, so that `barriers`, which is repair, has to
 * become report. Removes one that is too old, or that the user has overruled. To be called while the instance
 * is created, once its report can be written to. */
bool brake_is_on(const struct instance *instance);

/* The one warning that it is on, and how to release it. */
void brake_say(const struct instance *instance);

/* The device was lost: leaves the mark if barriers were repaired on it. Once per instance; any thread, no
 * lock held. */
void brake_device_lost(struct device_sync *sync);

#endif
