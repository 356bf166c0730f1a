/* unit/test_makers.c - where blocks were made that another thread freed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/makers.h"

static struct hand_model hand;
static struct tide_paths paths;
static struct tide_makers makers;

static int leave(void **state)
{
    (void)state;
    tide_makers_release(&makers);
    tide_paths_release(&paths);
    hand_model_release(&hand);
    return 0;
}

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x110, "main", "app.c", 20},
    {TIDE_HAND_APP, 0x200, "send", "send.c", 5},
    {TIDE_HAND_APP, 0x210, "send", "send.c", 6},
    {TIDE_HAND_STDCXX, 0x1, "operator new(unsigned long)", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

static void add_site(uint32_t stack, uint64_t bytes, uint64_t calls)
{
    hand_site(&hand, (struct tide_site){
                         .stack = stack,
                         .more = {.foreign_bytes = bytes, .foreign_calls = calls}});
}

static void build(void)
{
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_paths_init(&paths, hand.model), TIDE_OK);
    paths.fold = true;
    assert_int_equal(tide_makers_build(hand.model, &paths, &makers), TIDE_OK);
}

static void sums_up_the_stacks_of_a_line(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}), 0, 0); /* freed by its maker */
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x210}), 50, 9);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 30, 3);
    add_site(STACK({TIDE_HAND_APP, 0x110}, {TIDE_HAND_APP, 0x200}), 20, 2);
    add_site(
        STACK({TIDE_HAND_APP, 0x110}, {TIDE_HAND_APP, 0x200}, {TIDE_HAND_STDCXX, 0x1}),
        10, 1);
    build();
    assert_int_equal(makers.count, 2);
    assert_int_equal(makers.list[0].bytes, 60);
    assert_int_equal(makers.list[0].calls, 6);
    assert_int_equal(makers.list[1].bytes, 50);
    assert_int_equal(makers.list[1].site, 1);
}

static void has_none_when_all_free_their_own(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}), 0, 0);
    build();
    assert_int_equal(makers.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sums_up_the_stacks_of_a_line, leave),
        cmocka_unit_test_teardown(has_none_when_all_free_their_own, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
