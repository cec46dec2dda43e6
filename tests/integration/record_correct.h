/* Programs that are right: every kind of command that the layer looks at, each in the layouts that the
 * specification wants. */
#ifndef RECORD_CORRECT_H
#define RECORD_CORRECT_H

#include "record_app.h"

struct correct {
    const char *name;
    record_function record;
    bool judged; /* by the oracle, which takes it that a render pass moves views as a whole */
};
extern const struct correct correct_programs[];
extern const uint32_t correct_program_count;

/* What they use beside the application's objects. */
void correct_open(const struct record_app *app);
void correct_close(const struct record_app *app);

#endif
