/* tests/unit/test_nearest.c - base/nearest.c: suggests what was meant, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/nearest.h"

static const char *const NAMES[] = {"run", "report", "info", "flat", "tree", "output"};
enum { TIDE_NAMES = sizeof(NAMES) / sizeof(NAMES[0]) };

static void finds_a_name_with_one_slip(void **state)
{
    (void)state;
    assert_string_equal(tide_nearest("rport", NAMES, TIDE_NAMES), "report");
    assert_string_equal(tide_nearest("flatt", NAMES, TIDE_NAMES), "flat");
    assert_string_equal(tide_nearest("trea", NAMES, TIDE_NAMES), "tree");
    assert_string_equal(tide_nearest("falt", NAMES, TIDE_NAMES), "flat");
    assert_string_equal(tide_nearest("reprot", NAMES, TIDE_NAMES), "report");
}

static void finds_a_name_with_two_slips_between_its_ends(void **state)
{
    (void)state;
    static const char *const words[] = {"leaf", "line", "loop"};
    assert_string_equal(tide_nearest("lief", words, 3), "leaf");
    assert_false(tide_surely("lief", "leaf"));
    assert_true(tide_surely("laef", "leaf"));
    assert_true(tide_surely("li", "line"));
    assert_null(tide_nearest("liek", words, 3));
    assert_null(tide_nearest("rxn", NAMES + 1, TIDE_NAMES - 1));
}

static void a_slip_is_as_near_as_a_beginning(void **state)
{
    (void)state;
    static const char *const words[] = {"FROM", "FORMAT"};
    assert_string_equal(tide_nearest("FORM", words, 2), "FROM");
    assert_string_equal(tide_nearest("FORMA", words, 2), "FORMAT");
}

static void finds_the_name_that_a_word_begins(void **state)
{
    (void)state;
    assert_string_equal(tide_nearest("out", NAMES, TIDE_NAMES), "output");
    assert_string_equal(tide_nearest("rep", NAMES, TIDE_NAMES), "report");
}

static void is_silent_when_nothing_is_near(void **state)
{
    (void)state;
    assert_null(tide_nearest("xyzzy", NAMES, TIDE_NAMES));
    assert_null(tide_nearest("", NAMES, TIDE_NAMES));
    assert_null(tide_nearest("run", NAMES, 0));
}

static void tells_one_slip_from_two(void **state)
{
    (void)state;
    assert_true(tide_nearly("report", "report"));
    assert_true(tide_nearly("repotr", "report"));
    assert_true(tide_nearly("reports", "report"));
    assert_true(tide_nearly("eport", "report"));
    assert_false(tide_nearly("repo", "report"));
    assert_false(tide_nearly("repotrs", "report"));
}

static void does_not_compare_endless_words(void **state)
{
    (void)state;
    char word[1000];
    memset(word, 'r', sizeof(word) - 1);
    word[sizeof(word) - 1] = '\0';
    assert_null(tide_nearest(word, NAMES, TIDE_NAMES));
    const char *const longest[] = {word, "run"};
    assert_string_equal(tide_nearest("rum", longest, 2), "run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_a_name_with_one_slip),
        cmocka_unit_test(finds_a_name_with_two_slips_between_its_ends),
        cmocka_unit_test(a_slip_is_as_near_as_a_beginning),
        cmocka_unit_test(finds_the_name_that_a_word_begins),
        cmocka_unit_test(is_silent_when_nothing_is_near),
        cmocka_unit_test(tells_one_slip_from_two),
        cmocka_unit_test(does_not_compare_endless_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
