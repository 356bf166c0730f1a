/* unit/test_context.c - threads, regions and labels as contexts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/context.h"

static const char *some_name(const void *user, uint32_t process, uint64_t id)
{
    static const char *const names[] = {NULL, "main", "solve", "assemble"};
    (void)user;
    (void)process;
    return id < 4 ? names[id] : NULL;
}

static struct tide_contexts contexts;
static struct tide_where where;

static int begin(void **state)
{
    (void)state;
    contexts = (struct tide_contexts){.source = {some_name, NULL}};
    return (int)tide_where_thread(&contexts, &where,
                                  &(struct tide_key_thread){.tid = 7});
}

static int end(void **state)
{
    (void)state;
    tide_contexts_release(&contexts);
    return 0;
}

static void enter(uint64_t id)
{
    assert_int_equal(tide_where_enter(&contexts, &where, 0, id), TIDE_OK);
}

static void leave(uint64_t id)
{
    assert_int_equal(tide_where_leave(&contexts, &where, 0, id), TIDE_OK);
}

static void returns_to_the_region_around_it(void **state)
{
    (void)state;
    enter(1);
    const uint32_t outer = where.region;
    enter(2);
    assert_int_not_equal(where.region, outer);
    leave(2);
    assert_int_equal(where.region, outer);
    leave(1);
    assert_int_equal(where.region, 0);
    assert_int_equal(contexts.region_mismatches, 0);
}

static void ends_what_is_inside_with_its_surroundings(void **state)
{
    (void)state;
    enter(1);
    const uint32_t outer = where.region;
    enter(2);
    enter(3);
    leave(2);
    assert_int_equal(where.region, outer);
    assert_int_equal(contexts.region_mismatches, 1);
    enter(2);
    leave(2);
    assert_int_equal(where.region, outer);
}

static void survives_ends_of_nothing(void **state)
{
    (void)state;
    leave(1);
    enter(1);
    const uint32_t outer = where.region;
    leave(2);
    assert_int_equal(where.region, outer);
    assert_int_equal(contexts.region_mismatches, 2);
}

static void ends_the_innermost_when_no_name_is_given(void **state)
{
    (void)state;
    enter(1);
    enter(2);
    leave(0);
    leave(0);
    assert_int_equal(where.region, 0);
    assert_int_equal(contexts.region_mismatches, 0);
}

static void comes_back_from_any_depth(void **state)
{
    (void)state;
    enter(1);
    const uint32_t outer = where.region;
    for (int i = 0; i < TIDE_REGIONS_DEEP + 10; i++)
        enter(2);
    assert_int_equal(contexts.regions.count, TIDE_REGIONS_DEEP);
    for (int i = 0; i < TIDE_REGIONS_DEEP + 10; i++)
        leave(2);
    assert_int_equal(where.region, outer);
    enter(3);
    enter(3);
    leave(1); /* two at once */
    assert_int_equal(where.region, 0);
    assert_int_equal(where.depth, 0);
    for (int i = 0; i < TIDE_REGIONS_DEEP; i++)
        enter(2);
    leave(2);
    assert_int_equal(where.depth, TIDE_REGIONS_DEEP - 1);
}

static void knows_equal_names_of_different_processes_as_one(void **state)
{
    (void)state;
    enter(1);
    const uint32_t region = where.region;
    assert_int_equal(
        tide_where_thread(&contexts, &where, &(struct tide_key_thread){.process = 1}),
        TIDE_OK);
    assert_int_equal(where.region, 0);
    assert_int_equal(tide_where_enter(&contexts, &where, 1, 1), TIDE_OK);
    assert_int_equal(where.region, region);
    /* Without a name they are not known to be the same. */
    enter(9);
    const uint32_t nameless = where.region;
    leave(9);
    assert_int_equal(tide_where_enter(&contexts, &where, 1, 9), TIDE_OK);
    assert_int_not_equal(where.region, nameless);
}

static void counts_threads_as_one_when_there_are_too_many(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < TIDE_THREADS_APART; i++) {
        const struct tide_key_thread thread = {.process = i % 2, .tid = i};
        assert_int_equal(tide_where_thread(&contexts, &where, &thread), TIDE_OK);
        assert_int_equal(where.thread, i);
    }
    uint32_t rest[2];
    for (uint32_t i = 0; i < 10; i++) {
        const struct tide_key_thread thread = {.process = i % 2, .tid = i};
        assert_int_equal(tide_where_thread(&contexts, &where, &thread), TIDE_OK);
        if (i < 2)
            rest[i] = where.thread;
        assert_int_equal(where.thread, rest[i % 2]);
    }
    assert_int_not_equal(rest[0], rest[1]);
    assert_int_equal(contexts.threads[rest[1]].count, 5);
    assert_int_equal(contexts.threads[rest[1]].process, 1);
    assert_int_equal(contexts.threads[rest[1]].tid, 0);
}

static void keeps_the_label_of_another_context(void **state)
{
    (void)state;
    uint32_t labelled, alike;
    assert_int_equal(tide_where_context(&contexts, &where, TIDE_IN_HEAP), TIDE_OK);
    const uint32_t plain = where.context[TIDE_IN_HEAP];
    assert_int_equal(tide_context_label(&contexts, plain, 0, 3, &labelled), TIDE_OK);
    assert_int_not_equal(labelled, plain);
    enter(1);
    assert_int_equal(tide_where_context(&contexts, &where, TIDE_IN_HEAP), TIDE_OK);
    assert_int_equal(
        tide_context_like(&contexts, where.context[TIDE_IN_HEAP], labelled, &alike),
        TIDE_OK);
    assert_int_equal(tide_context_of(&contexts, alike).label,
                     tide_context_of(&contexts, labelled).label);
    assert_int_equal(tide_context_of(&contexts, alike).region, where.region);
    assert_int_equal(tide_context_label(&contexts, labelled, 0, 0, &alike), TIDE_OK);
    assert_int_equal(alike, plain);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(returns_to_the_region_around_it),
        CASE(ends_what_is_inside_with_its_surroundings),
        CASE(survives_ends_of_nothing),
        CASE(ends_the_innermost_when_no_name_is_given),
        CASE(comes_back_from_any_depth),
        CASE(knows_equal_names_of_different_processes_as_one),
        CASE(counts_threads_as_one_when_there_are_too_many),
        CASE(keeps_the_label_of_another_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
