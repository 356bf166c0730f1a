/* unit/test_seen_words.c - which addresses stood in stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remembers_each_address_of_each_process_once),
        cmocka_unit_test(takes_addresses_only),
        cmocka_unit_test(is_bounded_and_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
