/* Objects come and go in any order, on any thread, or not at all. P01, P02, P03, C34.
 *
 * P11 (submit chains), P12 (command pools) and P21 (recording threads) are about command buffers, which
 * nothing of the layer touches yet. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "app.h"
#include "child.h"
#include "sandbox.h"

static struct sandbox sandbox;

static void run(child_body body, const char *drivers)
{
    sandbox_create(&sandbox);
    assert_true(child_run(body, (void *)drivers, sandbox_path(&sandbox, "stderr")));
    sandbox_destroy(&sandbox);
}

/* P02 */
static void leave_everything(void *drivers)
{
    struct app app;
    sandbox_enter(&sandbox, LAYER_IMPLICIT, drivers);
    app_begin(&app);
    for (uint32_t n = 0; n < 8; n++)
        app_create_pipeline(&app, VK_NULL_HANDLE, n);
}

static void test_exit_without_destroying(void **state)
{
    (void)state;
    run(leave_everything, LAVAPIPE_MANIFEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_without_destroying),
    };
    return cmocka_run_group_tests_name("lifecycle", tests, NULL, NULL);
}
