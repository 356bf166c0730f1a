/* unit/test_desks.c - who sits where, and who has to leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "collect/desks.h"
#include "collect/lanes.h"

/* LANE sits down, and whoever sat there leaves: he is told. */
static struct tide_lane_copy *sit(struct tide_desks *desks, struct tide_lane_copy *lane)
{
    struct tide_desk *const desk = tide_desk_for(desks, lane);
    assert_non_null(desk);
    struct tide_lane_copy *const other = desk->lane == lane ? NULL : desk->lane;
    if (other)
        tide_desk_leave(other);
    tide_desk_take(desks, desk, lane);
    assert_ptr_equal(lane->desk, desk);
    assert_ptr_equal(desk->lane, lane);
    return other;
}

static void who_was_there_longest_ago_leaves(void **state)
{
    (void)state;
    struct tide_desks desks = {0};
    struct tide_lane_copy lanes[TIDE_DESKS + 2] = {{0}};
    for (uint32_t i = 0; i < TIDE_DESKS; i++) {
        assert_true(tide_desk_is_free(&desks, &lanes[i]));
        assert_null(sit(&desks, &lanes[i]));
    }
    assert_null(sit(&desks, &lanes[0])); /* again, at its own */
    assert_true(tide_desk_is_free(&desks, &lanes[0]));
    assert_false(tide_desk_is_free(&desks, &lanes[TIDE_DESKS]));
    assert_ptr_equal(sit(&desks, &lanes[TIDE_DESKS]), &lanes[1]);
    assert_null(lanes[1].desk);
    assert_ptr_equal(sit(&desks, &lanes[TIDE_DESKS + 1]), &lanes[2]);
    tide_desks_release(&desks);
    assert_null(lanes[0].desk);
}

static void a_desk_that_was_left_is_taken_first(void **state)
{
    (void)state;
    struct tide_desks desks = {0};
    struct tide_lane_copy lanes[TIDE_DESKS + 1] = {{0}};
    for (uint32_t i = 0; i < TIDE_DESKS; i++)
        assert_null(sit(&desks, &lanes[i]));
    struct tide_desk *const left = lanes[7].desk;
    tide_desk_leave(&lanes[7]);
    tide_desk_leave(&lanes[7]); /* once is enough */
    assert_true(tide_desk_is_free(&desks, &lanes[TIDE_DESKS]));
    assert_null(sit(&desks, &lanes[TIDE_DESKS]));
    assert_ptr_equal(lanes[TIDE_DESKS].desk, left);
    tide_desks_release(&desks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_was_there_longest_ago_leaves),
        cmocka_unit_test(a_desk_that_was_left_is_taken_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
