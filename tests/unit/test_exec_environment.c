/* tests/unit/test_exec_environment.c - the environment that a program is executed with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "capture/exec_environment.h"
#include "trace/ring.h"

static const struct tide_exec_needs NEEDS = {"/lib/libtidemark.so", "/run/session"};

static struct tide_exec_seen look(char **environment)
{
    struct tide_exec_seen seen;
    tide_exec_environment_look(environment, &NEEDS, &seen);
    return seen;
}

static void assert_changed(char **environment, enum tide_exec_change change,
                           const char *const *expected)
{
    _Alignas(char *) unsigned char memory[1024];
    const struct tide_exec_seen seen = look(environment);
    assert_true(seen.bytes <= sizeof(memory));
    char **const copy =
        tide_exec_environment_change(environment, &NEEDS, &seen, change, memory);
    size_t i = 0;
    for (; expected[i]; i++) {
        assert_non_null(copy[i]);
        assert_string_equal(copy[i], expected[i]);
    }
    assert_null(copy[i]);
}

static void sees_what_is_missing(void **state)
{
    (void)state;
    char preload[] = "LD_PRELOAD=/x.so:/lib/libtidemark.so";
    char session[] = "TIDEMARK_SESSION=/run/session",
         other[] = "TIDEMARK_SESSION=/run/x";
    char empty[] = "TIDEMARK_SESSION=", replaced[] = "LD_PRELOAD=/x.so";
    char *whole[] = {preload, session, NULL}, *foreign[] = {preload, other, NULL};
    char *shut[] = {preload, empty, NULL},
         *twice[] = {preload, session, replaced, NULL};
    char *none[] = {NULL};
    assert_int_equal(look(whole).flags, 0);
    assert_int_equal(look(foreign).flags, TIDE_EXEC_NO_SESSION);
    assert_int_equal(look(shut).flags, TIDE_EXEC_SANDBOX);
    assert_int_equal(look(twice).flags, TIDE_EXEC_NO_PRELOAD); /* the last one counts */
    assert_int_equal(look(none).flags, TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_SESSION);
    assert_int_equal(look(NULL).flags, TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_SESSION);
}

static void puts_back_what_is_missing_and_keeps_the_rest(void **state)
{
    (void)state;
    char a[] = "A=1", preload[] = "LD_PRELOAD=/x.so /y.so", near[] = "LD_PRELOADER=z";
    char *none[] = {NULL}, *some[] = {a, preload, near, NULL};
    const char *const alone[] = {"LD_PRELOAD=/lib/libtidemark.so",
                                 "TIDEMARK_SESSION=/run/session", NULL};
    const char *const first[] = {"LD_PRELOAD=/lib/libtidemark.so:/x.so:/y.so",
                                 "TIDEMARK_SESSION=/run/session", "A=1",
                                 "LD_PRELOADER=z", NULL};
    assert_changed(none, TIDE_EXEC_PUT_BACK, alone);
    assert_changed(some, TIDE_EXEC_PUT_BACK, first);
}

static void takes_out_the_library_and_nothing_else(void **state)
{
    (void)state;
    char alone[] = "LD_PRELOAD=/lib/libtidemark.so", a[] = "A=1";
    char amid[] = "LD_PRELOAD=/x.so:/lib/libtidemark.so:/y.so";
    char *only[] = {alone, a, NULL}, *both[] = {a, amid, NULL};
    const char *const gone[] = {"A=1", NULL};
    const char *const left[] = {"LD_PRELOAD=/x.so:/y.so", "A=1", NULL};
    assert_changed(only, TIDE_EXEC_TAKE_OUT, gone);
    assert_changed(both, TIDE_EXEC_TAKE_OUT, left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sees_what_is_missing),
        cmocka_unit_test(puts_back_what_is_missing_and_keeps_the_rest),
        cmocka_unit_test(takes_out_the_library_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
