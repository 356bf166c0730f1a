/* tests/unit/test_tree_end.c - what a line of a call tree leads to that ends in dots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model_fixture.h"
#include "view/tree_end.h"

static const struct tide_style UTF8 = {.width = 80, .utf8 = true};

static void add(struct fixture *fixture, const char *path, uint64_t bytes)
{
    fixture_add(fixture, &(struct fixture_site){.path = path,
                                                .calls = 1,
                                                .bytes = bytes,
                                                .peak_bytes = bytes,
                                                .peak_blocks = 1});
}

static const char *name(const struct fixture *fixture, struct tide_tree_end end)
{
    return end.function == UINT32_MAX ? "" : fixture->functions[end.function].name;
}

static void names_the_function_that_allocates_most_below(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_tree_end end;
    fixture_init(&f);
    add(&f, "main;a;grow", 30);
    add(&f, "main;b;grow", 20);
    add(&f, "main;b;d;grow", 10);
    add(&f, "main;b;d", 15);
    add(&f, "main;c", 25);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    assert_true(tide_tree_end_down(&f.rows, f.rows.tree[0].first_child, &end));
    assert_string_equal(name(&f, end), "grow");
    assert_int_equal(end.weight, 60);
    fixture_release(&f);
}

static void names_the_last_that_half_goes_through(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_tree_end end;
    fixture_init(&f);
    add(&f, "main;run;read;a", 20);
    add(&f, "main;run;read;b", 20);
    add(&f, "main;run;read;c", 20);
    add(&f, "main;run;tick", 20);
    add(&f, "main;init", 20);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    assert_true(tide_tree_end_down(&f.rows, f.rows.tree[0].first_child, &end));
    assert_string_equal(name(&f, end), "read");
    assert_int_equal(end.weight, 60);
    fixture_release(&f);
}

/* What stands beside the row does not count, nor what the row allocates itself. */
static void looks_below_the_row_only(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_tree_end end;
    fixture_init(&f);
    add(&f, "main;a;x", 60);
    add(&f, "main;a;z", 50);
    add(&f, "main;a", 20);
    add(&f, "main;b;y", 100);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    const uint32_t a = f.rows.tree[f.rows.tree[0].first_child].first_child;
    assert_true(tide_tree_end_down(&f.rows, a, &end));
    assert_string_equal(name(&f, end), "x");
    assert_int_equal(end.weight, 60);
    fixture_release(&f);
}

static void names_none_where_none_stands_out(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_tree_end end;
    struct tide_text words = {0};
    fixture_init(&f);
    add(&f, "main;a", 30);
    add(&f, "main;b", 30);
    add(&f, "main;c", 30);
    add(&f, "main;d", 30);
    fixture_rows(&f, TIDE_METRIC_PEAK);
    const uint32_t top = f.rows.tree[0].first_child;
    assert_true(tide_tree_end_down(&f.rows, top, &end));
    assert_string_equal(name(&f, end), "");
    tide_tree_end_words(&words, &f.rows, end, 80, &UTF8);
    assert_int_equal(words.length, 0);
    tide_text_release(&words);
    fixture_release(&f);
}

static void says_which_part_it_is(void **state)
{
    (void)state;
    struct fixture f;
    struct tide_tree_end end;
    struct tide_text words = {0};
    fixture_init(&f);
    add(&f, "main;a;grow_the_table", 3);
    add(&f, "main;b", 1);
    add(&f, "thread", 3); /* the part is one of all, as in the column of shares */
    fixture_rows(&f, TIDE_METRIC_PEAK);
    const uint32_t top = f.rows.tree[0].first_child;
    assert_true(tide_tree_end_down(&f.rows, top, &end));
    tide_tree_end_words(&words, &f.rows, end, 80, &UTF8);
    assert_string_equal(words.bytes, "43 % grow_the_table");
    tide_text_clear(&words);
    tide_tree_end_words(&words, &f.rows, end, 12, &UTF8); /* no room for it */
    assert_int_equal(words.length, 0);
    tide_text_release(&words);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_function_that_allocates_most_below),
        cmocka_unit_test(names_the_last_that_half_goes_through),
        cmocka_unit_test(looks_below_the_row_only),
        cmocka_unit_test(names_none_where_none_stands_out),
        cmocka_unit_test(says_which_part_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
