/* tests/unit/test_span_table.c - address ranges against a search through all of them.
 */
#include "symbol/span_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include <cmocka.h>

static struct tide_span_table build(const struct tide_span *spans, size_t count)
{
    struct tide_span_list list = {0};
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tide_span_list_add(&list, &spans[i]), TIDE_OK);
    struct tide_span_table table;
    assert_int_equal(tide_span_table_build(&table, &list), TIDE_OK);
    tide_span_list_release(&list);
    return table;
}

static void finds_nothing_in_an_empty_table(void **state)
{
    (void)state;
    struct tide_span_table table = build(NULL, 0);
    assert_int_equal(tide_span_table_find(&table, 0), TIDE_NO_OWNER);
    assert_int_equal(tide_span_table_find(&table, UINT64_MAX), TIDE_NO_OWNER);
    tide_span_table_release(&table);
}

static void knows_where_a_range_ends(void **state)
{
    (void)state;
    const struct tide_span spans[] = {{.low = 10, .high = 20, .owner = 7}};
    struct tide_span_table table = build(spans, 1);
    assert_int_equal(tide_span_table_find(&table, 9), TIDE_NO_OWNER);
    assert_int_equal(tide_span_table_find(&table, 10), 7);
    assert_int_equal(tide_span_table_find(&table, 19), 7);
    assert_int_equal(tide_span_table_find(&table, 20), TIDE_NO_OWNER);
    tide_span_table_release(&table);
}

static void gives_the_innermost_and_goes_back_out(void **state)
{
    (void)state;
    const struct tide_span spans[] = {
        {.low = 0, .high = 100, .depth = 0, .owner = 0},
        {.low = 0, .high = 60, .depth = 1, .owner = 1},
        {.low = 20, .high = 30, .depth = 2, .owner = 2},
        {.low = 100, .high = 110, .depth = 0, .owner = 3},
    };
    struct tide_span_table table = build(spans, 4);
    assert_int_equal(tide_span_table_find(&table, 0), 1);
    assert_int_equal(tide_span_table_find(&table, 25), 2);
    assert_int_equal(tide_span_table_find(&table, 30), 1);
    assert_int_equal(tide_span_table_find(&table, 60), 0);
    assert_int_equal(tide_span_table_find(&table, 99), 0);
    assert_int_equal(tide_span_table_find(&table, 100), 3);
    tide_span_table_release(&table);
}

static void ignores_ranges_without_length(void **state)
{
    (void)state;
    const struct tide_span spans[] = {
        {.low = 5, .high = 5, .owner = 0},
        {.low = 9, .high = 3, .owner = 1},
    };
    struct tide_span_table table = build(spans, 2);
    assert_int_equal(table.count, 0);
    tide_span_table_release(&table);
}

static void holds_the_last_address(void **state)
{
    (void)state;
    const struct tide_span spans[] = {{.low = 1, .high = UINT64_MAX, .owner = 4}};
    struct tide_span_table table = build(spans, 1);
    assert_int_equal(tide_span_table_find(&table, UINT64_MAX - 1), 4);
    assert_int_equal(tide_span_table_find(&table, UINT64_MAX), TIDE_NO_OWNER);
    tide_span_table_release(&table);
}

/* Is A inside of B, by the rule in span_table.h? */
static bool is_inner(const struct tide_span *a, const struct tide_span *b)
{
    if (a->low != b->low)
        return a->low > b->low;
    if (a->depth != b->depth)
        return a->depth > b->depth;
    if (a->high != b->high)
        return a->high < b->high;
    return a->owner > b->owner;
}

static uint32_t search_all(const struct tide_span *spans, size_t count,
                           uint64_t address)
{
    const struct tide_span *best = NULL;
    for (size_t i = 0; i < count; i++) {
        if (address < spans[i].low || address >= spans[i].high)
            continue;
        if (!best || is_inner(&spans[i], best))
            best = &spans[i];
    }
    return best ? best->owner : TIDE_NO_OWNER;
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Also ranges that overlap without nesting, as damaged files have them. */
static void agrees_with_a_search_through_all(void **state)
{
    (void)state;
    enum { TIDE_ROUNDS = 500, TIDE_SPANS = 40, TIDE_SPACE = 200 };
    uint64_t random = 1;
    for (int round = 0; round < TIDE_ROUNDS; round++) {
        struct tide_span spans[TIDE_SPANS];
        for (uint32_t i = 0; i < TIDE_SPANS; i++) {
            const uint64_t low = next_random(&random) % TIDE_SPACE;
            spans[i] = (struct tide_span){
                .low = low,
                .high = low + next_random(&random) % 50,
                .depth = (uint32_t)(next_random(&random) % 3),
                .owner = i,
            };
        }
        struct tide_span_table table = build(spans, TIDE_SPANS);
        for (uint64_t at = 0; at < TIDE_SPACE + 60; at++)
            assert_int_equal(tide_span_table_find(&table, at),
                             search_all(spans, TIDE_SPANS, at));
        tide_span_table_release(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nothing_in_an_empty_table),
        cmocka_unit_test(knows_where_a_range_ends),
        cmocka_unit_test(gives_the_innermost_and_goes_back_out),
        cmocka_unit_test(ignores_ranges_without_length),
        cmocka_unit_test(holds_the_last_address),
        cmocka_unit_test(agrees_with_a_search_through_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
