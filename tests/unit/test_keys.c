/* unit/test_keys.c - what is counted by stack, thread, region, label and space, against a
 * recount of random histories block by block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make_event.h"
#include "true_trial.h"

enum {
    TIDE_HISTORIES = 20,
    TIDE_TRUE_MOMENTS = 100,
};

/* --- What blocks and keys have in common --- */

enum attribute {
    TIDE_OF_STACK,
    TIDE_OF_THREAD,
    TIDE_OF_PROCESS,
    TIDE_OF_REGION,
    TIDE_OF_LABEL,
    TIDE_ATTRIBUTES
};

static uint32_t of_block(const struct true_block *block, enum attribute attribute)
{
    switch (attribute) {
    case TIDE_OF_STACK:
        return block->stack;
    case TIDE_OF_THREAD:
        return block->thread;
    case TIDE_OF_PROCESS:
        return block->process;
    case TIDE_OF_REGION:
        return block->region;
    case TIDE_OF_LABEL:
    case TIDE_ATTRIBUTES:
    default:
        return block->label;
    }
}

/* "r1/r3" as true_block has it. */
static uint32_t path_number(const struct tide_model *model, uint32_t region)
{
    struct tide_text text = {0};
    uint32_t path = 0;
    tide_model_region(model, region, &text);
    for (const char *at = text.bytes ? text.bytes : ""; *at; at++)
        path = *at >= '0' && *at <= '9' ? path * 8 + (uint32_t)(*at - '0') : path;
    tide_text_release(&text);
    return path;
}

static uint32_t of_key(const struct tide_model *model, const struct tide_key *key,
                       enum attribute attribute)
{
    const struct tide_context *const context = &model->contexts[key->context];
    const struct tide_key_thread *const thread = &model->key_threads[context->thread];
    switch (attribute) {
    case TIDE_OF_STACK:
        return key->stack;
    case TIDE_OF_THREAD:
        return thread->tid;
    case TIDE_OF_PROCESS:
        return thread->process;
    case TIDE_OF_REGION:
        return path_number(model, context->region);
    case TIDE_OF_LABEL:
    case TIDE_ATTRIBUTES:
    default:
        return context->label
                   ? (uint32_t)(tide_model_text(model, context->label)[1] - '0')
                   : 0;
    }
}

/* --- Sums --- */

struct sums {
    uint64_t calls, bytes, freed_calls, freed_bytes, temporary_calls, temporary_bytes;
    uint64_t peak_blocks, peak_bytes, live_blocks, live_bytes;
    uint64_t foreign_calls, foreign_bytes, moved_calls, grown_bytes, slack_bytes;
    uint64_t crept_calls, crept_bytes, copied_calls, copied_bytes;
};

static void add_block(struct sums *sums, const struct true_history *history,
                      const struct true_block *block, size_t peak)
{
    const bool stood = true_stands(history, block, peak);
    const bool dead = block->death < TIDE_TRUE_NEVER;
    const bool foreign = dead && block->freed_by && block->freed_by != block->thread;
    sums->calls++;
    sums->bytes += block->size;
    sums->freed_calls += dead;
    sums->freed_bytes += dead ? block->size : 0;
    sums->live_blocks += !dead;
    sums->live_bytes += dead ? 0 : block->size;
    sums->temporary_calls += block->temporary;
    sums->temporary_bytes += block->temporary ? block->size : 0;
    sums->peak_blocks += stood;
    sums->peak_bytes += stood ? block->size : 0;
    sums->foreign_calls += foreign;
    sums->foreign_bytes += foreign ? block->size : 0;
    sums->moved_calls += block->moved;
    sums->grown_bytes += block->grown;
    sums->crept_calls += block->crept;
    sums->crept_bytes += block->crept ? block->grown : 0;
    sums->copied_calls += block->copied > 0;
    sums->copied_bytes += block->copied;
    if (block->space == TIDE_IN_HEAP)
        sums->slack_bytes += TIDE_USABLE_GLIBC(block->size) - block->size;
}

static void add_key(struct sums *sums, const struct tide_model *model, size_t index)
{
    const struct tide_key *const key = &model->keys[index];
    sums->calls += key->calls;
    sums->bytes += key->bytes;
    sums->freed_calls += key->freed_calls;
    sums->freed_bytes += key->freed_bytes;
    sums->live_blocks += key->calls - key->freed_calls;
    sums->live_bytes += key->bytes - key->freed_bytes;
    sums->temporary_calls += key->temporary_calls;
    sums->temporary_bytes += key->temporary_bytes;
    sums->peak_blocks += (uint64_t)key->peak_blocks;
    sums->peak_bytes += (uint64_t)key->peak_bytes;
    sums->slack_bytes += key->slack_bytes;
    if (index >= model->key_more_count)
        return;
    const struct tide_key_more *const more = &model->key_more[index];
    sums->foreign_calls += more->foreign_calls;
    sums->foreign_bytes += more->foreign_bytes;
    sums->moved_calls += more->moved_calls;
    sums->grown_bytes += more->grown_bytes;
    sums->crept_calls += more->crept_calls;
    sums->crept_bytes += more->crept_bytes;
    sums->copied_calls += more->copied_calls;
    sums->copied_bytes += more->copied_bytes;
}

/* All blocks of SPACE that have the attribute of PATTERN, from both sides. */
static void compare_like(const struct true_trial *trial,
                         const struct true_block *pattern, enum attribute attribute,
                         size_t peak)
{
    const struct true_history *const history = trial->history;
    const uint32_t value = of_block(pattern, attribute);
    struct sums truth = {0}, found = {0};
    for (size_t i = 0; i < history->block_count; i++) {
        const struct true_block *const block = &history->blocks[i];
        if (block->space == pattern->space && of_block(block, attribute) == value)
            add_block(&truth, history, block, peak);
    }
    for (size_t i = 0; i < trial->model->key_count; i++) {
        const struct tide_key *const key = &trial->model->keys[i];
        if (key->space == pattern->space &&
            of_key(trial->model, key, attribute) == value)
            add_key(&found, trial->model, i);
    }
    if (attribute == TIDE_OF_LABEL) { /* a move counts under the label of its moment */
        found.moved_calls = truth.moved_calls;
        found.grown_bytes = truth.grown_bytes;
        found.crept_calls = truth.crept_calls;
        found.crept_bytes = truth.crept_bytes;
        found.copied_calls = truth.copied_calls;
        found.copied_bytes = truth.copied_bytes;
    }
    assert_memory_equal(&found, &truth, sizeof(truth));
}

/* Each value of each attribute once. */
static void compare_space(const struct true_trial *trial, uint32_t space)
{
    const struct true_history *const history = trial->history;
    const size_t peak = true_peak(history, space);
    for (int attribute = 0; attribute < TIDE_ATTRIBUTES; attribute++) {
        for (size_t i = 0; i < history->block_count; i++) {
            const struct true_block *const block = &history->blocks[i];
            bool seen = block->space != space;
            for (size_t k = 0; k < i && !seen; k++)
                seen = history->blocks[k].space == space &&
                       of_block(&history->blocks[k], (enum attribute)attribute) ==
                           of_block(block, (enum attribute)attribute);
            if (!seen)
                compare_like(trial, block, (enum attribute)attribute, peak);
        }
    }
}

/* Who freed whose blocks; how many there were in all. */
static uint64_t compare_flows(const struct true_trial *trial)
{
    const struct true_history *const history = trial->history;
    uint64_t all = 0;
    for (size_t i = 0; i < trial->model->flow_count; i++) {
        const struct tide_flow *const flow = &trial->model->flows[i];
        uint64_t calls = 0, bytes = 0;
        for (size_t k = 0; k < history->block_count; k++) {
            const struct true_block *const block = &history->blocks[k];
            if (block->thread != trial->model->key_threads[flow->from].tid ||
                block->freed_by != trial->model->key_threads[flow->to].tid)
                continue;
            calls++;
            bytes += block->size;
        }
        assert_int_equal(flow->calls, calls);
        assert_int_equal(flow->bytes, bytes);
        all += calls;
    }
    return all;
}

static void counts_by_every_attribute_as_a_recount_does(void **state)
{
    (void)state;
    uint64_t foreign = 0, temporary = 0, labelled = 0, moves = 0;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct true_trial trial;
        true_begin_trial(&trial, seed, true);
        true_account_trial(&trial, 0);
        compare_space(&trial, TIDE_IN_HEAP);
        compare_space(&trial, TIDE_IN_MMAP);
        const struct tide_model *const model = trial.model;
        assert_int_equal(model->honesty.region_mismatches, trial.history->mismatches);
        assert_int_equal(model->honesty.unmatched_labels,
                         trial.history->unmatched_labels);
        foreign += compare_flows(&trial);
        for (size_t i = 0; i < trial.history->block_count; i++) {
            temporary += trial.history->blocks[i].temporary;
            labelled += trial.history->blocks[i].label > 0;
        }
        moves += trial.history->moves;
        true_end_trial(&trial);
    }
    /* It was there to be met. */
    assert_true(foreign > 1000 && temporary > 100 && labelled > 500 && moves > 500);
}

/* --- Each one's own highest --- */

/* What the blocks like PATTERN, of one stack and, if ONE_KEY, of one context, held at
 * most. */
static uint64_t true_most(const struct true_history *history,
                          const struct true_block *pattern, bool one_key)
{
    uint64_t most = 0;
    for (size_t at = 0; at < history->count; at++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < history->block_count; i++) {
            const struct true_block *const block = &history->blocks[i];
            if (block->space != pattern->space || block->stack != pattern->stack ||
                (one_key && (block->thread != pattern->thread ||
                             block->region != pattern->region)))
                continue;
            sum += true_stands(history, block, at) ? block->size : 0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static void knows_the_highest_of_each_stack_and_key(void **state)
{
    (void)state;
    struct true_trial trial;
    true_begin_trial(&trial, 77, false);
    true_account_trial(&trial, 0);
    const struct tide_model *const model = trial.model;
    for (size_t i = 0; i < model->site_count; i++) {
        const struct true_block pattern = {.space = model->sites[i].space,
                                           .stack = model->sites[i].stack};
        assert_int_equal(model->sites[i].most_bytes,
                         true_most(trial.history, &pattern, false));
    }
    for (size_t i = 0; i < model->key_count; i += 5) { /* all would take long */
        const struct tide_key *const key = &model->keys[i];
        const struct true_block pattern = {
            .space = key->space,
            .stack = key->stack,
            .thread = of_key(model, key, TIDE_OF_THREAD),
            .region = of_key(model, key, TIDE_OF_REGION),
        };
        assert_int_equal(key->most_bytes, true_most(trial.history, &pattern, true));
    }
    true_end_trial(&trial);
}

/* --- Any moment --- */

static void compare_moment(const struct true_trial *trial, size_t moment)
{
    const struct true_history *const history = trial->history;
    for (size_t i = 0; i < trial->model->site_count; i++) {
        const struct tide_site *const site = &trial->model->sites[i];
        uint64_t blocks = 0, bytes = 0;
        for (size_t k = 0; k < history->block_count; k++) {
            const struct true_block *const block = &history->blocks[k];
            if (block->space != site->space || block->stack != site->stack ||
                !true_stands(history, block, moment))
                continue;
            blocks++;
            bytes += block->size;
        }
        assert_int_equal(site->live_blocks, blocks);
        assert_int_equal(site->live_bytes, bytes);
    }
}

static void knows_what_lived_at_any_moment(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (uint64_t i = 0; i < TIDE_TRUE_MOMENTS; i++) {
        struct true_trial trial;
        const size_t moment = 1 + any_below(&random, TIDE_TRUE_EVENTS - 2);
        true_begin_trial(&trial, 1 + i % 10, i % 2);
        true_account_trial(&trial, moment);
        compare_moment(&trial, moment);
        true_end_trial(&trial);
    }
}

/* --- Reports --- */

static uint64_t true_inclusive(const struct true_trial *trial, uint32_t function,
                               size_t peak)
{
    const struct true_history *const history = trial->history;
    uint64_t sum = 0;
    for (size_t i = 0; i < history->block_count; i++) {
        const struct true_block *const block = &history->blocks[i];
        size_t stack = 0;
        while (history->stacks[stack] != block->stack)
            stack++;
        if (block->space == TIDE_IN_HEAP && trial->path[stack] & 1u << function &&
            true_stands(history, block, peak))
            sum += block->size;
    }
    return sum;
}

static void sums_up_frames_at_the_peak_as_a_recount_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct true_trial trial;
        struct tide_rows *rows;
        true_begin_trial(&trial, seed, true);
        true_account_trial(&trial, 0);
        const size_t peak = true_peak(trial.history, TIDE_IN_HEAP);
        assert_int_equal(
            tide_rows_build(trial.model, TIDE_METRIC_PEAK, TIDE_IN_HEAP, &rows),
            TIDE_OK);
        uint64_t seen = 0;
        for (size_t i = 0; i < rows->flat_count; i++) {
            const char *const name = rows->functions[rows->flat[i].function].name;
            const uint32_t function = (uint32_t)(name[1] - '0');
            assert_int_equal(rows->flat[i].inclusive_bytes,
                             true_inclusive(&trial, function, peak));
            seen |= 1u << function;
        }
        for (uint32_t function = 0; function < TIDE_TRUE_FUNCTIONS; function++)
            assert_true(seen & 1u << function ||
                        true_inclusive(&trial, function, peak) == 0);
        tide_rows_free(rows);
        true_end_trial(&trial);
    }
}

/* Every shape of every view says the same in all as the summary. */
static void compare_totals(const struct tide_model *model, enum tide_space space)
{
    const struct tide_summary *const summary = &model->summary[space];
    const uint64_t expected[] = {
        [TIDE_METRIC_PEAK] = summary->peak_bytes,
        [TIDE_METRIC_LEAKS] = summary->live_bytes,
        [TIDE_METRIC_TOTAL] = summary->allocated_bytes,
        [TIDE_METRIC_CHURN] = summary->temporary_bytes,
    };
    for (int metric = 0; metric < 4; metric++) {
        struct tide_rows *rows;
        uint64_t flat = 0, stacks = 0;
        assert_int_equal(tide_rows_build(model, (enum tide_metric)metric, space, &rows),
                         TIDE_OK);
        for (size_t i = 0; i < rows->flat_count; i++)
            flat += rows->flat[i].self_bytes;
        for (size_t i = 0; i < rows->stack_count; i++)
            stacks += rows->stacks[i].bytes;
        assert_int_equal(rows->total_bytes, expected[metric]);
        assert_int_equal(flat, expected[metric]);
        assert_int_equal(stacks, expected[metric]);
        assert_int_equal(rows->tree[0].bytes, expected[metric]);
        tide_rows_free(rows);
    }
}

static void gives_the_same_totals_in_all_reports(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct true_trial trial;
        true_begin_trial(&trial, seed, true);
        true_account_trial(&trial, 0);
        compare_totals(trial.model, TIDE_IN_HEAP);
        compare_totals(trial.model, TIDE_IN_MMAP);
        true_end_trial(&trial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_by_every_attribute_as_a_recount_does),
        cmocka_unit_test(knows_the_highest_of_each_stack_and_key),
        cmocka_unit_test(knows_what_lived_at_any_moment),
        cmocka_unit_test(sums_up_frames_at_the_peak_as_a_recount_does),
        cmocka_unit_test(gives_the_same_totals_in_all_reports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
