/* tests/unit/test_json.c - the JSON writer: always valid, says what it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "dice.h"
#include "json_check.h"
#include "view/json.h"

static void writes_nested_values_with_commas_where_they_belong(void **state)
{
    (void)state;
    struct tide_text text = {0};
    struct tide_json json = {.out = &text};
    tide_json_open(&json, NULL, '{');
    tide_json_uint(&json, "bytes", UINT64_MAX);
    tide_json_open(&json, "rows", '[');
    tide_json_open_row(&json, NULL);
    tide_json_int(&json, "delta", INT64_MIN);
    tide_json_open(&json, "none", '[');
    tide_json_close(&json);
    tide_json_bool(&json, "yes", true);
    tide_json_close(&json);
    tide_json_open_row(&json, NULL);
    tide_json_close(&json);
    tide_json_close(&json);
    tide_json_null(&json, "nothing");
    tide_json_close(&json);
    assert_string_equal(text.bytes,
                        "{\n"
                        "  \"bytes\": 18446744073709551615,\n"
                        "  \"rows\": [\n"
                        "    {\"delta\": -9223372036854775808, \"none\": [], "
                        "\"yes\": true},\n"
                        "    {}\n"
                        "  ],\n"
                        "  \"nothing\": null\n"
                        "}\n");
    assert_true(json_valid(text.bytes));
    tide_text_release(&text);
}

static void assert_string(const char *value, const char *raw)
{
    struct tide_text text = {0};
    struct tide_json json = {.out = &text};
    tide_json_open(&json, NULL, '[');
    tide_json_string(&json, NULL, value);
    tide_json_close(&json);
    assert_true(json_valid(text.bytes));
    const char *const at = json_at(text.bytes, "[0]");
    assert_non_null(at);
    assert_int_equal(strncmp(at, raw, strlen(raw)), 0);
    assert_int_equal(at[strlen(raw)], '\n');
    tide_text_release(&text);
}

static void escapes_what_json_or_a_terminal_would_obey(void **state)
{
    (void)state;
    assert_string("plain", "\"plain\"");
    assert_string("a\"b\\c", "\"a\\\"b\\\\c\"");
    assert_string("\033]0;x\007\n", "\"\\u001b]0;x\\u0007\\u000a\"");
    assert_string("\x7f\xc2\x9b", "\"\\u007f\\u009b\"");
    assert_string("\xe2\x80\xae", "\"\\u202e\"");
    assert_string("größe 尺寸", "\"größe 尺寸\"");
    assert_string("\xf4\x8f\xbf\xbf", "\"\\udbff\\udfff\""); /* U+10FFFF */
    assert_string("", "\"\"");
    assert_string(NULL, "null");
}

static void writes_bad_bytes_as_text(void **state)
{
    (void)state;
    assert_string("caf\xe9", "\"caf\\\\xe9\"");
    assert_string("\xed\xa0\x80", "\"\\\\xed\\\\xa0\\\\x80\"");
}

static void assert_number(double value, const char *raw)
{
    struct tide_text text = {0};
    struct tide_json json = {.out = &text};
    tide_json_open(&json, NULL, '{');
    tide_json_number(&json, "n", value);
    tide_json_close(&json);
    assert_true(json_valid(text.bytes));
    assert_true(json_raw_at(text.bytes, "n", raw));
    tide_text_release(&text);
}

static void writes_numbers_that_are_numbers(void **state)
{
    (void)state;
    assert_number(0, "0.0\n");
    assert_number(1.5, "1.5\n");
    assert_number(-0.25, "-0.25\n");
    assert_number(12.431205, "12.431205\n");
    assert_number(1e300, "1.0000000000000001e+300\n");
    assert_number(1e17, "1e+17\n");
    assert_number((double)NAN, "null\n");
    assert_number((double)INFINITY, "null\n");
    assert_number(-HUGE_VAL, "null\n");
}

static void stays_valid_for_any_bytes(void **state)
{
    (void)state;
    struct dice dice = {11};
    for (int round = 0; round < 3000; round++) {
        char name[64];
        const int length = dice_roll(&dice, 63);
        for (int i = 0; i < length; i++)
            name[i] = (char)(1 + dice_roll(&dice, 255));
        name[length] = '\0';
        struct tide_text text = {0};
        struct tide_json json = {.out = &text};
        tide_json_open(&json, NULL, '{');
        tide_json_string(&json, name, name);
        tide_json_close(&json);
        assert_true(json_valid(text.bytes));
        for (size_t i = 0; i < text.length; i++)
            assert_true(text.bytes[i] == '\n' || (unsigned char)text.bytes[i] >= 0x20);
        tide_text_release(&text);
    }
}

static void the_checker_itself_refuses_what_is_no_json(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",         "{",        "{\"a\":1,}", "[1 2]",
                                      "\"\x01\"", "\"\xff\"", "01",         "1.",
                                      "nul",      "{a:1}",    "[1]]",       "\"\\x41\"",
                                      "[,1]",     "-",        "\"\\u12g4\""};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++)
        assert_false(json_valid(BAD[i]));
    assert_true(json_valid(" {\"a\": [1, -2.5e3, \"\\u00e9\", null, true]} "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_nested_values_with_commas_where_they_belong),
        cmocka_unit_test(escapes_what_json_or_a_terminal_would_obey),
        cmocka_unit_test(writes_bad_bytes_as_text),
        cmocka_unit_test(writes_numbers_that_are_numbers),
        cmocka_unit_test(stays_valid_for_any_bytes),
        cmocka_unit_test(the_checker_itself_refuses_what_is_no_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
