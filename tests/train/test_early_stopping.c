/* Early stopping: which epoch is the best one, and when the patience is exhausted. */
#include "support.h"

#include "early_stopping.h"

#include <math.h>

static void the_best_epoch(void **state) {
    (void)state;
    sfu__early_stopping stopping = sfu__early_stopping_start(3);
    assert_int_equal(stopping.best_epoch, 0);
    assert_true(isnan(stopping.best_val_loss));
    assert_true(sfu__early_stopping_is_best(&stopping, 0, 9.0)); /* the first epoch, however bad */
    sfu__early_stopping_keep(&stopping, 1, 5, 2.0);
    assert_true(sfu__early_stopping_is_best(&stopping, 6, 3.0));  /* more correct */
    assert_true(sfu__early_stopping_is_best(&stopping, 5, 1.5));  /* as many, lower loss */
    assert_false(sfu__early_stopping_is_best(&stopping, 5, 2.0)); /* the earlier epoch wins */
    assert_false(sfu__early_stopping_is_best(&stopping, 4, 0.1));
    sfu__early_stopping_keep(&stopping, 4, 7, 1.0);
    assert_int_equal(stopping.best_epoch, 4);
    assert_true(stopping.best_val_score == 7);
    assert_true(stopping.best_val_loss == 1.0);
}

static void a_lower_loss_does_not_reset_the_patience(void **state) {
    (void)state;
    sfu__early_stopping stopping = sfu__early_stopping_start(3);
    sfu__early_stopping_keep(&stopping, 1, 5, 2.0);
    sfu__early_stopping_keep(&stopping, 3, 5, 1.0);
    assert_false(sfu__early_stopping_ends(&stopping, 3));
    assert_true(sfu__early_stopping_ends(&stopping, 4));
    sfu__early_stopping_keep(&stopping, 4, 6, 1.0);
    assert_false(sfu__early_stopping_ends(&stopping, 6));
    assert_true(sfu__early_stopping_ends(&stopping, 7));
}

static void without_patience_it_never_ends(void **state) {
    (void)state;
    sfu__early_stopping stopping = sfu__early_stopping_start(0);
    sfu__early_stopping_keep(&stopping, 1, 5, 2.0);
    assert_false(sfu__early_stopping_ends(&stopping, 1000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_epoch),
        cmocka_unit_test(a_lower_loss_does_not_reset_the_patience),
        cmocka_unit_test(without_patience_it_never_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
