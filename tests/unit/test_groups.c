/* unit/test_groups.c - rows by thread, process, region, label, module and line, and
 * filters, against a recount of random histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/pattern.h"
#include "true_trial.h"

enum { TIDE_HISTORIES = 10 };

/* What is recounted. */
struct question {
    enum tide_metric metric;
    uint32_t space;
    size_t peak;
    /* What a block must have; NULL or 0: anything. */
    const char *region, *region_start;
    uint32_t thread, process, label, functions;
    bool any_process, any_label;
};

/* "r1/r3" */
static const char *path_words(uint32_t path)
{
    static char words[64];
    char turned[64] = "";
    words[0] = '\0';
    for (; path; path /= 8) {
        (void)snprintf(turned, sizeof(turned), "r%u%s%.40s", path % 8,
                       words[0] ? "/" : "", words);
        memcpy(words, turned, sizeof(words));
    }
    return words;
}

static uint32_t functions_of(const struct true_trial *trial, uint32_t stack)
{
    size_t i = 0;
    while (trial->history->stacks[i] != stack)
        i++;
    return trial->path[i];
}

static bool is_meant(const struct true_trial *trial, const struct true_block *block,
                     const struct question *question)
{
    const char *const region = path_words(block->region);
    if (question->region && strcmp(region, question->region) != 0)
        return false;
    if (question->region_start) {
        const size_t length = strlen(question->region_start);
        if (strncmp(region, question->region_start, length) != 0 ||
            (region[length] != '\0' && region[length] != '/'))
            return false;
    }
    return block->space == question->space &&
           (!question->thread || block->thread == question->thread) &&
           (question->any_process || block->process == question->process) &&
           (question->any_label || block->label == question->label) &&
           (functions_of(trial, block->stack) & question->functions) ==
               question->functions;
}

static uint64_t recount(const struct true_trial *trial, const struct question *question)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < trial->history->block_count; i++) {
        const struct true_block *const block = &trial->history->blocks[i];
        if (is_meant(trial, block, question) &&
            true_counts(trial->history, block, question->metric, question->peak))
            bytes += block->size;
    }
    return bytes;
}

static struct question anything(const struct true_trial *trial, enum tide_metric metric,
                                uint32_t space)
{
    return (struct question){
        .metric = metric,
        .space = space,
        .peak = true_peak(trial->history, space),
        .any_process = true,
        .any_label = true,
    };
}

/* --- Groups --- */

static struct tide_groups *ask(const struct true_trial *trial,
                               const struct question *question, enum tide_group_by by)
{
    struct tide_groups *groups;
    const struct tide_rows_request request = {
        .metric = question->metric, .space = (enum tide_space)question->space};
    assert_int_equal(tide_groups_ask(trial->model, &request, by, &groups), TIDE_OK);
    assert_int_equal(groups->total_bytes, recount(trial, question));
    assert_int_equal(groups->whole_bytes, groups->total_bytes);
    uint64_t sum = 0;
    for (size_t i = 0; i < groups->count; i++)
        sum += groups->list[i].bytes;
    assert_int_equal(sum, groups->total_bytes);
    return groups;
}

static void compare_threads(const struct true_trial *trial, struct question question)
{
    struct tide_groups *const groups = ask(trial, &question, TIDE_BY_THREAD);
    for (size_t i = 0; i < groups->count; i++) {
        question.thread = (uint32_t)groups->list[i].number;
        assert_int_equal(groups->list[i].bytes, recount(trial, &question));
        assert_int_equal(groups->list[i].inclusive_bytes, groups->list[i].bytes);
    }
    tide_groups_free(groups);
}

static void compare_labels(const struct true_trial *trial, struct question question)
{
    struct tide_groups *const groups = ask(trial, &question, TIDE_BY_LABEL);
    question.any_label = false;
    for (size_t i = 0; i < groups->count; i++) {
        const char *const name = groups->list[i].name;
        question.label = *name ? (uint32_t)(name[1] - '0') : 0;
        assert_int_equal(groups->list[i].bytes, recount(trial, &question));
    }
    tide_groups_free(groups);
}

static void compare_regions(const struct true_trial *trial, struct question question)
{
    struct tide_groups *const groups = ask(trial, &question, TIDE_BY_REGION);
    for (size_t i = 0; i < groups->count; i++) {
        const struct tide_group_row *const row = &groups->list[i];
        question.region = row->name;
        question.region_start = NULL;
        assert_int_equal(row->bytes, recount(trial, &question));
        question.region = *row->name ? NULL : "";
        question.region_start = *row->name ? row->name : NULL;
        assert_int_equal(row->inclusive_bytes, recount(trial, &question));
    }
    tide_groups_free(groups);
}

/* All functions are in one module; each has a line of its own. */
static void compare_places(const struct true_trial *trial, struct question question)
{
    struct tide_groups *groups = ask(trial, &question, TIDE_BY_MODULE);
    if (groups->count > 0) {
        assert_int_equal(groups->count, 1);
        assert_string_equal(groups->list[0].name, "/bin/app");
        assert_int_equal(groups->list[0].inclusive_bytes, groups->total_bytes);
    }
    tide_groups_free(groups);
    groups = ask(trial, &question, TIDE_BY_LINE);
    for (size_t i = 0; i < groups->count; i++) {
        assert_string_equal(groups->list[i].name, "f.c");
        question.functions = 1u << (groups->list[i].number / 10 - 1);
        assert_int_equal(groups->list[i].inclusive_bytes, recount(trial, &question));
    }
    tide_groups_free(groups);
}

static void adds_up_by_everything_as_a_recount_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct true_trial trial;
        true_begin_trial(&trial, seed, true);
        true_account_trial(&trial, 0);
        for (int metric = 0; metric < 4; metric++) {
            const uint32_t space = (seed + (uint64_t)metric) % 2;
            const struct question question =
                anything(&trial, (enum tide_metric)metric, space);
            compare_threads(&trial, question);
            compare_labels(&trial, question);
            compare_regions(&trial, question);
            compare_places(&trial, question);
        }
        true_end_trial(&trial);
    }
}

/* --- Filters --- */

static void compare_filter(const struct true_trial *trial, struct tide_filter filter,
                           const struct question *question)
{
    struct tide_rows *rows;
    const struct tide_rows_request request = {
        .metric = question->metric,
        .space = (enum tide_space)question->space,
        .filter = filter,
    };
    const struct question all = anything(trial, question->metric, question->space);
    assert_int_equal(tide_rows_ask(trial->model, &request, &rows), TIDE_OK);
    assert_int_equal(rows->total_bytes, recount(trial, question));
    assert_int_equal(rows->whole_bytes, recount(trial, &all));
    assert_int_equal(rows->tree[0].bytes, rows->total_bytes);
    assert_true(rows->filtered);
    tide_rows_free(rows);
}

static void filters_compose(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct true_trial trial;
        true_begin_trial(&trial, seed, true);
        true_account_trial(&trial, 0);
        for (uint32_t metric = 0; metric < 4; metric++) {
            struct question question =
                anything(&trial, (enum tide_metric)metric, TIDE_IN_HEAP);
            struct tide_filter filter = {.function = "f3"};
            question.functions = 1u << 3;
            compare_filter(&trial, filter, &question);
            filter.region = "r2*";
            question.region_start = "r2";
            compare_filter(&trial, filter, &question);
            filter.label = "l1";
            question.any_label = false;
            question.label = 1;
            compare_filter(&trial, filter, &question);
            filter = (struct tide_filter){.thread = "102", .module = "app"};
            question = anything(&trial, (enum tide_metric)metric, TIDE_IN_HEAP);
            question.thread = 102;
            compare_filter(&trial, filter, &question);
            filter.file = "nowhere";
            question.functions = 1u << 31;
            compare_filter(&trial, filter, &question);
        }
        true_end_trial(&trial);
    }
}

/* --- Parts of the tree --- */

static void stands_on_its_head(void **state)
{
    (void)state;
    struct true_trial trial;
    struct tide_rows *rows;
    true_begin_trial(&trial, 3, false);
    true_account_trial(&trial, 0);
    struct tide_rows_request request = {.metric = TIDE_METRIC_TOTAL,
                                        .part = TIDE_TREE_UP};
    assert_int_equal(tide_rows_ask(trial.model, &request, &rows), TIDE_OK);
    /* Its first level is the functions by what they allocate themselves. */
    size_t level = 0;
    for (uint32_t row = rows->tree[0].first_child; row; row = rows->tree[row].next) {
        for (size_t i = 0; i < rows->flat_count; i++) {
            if (rows->flat[i].function == rows->tree[row].function)
                assert_int_equal(rows->flat[i].self_bytes, rows->tree[row].bytes);
        }
        level++;
    }
    assert_true(level > 3);
    assert_int_equal(rows->tree[0].bytes, rows->total_bytes);
    tide_rows_free(rows);
    true_end_trial(&trial);
}

static void has_all_of_a_function_among_its_callers_and_callees(void **state)
{
    (void)state;
    struct true_trial trial;
    true_begin_trial(&trial, 4, false);
    true_account_trial(&trial, 0);
    struct question question = anything(&trial, TIDE_METRIC_TOTAL, TIDE_IN_HEAP);
    for (uint32_t function = 0; function < TIDE_TRUE_FUNCTIONS; function++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "f%u", function);
        question.functions = 1u << function;
        for (int part = TIDE_TREE_CALLERS; part <= TIDE_TREE_CALLEES; part++) {
            struct tide_rows *rows;
            const struct tide_rows_request request = {
                .metric = TIDE_METRIC_TOTAL,
                .part = (enum tide_tree_part)part,
                .focus = name,
            };
            assert_int_equal(tide_rows_ask(trial.model, &request, &rows), TIDE_OK);
            assert_int_equal(rows->tree[0].bytes, recount(&trial, &question));
            const uint32_t first = rows->tree[0].first_child;
            assert_int_equal(rows->tree[first].bytes, rows->tree[0].bytes);
            assert_string_equal(rows->functions[rows->tree[first].function].name, name);
            tide_rows_free(rows);
        }
    }
    true_end_trial(&trial);
}

/* --- Patterns --- */

static void knows_which_names_are_meant(void **state)
{
    (void)state;
    assert_true(tide_pattern_means(NULL, "anything"));
    assert_true(tide_pattern_means("olv", "solve"));
    assert_false(tide_pattern_means("olv", "s"));
    assert_true(tide_pattern_means("s*e", "solve"));
    assert_false(tide_pattern_means("s*v", "solve"));
    assert_true(tide_pattern_means("x|olv", "solve"));
    assert_true(tide_pattern_means("olv|", "solve"));
    assert_false(tide_pattern_means("|", "solve"));
    assert_false(tide_pattern_means("", "solve"));
    assert_true(tide_is_library_function("operator new(unsigned long)"));
    assert_true(tide_is_library_function("void std::swap<int>(int&, int&)"));
    assert_true(tide_is_library_function("__gnu_cxx::new_allocator<int>::allocate"));
    assert_true(tide_is_library_function("malloc"));
    assert_false(tide_is_library_function("malloc_pool"));
    assert_false(tide_is_library_function("solve(std::vector<int> const&)"));
    assert_false(tide_is_library_function("main"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_by_everything_as_a_recount_does),
        cmocka_unit_test(filters_compose),
        cmocka_unit_test(stands_on_its_head),
        cmocka_unit_test(has_all_of_a_function_among_its_callers_and_callees),
        cmocka_unit_test(knows_which_names_are_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
