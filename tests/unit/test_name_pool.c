/* tests/unit/test_name_pool.c - names are kept once, paths are made short. */
#include "symbol/name_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void gives_equal_text_the_same_place(void **state)
{
    (void)state;
    enum { TIDE_NAMES = 400 };
    struct tide_name_pool pool = {0};
    const char *first[TIDE_NAMES];
    char text[32];
    for (int i = 0; i < TIDE_NAMES; i++) {
        (void)snprintf(text, sizeof(text), "name %d", i);
        first[i] = tide_name_pool_add(&pool, text);
        assert_string_equal(first[i], text);
    }
    for (int i = 0; i < TIDE_NAMES; i++) {
        (void)snprintf(text, sizeof(text), "name %d", i);
        assert_ptr_equal(tide_name_pool_add(&pool, text), first[i]);
    }
    assert_int_equal(pool.count, TIDE_NAMES);
    tide_name_pool_release(&pool);
}

static void keeps_the_empty_name(void **state)
{
    (void)state;
    struct tide_name_pool pool = {0};
    assert_string_equal(tide_name_pool_add(&pool, ""), "");
    tide_name_pool_release(&pool);
}

static void demangles_what_it_is_asked_to(void **state)
{
    (void)state;
    struct tide_name_pool pool = {0};
    assert_string_equal(tide_name_pool_add_demangled(&pool, "_ZN1a1bEv"), "a::b()");
    assert_string_equal(tide_name_pool_add_demangled(&pool, "main"), "main");
    tide_name_pool_release(&pool);
}

static void makes_paths_short(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"/usr/include/stdio.h", "/usr/include/stdio.h"},
        {"/build/obj/../src/main.c", "/build/src/main.c"},
        {"/build/obj/x/../../src/main.c", "/build/src/main.c"},
        {"/a/./b//c/.", "/a/b/c"},
        {"./stdlib/x.c", "stdlib/x.c"},
        {"../x.c", "../x.c"},
        {"../../x.c", "../../x.c"},
        {"a/../../x.c", "../x.c"},
        {"/../x.c", "/../x.c"},
        {"a/b/", "a/b"},
        {"/", "/"},
        {"//", "/"},
        {".", ""},
        {"", ""},
        {"..", ".."},
        {"a/..", ""},
        {"..a/..b", "..a/..b"},
        {"a", "a"},
    };
    struct tide_name_pool pool = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(tide_name_pool_add_path(&pool, cases[i][0]), cases[i][1]);
    tide_name_pool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_equal_text_the_same_place),
        cmocka_unit_test(keeps_the_empty_name),
        cmocka_unit_test(demangles_what_it_is_asked_to),
        cmocka_unit_test(makes_paths_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
