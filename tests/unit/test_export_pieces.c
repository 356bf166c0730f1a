/* unit/test_export_pieces.c - what exports are made of: numbers, names, fields. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dice.h"
#include "view/export_numbers.h"
#include "view/export_out.h"
#include "view/export_wire.h"

static void writes_numbers_as_printf_does(void **state)
{
    (void)state;
    struct dice dice = {.state = 3};
    struct tide_text text = {0};
    char wanted[64];
    for (int i = 0; i < 20000; i++) {
        const uint64_t number = i > 1 ? dice_number(&dice) : i ? UINT64_MAX : 0;
        tide_text_clear(&text);
        tide_out_uint(&text, number);
        (void)snprintf(wanted, sizeof(wanted), "%" PRIu64, number);
        assert_string_equal(text.bytes, wanted);
    }
    tide_text_release(&text);
}

static void writes_seconds_to_the_nanosecond(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *wanted;
    } CASES[] = {
        {0, "0.000000000"},
        {0.000000001, "0.000000001"},
        {1.5, "1.500000000"},
        {59.999999999, "59.999999999"},
        {0.9999999999, "1.000000000"},
        {86400.25, "86400.250000000"},
        {-0.5, "-0.500000000"},
    };
    struct tide_text text = {0};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        tide_text_clear(&text);
        tide_out_seconds(&text, CASES[i].seconds);
        assert_string_equal(text.bytes, CASES[i].wanted);
    }
    tide_text_release(&text);
}

/* The example of protobuf's own description of its encoding. */
static void fields_are_those_of_protobuf(void **state)
{
    (void)state;
    static const char WANTED[] = "\x08\x96\x01" /* field 1: 150 */
                                 "\x12\x07testing"
                                 "\x1a\x03\x08\x96\x01" /* field 3: a message */
                                 "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    struct tide_text text = {0}, part = {0};
    tide_wire_uint(&text, 1, 150);
    tide_wire_bytes(&text, 2, "testing", 7);
    tide_wire_uint(&part, 1, 150);
    tide_wire_part(&text, 3, &part);
    tide_wire_uint(&text, 4, UINT64_MAX);
    tide_wire_uint(&text, 5, 0); /* left out */
    assert_int_equal(text.length, sizeof(WANTED) - 1);
    assert_memory_equal(text.bytes, WANTED, text.length);
    assert_int_equal(part.length, 0);
    tide_text_release(&text);
    tide_text_release(&part);
}

static void equal_strings_have_one_number(void **state)
{
    (void)state;
    enum { TIDE_STRINGS = 5000 };
    struct tide_numbers numbers = {0};
    char string[32];
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < TIDE_STRINGS; i++) {
            (void)snprintf(string, sizeof(string), "string %" PRIu32, i * 7);
            assert_int_equal(tide_number_of(&numbers, string), i);
            assert_string_equal(numbers.list[i], string);
        }
    }
    assert_int_equal(tide_number_of(&numbers, ""), TIDE_STRINGS);
    assert_int_equal(numbers.count, TIDE_STRINGS + 1);
    assert_false(numbers.failed);
    tide_numbers_release(&numbers);
}

static void a_failed_write_is_remembered(void **state)
{
    (void)state;
    struct tide_out out;
    tide_out_begin(&out, -1);
    tide_text_add(&out.text, "text");
    assert_true(tide_out_rest(&out)); /* not enough to write yet */
    assert_int_equal(tide_out_end(&out), TIDE_EIO);
    assert_int_not_equal(out.error, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_numbers_as_printf_does),
        cmocka_unit_test(writes_seconds_to_the_nanosecond),
        cmocka_unit_test(fields_are_those_of_protobuf),
        cmocka_unit_test(equal_strings_have_one_number),
        cmocka_unit_test(a_failed_write_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
