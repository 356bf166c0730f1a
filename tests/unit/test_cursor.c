/* unit/test_cursor.c - numbers and strings from hostile memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"

static void reads_back_what_was_put(void **state)
{
    (void)state;
    const uint64_t values[] = {0, 1, 127, 128, 300, 1ull << 35, UINT64_MAX};
    uint8_t bytes[100];
    uint8_t *end = bytes;
    for (size_t i = 0; i < 7; i++)
        end = tide_put_varint(end, values[i]);
    struct tide_cursor cursor = tide_cursor_over(bytes, (size_t)(end - bytes));
    for (size_t i = 0; i < 7; i++)
        assert_true(tide_cursor_varint(&cursor) == values[i]);
    assert_false(cursor.failed);
    assert_int_equal(tide_cursor_left(&cursor), 0);
}

static void fails_for_good_at_the_end(void **state)
{
    (void)state;
    const uint8_t bytes[] = {5, 0x80, 7};
    struct tide_cursor cursor = tide_cursor_over(bytes, 2);
    assert_int_equal(tide_cursor_varint(&cursor), 5);
    assert_int_equal(tide_cursor_varint(&cursor), 0);
    assert_true(cursor.failed);
    assert_int_equal(tide_cursor_u8(&cursor), 0);
    assert_int_equal(tide_cursor_left(&cursor), 0);
}

static void refuses_a_number_beyond_64_bits(void **state)
{
    (void)state;
    const uint8_t highest[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
    const uint8_t higher[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    const uint8_t endless[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 0x81, 0};
    struct tide_cursor cursor = tide_cursor_over(highest, sizeof(highest));
    assert_true(tide_cursor_varint(&cursor) == UINT64_MAX && !cursor.failed);
    cursor = tide_cursor_over(higher, sizeof(higher));
    assert_true(tide_cursor_varint(&cursor) == 0 && cursor.failed);
    cursor = tide_cursor_over(endless, sizeof(endless));
    assert_true(tide_cursor_varint(&cursor) == 0 && cursor.failed);
}

static void refuses_a_number_beyond_32_bits_where_one_is_asked_for(void **state)
{
    (void)state;
    const uint8_t bytes[] = {255, 255, 255, 255, 15, 128, 128, 128, 128, 16};
    struct tide_cursor cursor = tide_cursor_over(bytes, sizeof(bytes));
    assert_true(tide_cursor_varint32(&cursor) == UINT32_MAX);
    assert_true(tide_cursor_varint32(&cursor) == 0 && cursor.failed);
}

static void gives_a_string_only_when_all_of_it_is_there(void **state)
{
    (void)state;
    const uint8_t bytes[] = {3, 'a', 'b', 'c', 4, 'd', 'e', 'f'};
    struct tide_cursor cursor = tide_cursor_over(bytes, sizeof(bytes));
    const struct tide_bytes text = tide_cursor_string(&cursor);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.start, "abc", 3);
    assert_int_equal(tide_cursor_string(&cursor).length, 0);
    assert_true(cursor.failed);
}

static void a_part_ends_where_it_ends(void **state)
{
    (void)state;
    const uint8_t bytes[] = {1, 2, 3};
    struct tide_cursor cursor = tide_cursor_over(bytes, sizeof(bytes));
    struct tide_cursor part = tide_cursor_part(&cursor, 2);
    assert_int_equal(tide_cursor_u8(&part), 1);
    assert_int_equal(tide_cursor_u8(&part), 2);
    assert_int_equal(tide_cursor_u8(&part), 0);
    assert_true(part.failed && !cursor.failed);
    assert_int_equal(tide_cursor_u8(&cursor), 3);
    part = tide_cursor_part(&cursor, UINT64_MAX);
    assert_true(part.failed && cursor.failed);
}

static void sums_stop_at_the_top(void **state)
{
    (void)state;
    assert_true(tide_add_saturating(3, 4) == 7);
    assert_true(tide_add_saturating(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(tide_add_saturating(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_what_was_put),
        cmocka_unit_test(fails_for_good_at_the_end),
        cmocka_unit_test(refuses_a_number_beyond_64_bits),
        cmocka_unit_test(refuses_a_number_beyond_32_bits_where_one_is_asked_for),
        cmocka_unit_test(gives_a_string_only_when_all_of_it_is_there),
        cmocka_unit_test(a_part_ends_where_it_ends),
        cmocka_unit_test(sums_stop_at_the_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
