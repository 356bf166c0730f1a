/* unit/test_seen_words.c - which addresses stood in stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collect/stack_frames.h"
#include "trace/format.h"
#include "trace/seen_words.h"

static bool has(const struct tide_seen_words *seen, uint32_t process, uint64_t address)
{
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i] && tide_seen_process(seen->slots[i]) == process &&
            tide_seen_address(seen->slots[i]) == address)
            return true;
    return false;
}

static void remembers_each_address_of_each_process_once(void **state)
{
    (void)state;
    struct tide_seen_words seen = {0};
    for (int turn = 0; turn < 2; turn++)
        for (uint64_t i = 1; i <= 5000; i++)
            tide_seen_words_add(&seen, (uint32_t)(i % 3), i * 0x1000);
    assert_int_equal(seen.count, 5000);
    assert_true(has(&seen, 1, 0x1000));
    assert_false(has(&seen, 0, 0x1000));
    assert_true(has(&seen, 5000 % 3, 5000ull * 0x1000));
    assert_int_equal(seen.left_out, 0);
    tide_seen_words_release(&seen);
    assert_null(seen.slots);
}

static void takes_addresses_only(void **state)
{
    (void)state;
    struct tide_seen_words seen = {0};
    tide_seen_words_add(&seen, 0, 0);
    tide_seen_words_add(&seen, 0, TIDE_WORD(TIDE_FRAME_PYTHON, 5));
    tide_seen_words_add(&seen, 0, TIDE_WORD(TIDE_FRAME_SYNTHETIC, 1));
    tide_seen_words_add(&seen, 0, 1ull << 48);
    assert_int_equal(seen.count, 0);
    tide_seen_words_add(&seen, 65533, (1ull << 48) - 1);
    assert_true(has(&seen, 65533, (1ull << 48) - 1));
    tide_seen_words_release(&seen);
}

static void is_bounded_and_says_what_is_missing(void **state)
{
    (void)state;
    struct tide_seen_words seen = {0};
    tide_seen_words_add(&seen, 65534, 0x1000); /* no room for such a number */
    assert_int_equal(seen.count, 0);
    assert_int_equal(seen.left_out, 1);
    for (uint64_t i = 1; i <= 1000000; i++)
        tide_seen_words_add(&seen, 0, i * 16);
    assert_int_equal(seen.count + seen.left_out, 1000001);
    assert_in_range(seen.count, 300000, 500000);
    assert_in_range(seen.capacity * sizeof(*seen.slots), 1, 4 << 20);
    tide_seen_words_release(&seen);
}

/* --- Frames of these -------------------------------------------------------------------- */

enum { TIDE_LOADS = 20000 };

/* The frames of three words where TIDE_LOADS times one of MODULES modules stood. */
static size_t count_frames(uint32_t modules)
{
    struct tide_mapping *const mappings = calloc(TIDE_LOADS, sizeof(*mappings));
    struct tide_process process = {.mappings = mappings, .mapping_count = TIDE_LOADS};
    const struct tide_trace trace = {.processes = &process, .process_count = 1};
    struct tide_list frames = {.item_bytes = sizeof(struct tide_stack_frame)};
    struct tide_seen_words seen = {0};
    assert_non_null(mappings);
    for (uint32_t i = 0; i < TIDE_LOADS; i++)
        mappings[i] = (struct tide_mapping){.module = i % modules,
                                            .start = 0x10000,
                                            .end = 0x20000,
                                            .bias = 0x10000,
                                            .reach = 0x20000,
                                            .first_epoch = i};
    for (uint64_t i = 0; i < 3; i++)
        tide_seen_words_add(&seen, 0, 0x10100 + i);
    assert_int_equal(tide_stack_frames_add(&frames, &trace, &seen), TIDE_OK);
    assert_in_range(frames.capacity, 1, 64); /* it was never larger */
    tide_stack_frames_settle(&frames);
    const size_t count = frames.count;
    assert_int_equal(((struct tide_stack_frame *)frames.items)[0].address, 0xff);
    free(frames.items);
    free(mappings);
    tide_seen_words_release(&seen);
    return count;
}

static void a_module_that_comes_and_goes_counts_once(void **state)
{
    (void)state;
    assert_int_equal(count_frames(1), 3);
    assert_int_equal(count_frames(2), 6);
    assert_in_range(count_frames(TIDE_LOADS), 3, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers_each_address_of_each_process_once),
        cmocka_unit_test(takes_addresses_only),
        cmocka_unit_test(is_bounded_and_says_what_is_missing),
        cmocka_unit_test(a_module_that_comes_and_goes_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
