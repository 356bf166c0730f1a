/* tests/unit/test_symtab.c - of several names the best one, of several ranges the right
 * one.  What is where is written in fixtures/aliases.S; nm says at which address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbolizer.h"
#include "symbol_fixture.h"
#include "tool_run.h"

static char *scratch; /* folder */
static char *library;

static int begin(void **state)
{
    (void)state;
    scratch = tide_scratch_new();
    library = tide_path("%s/aliases.so", scratch);
    char *const command = tide_path("gcc -shared -nostdlib -o %s", library);
    tide_fixture_do(command, TIDE_FIXTURE("aliases.S"));
    free(command);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(library);
    tide_scratch_remove(scratch);
    return 0;
}

/* The name of what stands OFFSET bytes behind SYMBOL must be EXPECTED, or nothing. */
static void assert_name(const char *symbol, uint64_t offset, const char *expected)
{
    const uint64_t address = tide_fixture_address(library, symbol) + offset;
    struct tide_symbolizer *const symbolizer = tide_fixture_open(library, "", NULL);
    const char *const name = tide_fixture_name(symbolizer, address);
    if (expected) {
        assert_non_null(name);
        assert_string_equal(name, expected);
    } else {
        assert_null(name);
    }
    tide_symbolizer_close(symbolizer);
}

static void takes_the_plain_short_name(void **state)
{
    (void)state;
    assert_name("plain", 0, "plain");
    assert_name("plain", 15, "plain");
}

static void knows_that_gaps_belong_to_nobody(void **state)
{
    (void)state;
    assert_name("plain", 16, NULL);
    assert_name("plain", 31, NULL);
}

static void prefers_the_global_name(void **state)
{
    (void)state;
    assert_name("bound_a", 4, "bound_c");
}

static void lets_sizeless_symbols_reach_the_next(void **state)
{
    (void)state;
    assert_name("endless", 0, "endless");
    assert_name("endless", 15, "endless");
    assert_name("tidemark", 15, "tidemark");
    assert_name("tidemark", 16, NULL);
}

static void sees_symbols_inside_of_others(void **state)
{
    (void)state;
    assert_name("large", 0, "large");
    assert_name("inside", 0, "inside");
    assert_name("inside", 15, "inside");
    assert_name("inside", 16, "large");
    assert_name("inside", 31, "large");
}

static void takes_functions_only(void **state)
{
    (void)state;
    assert_name("table", 0, NULL);
}

static void demangles(void **state)
{
    (void)state;
    assert_name("_ZN4tide4markEi", 8, "tide::mark(int)");
}

/* What is local is gone then. */
static void reads_the_dynamic_table_of_stripped_files(void **state)
{
    (void)state;
    const uint64_t bound = tide_fixture_address(library, "bound_b");
    char *const stripped = tide_path("%s/stripped.so", scratch);
    char *const command = tide_path("objcopy --strip-all %s %s", library, stripped);
    tide_fixture_do(command, NULL);
    struct tide_symbolizer *const symbolizer = tide_fixture_open(stripped, "", NULL);
    assert_string_equal(tide_fixture_name(symbolizer, bound), "bound_c");
    tide_symbolizer_close(symbolizer);
    free(command);
    free(stripped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_plain_short_name),
        cmocka_unit_test(knows_that_gaps_belong_to_nobody),
        cmocka_unit_test(prefers_the_global_name),
        cmocka_unit_test(lets_sizeless_symbols_reach_the_next),
        cmocka_unit_test(sees_symbols_inside_of_others),
        cmocka_unit_test(takes_functions_only),
        cmocka_unit_test(demangles),
        cmocka_unit_test(reads_the_dynamic_table_of_stripped_files),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
