/* tests/unit/test_chain.c - the functions of a chain of calls, as one line names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model_fixture.h"
#include "view/chain.h"

static const struct tide_style UTF8 = {.width = 80, .utf8 = true};

/* The names of the one chain of a tree of functions that have no names in m. */
static void assert_names(bool tells, const char *first, const char *second,
                         size_t count)
{
    static const char MODULE[] = "m";
    struct fixture f;
    fixture_init(&f);
    fixture_add(&f, &(struct fixture_site){.path = "m+0x1;m+0x2;m+0x3;m+0x4",
                                           .peak_bytes = 1,
                                           .peak_blocks = 1});
    fixture_rows(&f, TIDE_METRIC_PEAK);
    for (size_t i = 0; i < f.rows.function_count; i++) {
        f.functions[i].resolved = false;
        f.functions[i].module = MODULE;
    }
    struct tide_chain_request request = {.rows = &f.rows,
                                         .first = f.rows.tree[0].first_child,
                                         .folds = true,
                                         .tells = tells};
    request.last = request.first;
    while (f.rows.tree[request.last].first_child)
        request.last = f.rows.tree[request.last].first_child;
    struct tide_chain *const chain = tide_chain_new(&request, &UTF8);
    assert_non_null(chain);
    assert_int_equal(chain->count, count);
    assert_string_equal(tide_chain_name(chain, 0), first);
    assert_string_equal(tide_chain_name(chain, 1), second);
    assert_string_equal(tide_chain_name(chain, count - 1), "m+0x4");
    assert_false(chain->named[0]);
    tide_chain_free(chain);
    fixture_release(&f);
}

static void functions_without_a_name_are_one_step(void **state)
{
    (void)state;
    assert_names(false, "m (3 unnamed)", "m+0x4", 2);
}

static void the_first_stands_alone_where_it_tells(void **state)
{
    (void)state;
    assert_names(true, "m+0x1", "m (2 unnamed)", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_without_a_name_are_one_step),
        cmocka_unit_test(the_first_stands_alone_where_it_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
