/* tests/unit/test_text.c - base/text.c: grows, ends in zero, remembers failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static void starts_empty_and_stays_ready_after_release(void **state)
{
    (void)state;
    struct tide_text text = {0};
    tide_text_clear(&text);
    assert_null(text.bytes);
    tide_text_add(&text, "high");
    tide_text_release(&text);
    assert_null(text.bytes);
    tide_text_add(&text, "water");
    assert_string_equal(text.bytes, "water");
    tide_text_release(&text);
}

static void an_empty_addition_still_makes_a_string(void **state)
{
    (void)state;
    struct tide_text text = {0};
    tide_text_add(&text, "");
    assert_string_equal(text.bytes, "");
    assert_int_equal(text.length, 0);
    tide_text_release(&text);
}

/* Additions of every length from 0 to 299: all edges of the capacity are met. */
static void keeps_every_byte_while_it_grows(void **state)
{
    (void)state;
    enum { TIDE_STEPS = 300 };
    static char expected[TIDE_STEPS * TIDE_STEPS / 2 + 1];
    struct tide_text text = {0};
    size_t length = 0;
    for (size_t i = 0; i < TIDE_STEPS; i++) {
        char piece[TIDE_STEPS];
        memset(piece, (int)('a' + i % 26), i);
        memcpy(expected + length, piece, i);
        length += i;
        tide_text_add_bytes(&text, piece, i);
        assert_int_equal(text.length, length);
        assert_int_equal(text.bytes[length], 0);
    }
    assert_false(text.failed);
    assert_memory_equal(text.bytes, expected, length);
    tide_text_release(&text);
}

static void formats_at_every_distance_from_the_end(void **state)
{
    (void)state;
    struct tide_text text = {0};
    for (int width = 0; width < 300; width++) {
        tide_text_clear(&text);
        tide_text_add(&text, "<");
        tide_text_addf(&text, "%*d", width, 7);
        tide_text_addf(&text, "%s", ">");
        char expected[400];
        (void)snprintf(expected, sizeof(expected), "<%*d>", width, 7);
        assert_string_equal(text.bytes, expected);
        assert_int_equal(text.length, strlen(expected));
    }
    tide_text_release(&text);
}

static void holds_zero_bytes(void **state)
{
    (void)state;
    struct tide_text text = {0};
    tide_text_add_bytes(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(text.bytes, "a\0b", 4);
    tide_text_release(&text);
}

static void remembers_that_memory_ran_out(void **state)
{
    (void)state;
    struct tide_text text = {0};
    tide_text_add(&text, "kept");
    tide_text_add_bytes(&text, "", SIZE_MAX / 2); /* refused before a byte is read */
    assert_true(text.failed);
    tide_text_add(&text, " not added");
    assert_string_equal(text.bytes, "kept");
    tide_text_clear(&text);
    assert_false(text.failed);
    tide_text_add(&text, "again");
    assert_string_equal(text.bytes, "again");
    tide_text_release(&text);
}

static void names_are_shown_and_not_obeyed(void **state)
{
    (void)state;
    static const struct {
        const char *name, *safe;
    } CASES[] = {
        {NULL, ""},
        {"main<int>(\"a\\b\")", "main<int>(\"a\\b\")"},
        {"gr\303\266\303\237e \342\202\254", "gr\303\266\303\237e \342\202\254"},
        {"a\033[2J\177\r\n\t", "a\\x1b[2J\\x7f\\x0d\\x0a\\x09"},
        {"\302\233H", "\\xc2\\x9bH"},                                     /* C1's CSI */
        {"\342\200\256x\342\201\251", "\\xe2\\x80\\xaex\\xe2\\x81\\xa9"}, /* bidi */
        {"\342\200\250\357\273\277", "\\xe2\\x80\\xa8\\xef\\xbb\\xbf"}, /* line, BOM */
        {"\377\340\200\200\303", "\\xff\\xe0\\x80\\x80\\xc3"},          /* no UTF-8 */
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct tide_text text = {0}, again = {0};
        tide_text_add_safe(&text, CASES[i].name);
        tide_text_add_safe(&again, text.bytes);
        assert_string_equal(text.bytes ? text.bytes : "", CASES[i].safe);
        assert_string_equal(again.bytes ? again.bytes : "", CASES[i].safe);
        tide_text_release(&text);
        tide_text_release(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty_and_stays_ready_after_release),
        cmocka_unit_test(an_empty_addition_still_makes_a_string),
        cmocka_unit_test(keeps_every_byte_while_it_grows),
        cmocka_unit_test(formats_at_every_distance_from_the_end),
        cmocka_unit_test(holds_zero_bytes),
        cmocka_unit_test(remembers_that_memory_ran_out),
        cmocka_unit_test(names_are_shown_and_not_obeyed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
