/* unit/test_symbolize.c - names for the frames of a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hand_model.h"
#include "trace/format.h"

static struct hand_model hand;

static int leave(void **state)
{
    (void)state;
    hand_model_release(&hand);
    return 0;
}

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x200, "inner", "app.h", 5},
    {TIDE_HAND_APP, 0x200, "middle", "app.h", 9},
    {TIDE_HAND_APP, 0x200, "outer", "app.c", 30},
    {TIDE_HAND_APP, 0x300, NULL, "app.c", 77},
    {0, 0, NULL, NULL, 0},
};

/* A site with the stack of these frames, outermost first. */
#define SITE(...)                                                                     \
    do {                                                                              \
        const struct hand_frame frames[] = {__VA_ARGS__};                             \
        hand_site(&hand, (struct tide_site){                                          \
                             .stack = hand_stack(&hand, frames,                       \
                                                 sizeof(frames) / sizeof(frames[0])), \
                             .calls = 1,                                              \
                             .bytes = 1});                                            \
    } while (0)

static const struct tide_symbols *symbols_at(uint64_t value)
{
    const struct tide_stacks *stacks = &hand.model->stacks;
    for (uint32_t i = 0; i < stacks->frame_count; i++) {
        if (stacks->frames[i].value == value)
            return &hand.model->symbols[i];
    }
    fail_msg("no frame %llx", (unsigned long long)value);
    return NULL;
}

static void names_frames_by_the_call_before_the_return_address(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    SITE({TIDE_HAND_APP, 0x100});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(symbols_at(0x100)->count, 1);
    assert_string_equal(symbols_at(0x100)->list[0].function, "main");
    assert_string_equal(symbols_at(0x100)->list[0].file, "app.c");
    assert_int_equal(symbols_at(0x100)->list[0].line, 10);
    assert_false(symbols_at(0x100)->list[0].inlined);
    assert_int_equal(hand.model->honesty.unresolved_frames, 0);
}

static void keeps_inlined_functions_innermost_first(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    SITE({TIDE_HAND_APP, 0x200});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    const struct tide_symbols *found = symbols_at(0x200);
    assert_int_equal(found->count, 3);
    assert_string_equal(found->list[0].function, "inner");
    assert_string_equal(found->list[2].function, "outer");
    assert_true(found->list[0].inlined);
    assert_true(found->list[1].inlined);
    assert_false(found->list[2].inlined);
}

static void counts_each_frame_without_a_name_once(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    SITE({TIDE_HAND_LIBC, 0x900}, {TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x999});
    SITE({TIDE_HAND_LIBC, 0x900}, {TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x300});
    SITE({TIDE_NO_MODULE, 0x7fff0000});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(hand.model->honesty.unresolved_frames, 4);
    assert_null(symbols_at(0x900)->list[0].function);
    assert_int_equal(symbols_at(0x900)->count, 1);
    assert_null(symbols_at(0x300)->list[0].function);
    assert_string_equal(symbols_at(0x300)->list[0].file, "app.c");
}

static void opens_each_module_once_and_closes_it(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    SITE({TIDE_HAND_APP, 0x100}, {TIDE_HAND_STDCXX, 0x1}, {TIDE_HAND_APP, 0x200});
    SITE({TIDE_HAND_APP, 0x300}, {TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_STDCXX, 0x2});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(hand_opened, 2);
    assert_int_equal(hand_closed, 2);
}

static void asks_only_for_frames_that_sites_use(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    hand_stack(&hand, (const struct hand_frame[]){{TIDE_HAND_APP, 0x999}}, 1);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(hand_opened, 0);
    assert_int_equal(hand.model->honesty.unresolved_frames, 0);
    assert_int_equal(symbols_at(0x999)->count, 1);
}

static void names_synthetic_frames(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    const uint32_t cut = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_CUT);
    const uint32_t early = hand_synthetic(&hand, cut, TIDE_SYNTHETIC_EARLY);
    const uint32_t unknown = hand_synthetic(&hand, early, TIDE_SYNTHETIC_UNKNOWN);
    hand_site(&hand, (struct tide_site){.stack = hand_synthetic(&hand, unknown, 99)});
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_string_equal(symbols_at(TIDE_SYNTHETIC_CUT)->list[0].function,
                        "[stack cut]");
    assert_string_equal(symbols_at(TIDE_SYNTHETIC_EARLY)->list[0].function,
                        "[before start]");
    assert_string_equal(symbols_at(TIDE_SYNTHETIC_UNKNOWN)->list[0].function,
                        "[unknown]");
    assert_string_equal(symbols_at(99)->list[0].function, "[unknown]");
    assert_int_equal(hand.model->honesty.unresolved_frames, 0);
}

static void names_nothing_in_an_empty_model(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_non_null(hand.model->symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(names_frames_by_the_call_before_the_return_address,
                                  leave),
        cmocka_unit_test_teardown(keeps_inlined_functions_innermost_first, leave),
        cmocka_unit_test_teardown(counts_each_frame_without_a_name_once, leave),
        cmocka_unit_test_teardown(opens_each_module_once_and_closes_it, leave),
        cmocka_unit_test_teardown(asks_only_for_frames_that_sites_use, leave),
        cmocka_unit_test_teardown(names_synthetic_frames, leave),
        cmocka_unit_test_teardown(names_nothing_in_an_empty_model, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
