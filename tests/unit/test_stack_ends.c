/* unit/test_stack_ends.c - stacks that end before they should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hand_model.h"
#include "model/model_state.h"
#include "trace/format.h"

static struct hand_model hand;

static int enter(void **state)
{
    static const struct hand_symbol none[] = {{0, 0, NULL, NULL, 0}};
    (void)state;
    hand_model_init(&hand, none);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    hand_model_release(&hand);
    return 0;
}

static uint32_t called(uint32_t parent, uint32_t module, uint64_t value)
{
    const struct tide_frame frame = {
        .kind = TIDE_FRAME_NATIVE, .module = module, .value = value};
    uint32_t number, node;
    assert_int_equal(tide_stacks_frame(&hand.model->stacks, frame, &number), TIDE_OK);
    assert_int_equal(tide_stacks_child(&hand.model->stacks, parent, number, &node),
                     TIDE_OK);
    return node;
}

static void calls_at(uint32_t stack, enum tide_space space, uint64_t calls)
{
    hand_site(&hand,
              (struct tide_site){.stack = stack, .space = space, .calls = calls});
}

static const struct tide_honesty *counted(void)
{
    assert_int_equal(tide_model_stack_ends(hand.model), TIDE_OK);
    return &hand.model->honesty;
}

static void a_model_without_stacks_has_none(void **state)
{
    (void)state;
    assert_int_equal(counted()->unfinished_stacks, 0);
    assert_int_equal(counted()->unfinished_count, 0);
}

static void other_ends_are_no_doubt(void **state)
{
    (void)state;
    const uint32_t cut = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_CUT);
    const uint32_t early = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_EARLY);
    calls_at(called(0, TIDE_HAND_APP, 0x10), TIDE_IN_HEAP, 1);
    calls_at(called(cut, TIDE_HAND_APP, 0x10), TIDE_IN_HEAP, 2);
    calls_at(called(early, TIDE_HAND_APP, 0x10), TIDE_IN_HEAP, 4);
    assert_int_equal(counted()->unfinished_stacks, 0);
}

static void every_call_below_an_unknown_one_counts_at_its_end(void **state)
{
    (void)state;
    const uint32_t whole = called(0, TIDE_HAND_APP, 0x10);
    const uint32_t unknown = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_UNKNOWN);
    const uint32_t app = called(unknown, TIDE_HAND_APP, 0x10);
    const uint32_t nowhere = called(unknown, TIDE_NO_MODULE, 0x7f0000001000);
    const uint32_t inner = called(app, TIDE_HAND_LIBC, 0x20);
    calls_at(whole, TIDE_IN_HEAP, 1000);
    calls_at(called(whole, TIDE_HAND_APP, 0x30), TIDE_IN_HEAP, 2000);
    calls_at(app, TIDE_IN_HEAP, 1);
    calls_at(inner, TIDE_IN_HEAP, 2);
    calls_at(inner, TIDE_IN_MMAP, 4);
    calls_at(called(nowhere, TIDE_HAND_APP, 0x40), TIDE_IN_HEAP, 8);
    const struct tide_honesty *const honesty = counted();
    assert_int_equal(honesty->unfinished_stacks, 15);
    assert_int_equal(honesty->unfinished_count, 2);
    assert_null(honesty->unfinished[0].module);
    assert_int_equal(honesty->unfinished[0].calls, 8);
    assert_string_equal(honesty->unfinished[1].module, "/bin/app");
    assert_int_equal(honesty->unfinished[1].calls, 7);
}

static void what_ends_in_the_loader_is_whole(void **state)
{
    (void)state;
    const uint32_t unknown = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_UNKNOWN);
    const uint32_t loader = called(unknown, TIDE_HAND_LOADER, 0x10);
    calls_at(called(loader, TIDE_HAND_STDCXX, 0x20), TIDE_IN_HEAP, 5);
    assert_int_equal(counted()->unfinished_stacks, 0);
    /* Another that does not end there changes nothing for it. */
    const uint32_t other = called(unknown, TIDE_HAND_STDCXX, 0x30);
    calls_at(called(other, TIDE_HAND_LOADER, 0x10), TIDE_IN_HEAP, 3);
    calls_at(called(loader, TIDE_HAND_APP, 0x40), TIDE_IN_HEAP, 6);
    assert_int_equal(counted()->unfinished_stacks, 3);
    assert_int_equal(counted()->unfinished_count, 1);
    assert_string_equal(counted()->unfinished[0].module, "/usr/lib/libstdc++.so.6");
}

static void an_unknown_frame_further_in_ends_nothing(void **state)
{
    (void)state;
    const uint32_t outer = called(0, TIDE_HAND_APP, 0x10);
    const uint32_t unknown = hand_synthetic(&hand, outer, TIDE_SYNTHETIC_UNKNOWN);
    calls_at(called(unknown, TIDE_HAND_APP, 0x20), TIDE_IN_HEAP, 5);
    assert_int_equal(counted()->unfinished_stacks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_model_without_stacks_has_none, enter, leave),
        cmocka_unit_test_setup_teardown(other_ends_are_no_doubt, enter, leave),
        cmocka_unit_test_setup_teardown(
            every_call_below_an_unknown_one_counts_at_its_end, enter, leave),
        cmocka_unit_test_setup_teardown(what_ends_in_the_loader_is_whole, enter, leave),
        cmocka_unit_test_setup_teardown(an_unknown_frame_further_in_ends_nothing, enter,
                                        leave),
    };
    return cmocka_run_group_tests_name("model/stack_ends", tests, NULL, NULL);
}
