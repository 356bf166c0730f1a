/* tests/unit/test_status.c - base/status.c: every code has words of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <tidemark/status.h>

static const enum tide_status CODES[] = {
#define TIDE_LIST_CODE(code, words) TIDE_##code,
    TIDE_STATUSES(TIDE_LIST_CODE)
#undef TIDE_LIST_CODE
};
enum { TIDE_STATUS_COUNT = sizeof(CODES) / sizeof(CODES[0]) };

static void success_is_zero(void **state)
{
    (void)state;
    assert_int_equal(TIDE_OK, 0);
    assert_string_equal(tide_status_words(TIDE_OK), "no error");
}

static void every_code_has_words_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < TIDE_STATUS_COUNT; i++) {
        const char *const words = tide_status_words(CODES[i]);
        assert_true(strlen(words) > 0);
        assert_string_not_equal(words, "unknown error");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(words, tide_status_words(CODES[j]));
    }
}

static void a_code_from_elsewhere_has_words_too(void **state)
{
    (void)state;
    assert_string_equal(tide_status_words((enum tide_status)TIDE_STATUS_COUNT),
                        "unknown error");
    assert_string_equal(tide_status_words((enum tide_status) - 1), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(success_is_zero),
        cmocka_unit_test(every_code_has_words_of_its_own),
        cmocka_unit_test(a_code_from_elsewhere_has_words_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
