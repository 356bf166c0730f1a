/* unit/test_rows.c - sites as functions, stacks and call trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "hand_model.h"
#include "make_event.h"
#include "trace/format.h"

static struct hand_model hand;
static struct tide_rows *rows;

static int leave(void **state)
{
    (void)state;
    tide_rows_free(rows);
    rows = NULL;
    hand_model_release(&hand);
    return 0;
}

static const struct hand_symbol symbols[] = {
    {TIDE_HAND_APP, 0x10, "_start", NULL, 0},
    {TIDE_HAND_APP, 0x100, "main", "app.c", 10},
    {TIDE_HAND_APP, 0x110, "main", "app.c", 20},
    {TIDE_HAND_APP, 0x200, "load", "load.c", 5},
    {TIDE_HAND_APP, 0x210, "load", "load.c", 6},
    {TIDE_HAND_APP, 0x300, "grow", "grow.h", 7},
    {TIDE_HAND_APP, 0x300, "push", "push.c", 70},
    {TIDE_HAND_APP, 0x400, "visit", "tree.c", 4},
    {TIDE_HAND_APP, 0x410, "clone", "thread.c", 0},
    {TIDE_HAND_APP, 0x500, "worker", "thread.c", 50},
    {TIDE_HAND_STDCXX, 0x200, "load", NULL, 0},
    {TIDE_HAND_LOADER, 0x1, "_dl_init", NULL, 0},
    {TIDE_HAND_OWN, 0x1, "malloc", NULL, 0},
    {TIDE_HAND_APP, 0x600, "std::vector<int>::push_back", "vector", 9},
    {TIDE_HAND_STDCXX, 0x600, "operator new(unsigned long)", NULL, 0},
    {0, 0, NULL, NULL, 0},
};

/* A site with this much of every metric, told apart by the digits. */
static void add_site(uint32_t stack, uint64_t bytes, uint64_t calls)
{
    hand_site(&hand, (struct tide_site){
                         .stack = stack,
                         .bytes = bytes,
                         .calls = calls,
                         .peak_bytes = (int64_t)bytes * 2,
                         .peak_blocks = (int64_t)calls * 2,
                         .live_bytes = (int64_t)bytes * 3,
                         .live_blocks = (int64_t)calls * 3,
                         .temporary_bytes = bytes * 5,
                         .temporary_calls = calls * 5,
                     });
}

static void build(enum tide_metric metric)
{
    assert_int_equal(tide_model_symbolize_from(hand.model, &hand_source), TIDE_OK);
    assert_int_equal(tide_rows_build(hand.model, metric, TIDE_IN_HEAP, &rows), TIDE_OK);
}

static const struct tide_flat_row *flat(const char *name)
{
    for (size_t i = 0; i < rows->flat_count; i++) {
        if (strcmp(rows->functions[rows->flat[i].function].name, name) == 0)
            return &rows->flat[i];
    }
    return NULL;
}

/* The tree in one line, as "main=30(load=20 grow=10)". */
static void assert_tree(const char *expected)
{
    struct tide_text words = {0};
    uint32_t path[100];
    size_t depth = 0;
    uint32_t row = rows->tree[0].first_child;
    while (row) {
        const struct tide_tree_row *at = &rows->tree[row];
        tide_text_addf(&words, "%s=%llu", rows->functions[at->function].name,
                       (unsigned long long)at->bytes);
        if (at->first_child) {
            tide_text_add(&words, "(");
            path[depth++] = row;
            row = at->first_child;
            continue;
        }
        while (row && !rows->tree[row].next) {
            row = depth ? path[--depth] : 0;
            tide_text_add(&words, row ? ")" : "");
        }
        tide_text_add(&words, row ? " " : "");
        row = rows->tree[row].next;
    }
    assert_string_equal(words.bytes, expected);
    tide_text_release(&words);
}

/* --- Shapes --- */

static void sums_a_function_over_its_stacks(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 30, 3);
    add_site(STACK({TIDE_HAND_APP, 0x110}, {TIDE_HAND_APP, 0x210}), 20, 2);
    add_site(STACK({TIDE_HAND_APP, 0x110}), 5, 1);
    build(TIDE_METRIC_TOTAL);
    assert_int_equal(rows->total_bytes, 55);
    assert_int_equal(rows->total_calls, 6);
    assert_int_equal(rows->flat_count, 2);
    assert_int_equal(flat("main")->inclusive_bytes, 55);
    assert_int_equal(flat("main")->inclusive_calls, 6);
    assert_int_equal(flat("main")->self_bytes, 5);
    assert_int_equal(flat("load")->inclusive_bytes, 50);
    assert_int_equal(flat("load")->self_bytes, 50);
    assert_int_equal(flat("load")->self_calls, 5);
    assert_ptr_equal(flat("load"), &rows->flat[0]); /* what allocates by itself */
    assert_tree("main=55(load=50)");
    /* The line of the heaviest stack. */
    assert_int_equal(rows->tree[rows->tree[0].first_child].line, 10);
    assert_string_equal(rows->tree[rows->tree[0].first_child].file, "app.c");
    assert_int_equal(rows->tree[0].function, UINT32_MAX);
    assert_int_equal(rows->tree[0].bytes, 55);
}

static void counts_the_lines_that_allocate(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 30, 3);
    add_site(STACK({TIDE_HAND_APP, 0x110}, {TIDE_HAND_APP, 0x210}), 20, 2);
    add_site(STACK({TIDE_HAND_APP, 0x110}, {TIDE_HAND_APP, 0x200}), 10, 2);
    add_site(STACK({TIDE_HAND_APP, 0x110}), 5, 1);
    build(TIDE_METRIC_TOTAL);
    const struct tide_tree_row *const top = &rows->tree[rows->tree[0].first_child];
    assert_int_equal(top->lines, 1);
    assert_int_equal(rows->tree[top->first_child].lines, 2);
    /* Those that it calls on from count too. */
    assert_int_equal(top->least_line, 10);
    assert_int_equal(top->most_line, 20);
}

/* Bytes and calls together: the tree opens with what makes many small blocks. */
static void orders_the_tree_of_churn_by_both_shares(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 100, 1);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x400}), 60, 9);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=160(load=100 visit=60)");
    tide_rows_free(rows);
    build(TIDE_METRIC_CHURN);
    assert_tree("main=800(visit=300 load=500)");
}

/* Of what has no name, the callers that have one are counted, not single stacks. */
static void names_who_calls_a_function_without_a_name(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x900}), 30, 3);
    add_site(
        STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}, {TIDE_HAND_APP, 0x900}),
        20, 3);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x210},
                   {TIDE_HAND_APP, 0x800}, {TIDE_HAND_APP, 0x900}),
             15, 3);
    build(TIDE_METRIC_TOTAL);
    size_t unnamed = 0;
    for (size_t i = 0; i < rows->flat_count; i++) {
        const struct tide_flat_row *const row = &rows->flat[i];
        if (row->self_bytes == 0 || rows->functions[row->function].resolved) {
            assert_int_equal(row->caller, UINT32_MAX);
            continue;
        }
        assert_string_equal(rows->functions[row->caller].name, "load");
        unnamed++;
    }
    assert_int_equal(unnamed, 1);
}

static void takes_each_metric_from_its_own_fields(void **state)
{
    (void)state;
    static const uint64_t factors[] = {2, 3, 1, 5}; /* in the order of the metrics */
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}), 100, 10);
    for (int metric = TIDE_METRIC_PEAK; metric <= TIDE_METRIC_CHURN; metric++) {
        tide_rows_free(rows);
        build((enum tide_metric)metric);
        assert_int_equal(rows->total_bytes, 100 * factors[metric]);
        assert_int_equal(rows->stacks[0].calls, 10 * factors[metric]);
    }
}

static void keeps_spaces_apart(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}), 100, 10);
    hand_site(&hand, (struct tide_site){.stack = STACK({TIDE_HAND_APP, 0x100}),
                                        .space = TIDE_IN_MMAP,
                                        .bytes = 4096,
                                        .calls = 1});
    build(TIDE_METRIC_TOTAL);
    assert_int_equal(rows->total_bytes, 100);
    tide_rows_free(rows);
    assert_int_equal(
        tide_rows_build(hand.model, TIDE_METRIC_TOTAL, TIDE_IN_MMAP, &rows), TIDE_OK);
    assert_int_equal(rows->total_bytes, 4096);
}

static void counts_recursion_once(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x400},
                   {TIDE_HAND_APP, 0x400}, {TIDE_HAND_APP, 0x400}),
             7, 1);
    build(TIDE_METRIC_TOTAL);
    assert_int_equal(flat("visit")->inclusive_bytes, 7);
    assert_int_equal(flat("visit")->self_bytes, 7);
    assert_tree("main=7(visit=7(visit=7(visit=7)))");
}

static void shows_inlined_functions_as_calls(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x300}), 8, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=8(push=8(grow=8))");
    assert_int_equal(flat("grow")->self_bytes, 8);
    assert_int_equal(flat("push")->self_bytes, 0);
    assert_int_equal(flat("push")->inclusive_bytes, 8);
}

static void sorts_children_by_bytes(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x400}), 1, 9);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 5, 1);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x500}), 3, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=9(load=5 worker=3 visit=1)");
    assert_int_equal(rows->stacks[0].bytes, 5);
    assert_int_equal(rows->stacks[0].site, 1);
    assert_int_equal(rows->stacks[2].bytes, 1);
}

static void tells_equal_names_of_two_modules_apart(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}), 5, 1);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_STDCXX, 0x200}), 3, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=8(load=5 load=3)");
    assert_int_equal(rows->flat_count, 3);
}

static void names_what_has_no_name(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    const uint32_t cut = hand_synthetic(&hand, 0, TIDE_SYNTHETIC_CUT);
    (void)cut;
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x999}), 5, 1);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_NO_MODULE, 0xabc}), 4, 1);
    add_site(0, 3, 1);
    add_site(hand_synthetic(&hand, 0, TIDE_SYNTHETIC_EARLY), 2, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=9(app+0x999=5 0xabc=4) [unknown]=3 [before start]=2");
    assert_false(rows->functions[flat("app+0x999")->function].resolved);
    assert_string_equal(rows->functions[flat("app+0x999")->function].module,
                        "/bin/app");
    assert_string_equal(rows->functions[flat("0xabc")->function].module, "");
}

/* --- What is left out --- */

static void folds_what_leads_to_main(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    /* libc cannot be read: its frames have no names. */
    add_site(STACK({TIDE_HAND_APP, 0x10}, {TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_LIBC, 0x2},
                   {TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200}),
             5, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=5(load=5)");
    assert_null(flat("_start"));
    assert_int_equal(rows->flat_count, 2);
}

static void folds_what_leads_to_main_in_a_stripped_program(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(
        STACK({TIDE_HAND_APP, 0x11}, {TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_APP, 0x100}), 5,
        1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=5");
}

static void folds_what_leads_to_a_thread(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(
        STACK({TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_LIBC, 0x2}, {TIDE_HAND_APP, 0x500}), 5,
        1);
    add_site(STACK({TIDE_HAND_APP, 0x410}, {TIDE_HAND_APP, 0x500}), 6, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("worker=11");
}

static void build_folded(bool fold, const char *hide)
{
    const struct tide_rows_request request = {
        .metric = TIDE_METRIC_TOTAL, .fold = fold, .hide = hide};
    assert_int_equal(tide_rows_ask(hand.model, &request, &rows), TIDE_OK);
}

static void folds_the_library_into_its_caller(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_APP, 0x200},
                   {TIDE_HAND_APP, 0x600}, {TIDE_HAND_STDCXX, 0x600}),
             8, 1);
    add_site(STACK({TIDE_HAND_APP, 0x600}, {TIDE_HAND_STDCXX, 0x600}), 4, 1);
    build(TIDE_METRIC_TOTAL);
    tide_rows_free(rows);
    build_folded(true, NULL);
    /* A stack of nothing else keeps its innermost call. */
    assert_tree("main=8(load=8) operator new(unsigned long)=4");
    assert_int_equal(flat("load")->self_bytes, 8);
    tide_rows_free(rows);
    build_folded(true, "load");
    assert_int_equal(flat("main")->self_bytes, 8);
    assert_null(flat("load"));
    tide_rows_free(rows);
    build_folded(false, "*libstdc++*");
    assert_tree("main=8(load=8(std::vector<int>::push_back=8)) "
                "std::vector<int>::push_back=4");
}

static void keeps_libc_where_it_was_called(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_APP, 0x100}, {TIDE_HAND_LIBC, 0x7},
                   {TIDE_HAND_APP, 0x200}),
             5, 1);
    add_site(STACK({TIDE_HAND_LOADER, 0x1}, {TIDE_HAND_APP, 0x200}), 4, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=5(libc.so.6+0x7=5(load=5)) _dl_init=4(load=4)");
}

static void never_folds_the_innermost(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x10}), 5, 1);
    add_site(STACK({TIDE_HAND_LIBC, 0x1}, {TIDE_HAND_LIBC, 0x2}), 4, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("_start=5 libc.so.6+0x2=4");
}

static void leaves_the_recorder_out(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    add_site(STACK({TIDE_HAND_APP, 0x100}, {TIDE_HAND_OWN, 0x1}), 5, 1);
    add_site(STACK({TIDE_HAND_OWN, 0x1}), 1, 1);
    build(TIDE_METRIC_TOTAL);
    assert_tree("main=5 [unknown]=1");
}

/* --- Sizes --- */

static void bears_deep_stacks(void **state)
{
    (void)state;
    enum { TIDE_DEEP = 2048 };
    hand_model_init(&hand, symbols);
    struct hand_frame *frames = calloc(TIDE_DEEP, sizeof(*frames));
    for (size_t i = 0; i < TIDE_DEEP; i++)
        frames[i] = (struct hand_frame){TIDE_HAND_APP, i ? 0x400 : 0x100};
    add_site(hand_stack(&hand, frames, TIDE_DEEP), 5, 1);
    free(frames);
    build(TIDE_METRIC_TOTAL);
    assert_int_equal(rows->tree_count, TIDE_DEEP + 1);
    assert_int_equal(flat("visit")->inclusive_bytes, 5);
}

static void is_empty_when_there_is_nothing(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    build(TIDE_METRIC_LEAKS);
    assert_int_equal(rows->flat_count, 0);
    assert_int_equal(rows->stack_count, 0);
    assert_int_equal(rows->tree_count, 1);
    assert_int_equal(rows->tree[0].first_child, 0);
}

static void wants_a_model_with_names(void **state)
{
    (void)state;
    hand_model_init(&hand, symbols);
    assert_int_equal(tide_rows_build(hand.model, TIDE_METRIC_PEAK, TIDE_IN_HEAP, &rows),
                     TIDE_EUSAGE);
    assert_null(rows);
}

/* --- Random --- */

enum { TIDE_RANDOM_SITES = 60, TIDE_RANDOM_DEPTH = 12 };

/* Functions f0 .. f19 at 0x1000 + n. */
static struct hand_symbol many[21];
static char many_names[20][8];

static void check_tree_sums(void)
{
    for (uint32_t row = 0; row < rows->tree_count; row++) {
        uint64_t bytes = rows->tree[row].self_bytes, calls = rows->tree[row].self_calls;
        uint64_t last = UINT64_MAX;
        for (uint32_t at = rows->tree[row].first_child; at; at = rows->tree[at].next) {
            bytes += rows->tree[at].bytes;
            calls += rows->tree[at].calls;
            assert_true(rows->tree[at].bytes <= last);
            last = rows->tree[at].bytes;
        }
        assert_int_equal(bytes, rows->tree[row].bytes);
        assert_int_equal(calls, rows->tree[row].calls);
    }
    assert_int_equal(rows->tree[0].bytes, rows->total_bytes);
}

static void check_random(uint64_t seed)
{
    uint64_t random = seed;
    uint64_t inclusive[20] = {0}, self[20] = {0}, total = 0;
    hand_model_init(&hand, many);
    for (size_t i = 0; i < TIDE_RANDOM_SITES; i++) {
        struct hand_frame frames[TIDE_RANDOM_DEPTH];
        bool on_stack[20] = {0};
        const size_t depth = 1 + any_below(&random, TIDE_RANDOM_DEPTH);
        const uint64_t bytes = any_below(&random, 1000);
        size_t which = 0;
        for (size_t d = 0; d < depth; d++) {
            which = any_below(&random, 20);
            on_stack[which] = true;
            frames[d] = (struct hand_frame){TIDE_HAND_APP, 0x1000 + which};
        }
        add_site(hand_stack(&hand, frames, depth), bytes, 1);
        total += bytes;
        self[which] += bytes;
        for (size_t f = 0; f < 20; f++)
            inclusive[f] += on_stack[f] ? bytes : 0;
    }
    build(TIDE_METRIC_TOTAL);
    assert_int_equal(rows->total_bytes, total);
    check_tree_sums();
    for (size_t f = 0; f < 20; f++) {
        const struct tide_flat_row *row = flat(many_names[f]);
        assert_int_equal(row ? row->inclusive_bytes : 0, inclusive[f]);
        assert_int_equal(row ? row->self_bytes : 0, self[f]);
    }
    leave(NULL);
}

static void agrees_with_plain_sums(void **state)
{
    (void)state;
    for (size_t i = 0; i < 20; i++) {
        snprintf(many_names[i], sizeof(many_names[i]), "f%zu", i);
        many[i] =
            (struct hand_symbol){TIDE_HAND_APP, 0x1000 + i, many_names[i], "f.c", 1};
    }
    for (uint64_t seed = 1; seed <= 50; seed++)
        check_random(seed);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_teardown(name, leave)
    const struct CMUnitTest tests[] = {
        CASE(sums_a_function_over_its_stacks),
        CASE(counts_the_lines_that_allocate),
        CASE(orders_the_tree_of_churn_by_both_shares),
        CASE(names_who_calls_a_function_without_a_name),
        CASE(takes_each_metric_from_its_own_fields),
        CASE(keeps_spaces_apart),
        CASE(counts_recursion_once),
        CASE(shows_inlined_functions_as_calls),
        CASE(sorts_children_by_bytes),
        CASE(tells_equal_names_of_two_modules_apart),
        CASE(names_what_has_no_name),
        CASE(folds_what_leads_to_main),
        CASE(folds_what_leads_to_main_in_a_stripped_program),
        CASE(folds_what_leads_to_a_thread),
        CASE(folds_the_library_into_its_caller),
        CASE(keeps_libc_where_it_was_called),
        CASE(never_folds_the_innermost),
        CASE(leaves_the_recorder_out),
        CASE(bears_deep_stacks),
        CASE(is_empty_when_there_is_nothing),
        CASE(wants_a_model_with_names),
        cmocka_unit_test(agrees_with_plain_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
