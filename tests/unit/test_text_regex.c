/* tests/unit/test_text_regex.c - regular expressions, and how long they may take. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "query/text_regex.h"

static enum tide_regex_answer ask(const char *pattern, const char *text)
{
    char why[256] = "";
    struct tide_regex *const regex = tide_regex_new(pattern, why, sizeof(why));
    struct tide_regex_match *const match = tide_regex_match_new();
    assert_string_equal(why, "");
    assert_non_null(match);
    const enum tide_regex_answer answer = tide_regex_matches(regex, match, text);
    tide_regex_match_free(match);
    tide_regex_free(regex);
    return answer;
}

static void finds_what_stands_anywhere(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *text;
        enum tide_regex_answer answer;
    } CASES[] = {
        {"^(new|x)$", "x", TIDE_REGEX_YES},
        {"^(new|x)$", "xx", TIDE_REGEX_NO},
        {"alloc", "malloc", TIDE_REGEX_YES},
        {"", "", TIDE_REGEX_YES},
        {"[[:digit:]]{2,}", "a12", TIDE_REGEX_YES},
        {"a.b", "a\nb", TIDE_REGEX_YES},
        {"^m.ller$", "m\xc3\xbcller", TIDE_REGEX_YES},
        {"b$",
         "a\xff\xfe"
         "b",
         TIDE_REGEX_YES},
        {"a$", "a\n", TIDE_REGEX_NO},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        assert_int_equal(ask(CASES[i].pattern, CASES[i].text), CASES[i].answer);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    static const char *const BAD[] = {"[", "(", "a{200}{200}{200}{200}{200}",
                                      "(((a{200}){200}){200}){200}", "\\C"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
        char why[256] = "";
        assert_null(tide_regex_new(BAD[i], why, sizeof(why)));
        assert_true(strlen(why) > 5);
    }
}

/* Each of these takes a time that doubles, at least, with each letter. */
static void gives_up_what_takes_too_long(void **state)
{
    (void)state;
    static const char *const SLOW[] = {"^(a+)+$", "^(a|aa)+$", "^(a*)*b$",
                                       "^(a?){40}a{40}b"};
    char text[64] = "";
    memset(text, 'a', 50);
    text[50] = 'c';
    const clock_t begin = clock();
    for (size_t i = 0; i < sizeof(SLOW) / sizeof(*SLOW); i++)
        assert_int_not_equal(ask(SLOW[i], text), TIDE_REGEX_YES);
    assert_int_equal(ask(SLOW[1], text), TIDE_REGEX_TOO_LONG);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_stands_anywhere),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(gives_up_what_takes_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
