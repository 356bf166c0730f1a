/* unit/test_detail.c - selections and histograms against a recount of random histories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/detail.h"
#include "true_trial.h"

enum { TIDE_HISTORIES = 10 };

/* How long BLOCK lived, in ticks. */
static uint64_t life_of(const struct true_block *block)
{
    return block->death < TIDE_TRUE_NEVER ? block->death - block->birth : UINT64_MAX;
}

/* Lives are those of heap blocks. */
static bool is_selected(const struct true_block *block,
                        const struct tide_selection *select)
{
    return tide_selects_birth(select, block->birth, block->size) &&
           (block->space != TIDE_IN_HEAP || tide_selects_life(select, life_of(block)));
}

/* The event after which SPACE stands highest, from the one before FROM on: what stands
 * when a window opens is in it. */
static size_t peak_since(const struct true_history *history, uint32_t space,
                         size_t from)
{
    uint64_t highest = 0;
    size_t peak = from ? from - 1 : 0;
    for (size_t at = peak; at < history->count; at++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < history->block_count; i++) {
            const struct true_block *const block = &history->blocks[i];
            if (block->space == space && true_stands(history, block, at))
                sum += block->size;
        }
        if (sum > highest)
            peak = at;
        highest = sum > highest ? sum : highest;
    }
    return peak;
}

static void compare(const struct true_trial *trial, enum tide_metric metric,
                    enum tide_space space, const struct tide_selection *select)
{
    const struct true_history *const history = trial->history;
    const size_t peak = peak_since(history, space, select->window_from);
    uint64_t bytes = 0, calls = 0, whole = 0;
    for (size_t i = 0; i < history->block_count; i++) {
        const struct true_block *const block = &history->blocks[i];
        if (block->space != (uint32_t)space ||
            !true_counts(history, block, metric, peak))
            continue;
        whole += block->size;
        if (!is_selected(block, select))
            continue;
        bytes += block->size;
        calls++;
    }
    struct tide_rows *rows;
    assert_int_equal(tide_rows_build(trial->model, metric, space, &rows), TIDE_OK);
    assert_int_equal(rows->total_bytes, bytes);
    assert_int_equal(rows->total_calls, calls);
    assert_int_equal(rows->whole_bytes, whole);
    tide_rows_free(rows);
}

/* Who freed whose blocks, of those that count. */
static void compare_flows(const struct true_trial *trial,
                          const struct tide_selection *select)
{
    const struct true_history *const history = trial->history;
    for (size_t i = 0; i < trial->model->flow_count; i++) {
        const struct tide_flow *const flow = &trial->model->flows[i];
        uint64_t calls = 0;
        for (size_t k = 0; k < history->block_count; k++) {
            const struct true_block *const block = &history->blocks[k];
            calls += block->thread == trial->model->key_threads[flow->from].tid &&
                     block->freed_by == trial->model->key_threads[flow->to].tid &&
                     is_selected(block, select);
        }
        assert_int_equal(flow->calls, calls);
    }
}

static void compare_selection(struct tide_selection select, uint64_t seed)
{
    struct true_trial trial;
    true_begin_trial(&trial, seed, true);
    true_account_with(&trial, &(struct tide_account_setup){.select = &select});
    for (int metric = 0; metric < 4; metric++) {
        compare(&trial, (enum tide_metric)metric, TIDE_IN_HEAP, &select);
        compare(&trial, (enum tide_metric)metric, TIDE_IN_MMAP, &select);
    }
    compare_flows(&trial, &select);
    true_end_trial(&trial);
}

static void selects_blocks_as_a_recount_does(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct tide_selection select = TIDE_SELECT_ALL;
        select.size_least = 50;
        select.size_most = 1000;
        compare_selection(select, seed);
        select = TIDE_SELECT_ALL;
        for (uint64_t from = 100; from < TIDE_TRUE_EVENTS; from += 300) {
            select.window_from = select.born_from = from;
            compare_selection(select, seed);
        }
        select.window_from = select.born_from = 900;
        select.born_until = 1500;
        compare_selection(select, seed);
        select = TIDE_SELECT_ALL;
        select.life_least = 100;
        compare_selection(select, seed);
        select.life_most = 600;
        compare_selection(select, seed);
        select.born_from = 300;
        select.size_most = 150;
        compare_selection(select, seed);
    }
}

/* --- Histograms --- */

static void add(struct tide_histogram *histogram, uint64_t value, uint64_t bytes)
{
    size_t place = 0;
    while (value >> place)
        place++;
    histogram->calls[place]++;
    histogram->bytes[place] += bytes;
}

/* What was allocated while block INDEX lived, with the block itself. */
static uint64_t meanwhile(const struct true_history *history, size_t index)
{
    uint64_t sum = 0;
    for (size_t i = index; i < history->block_count; i++) {
        const struct true_block *const block = &history->blocks[i];
        if (block->space == TIDE_IN_HEAP && block->birth < history->blocks[index].death)
            sum += block->size;
    }
    return sum;
}

/* How many blocks were made while block INDEX lived, without itself. */
static uint64_t made_meanwhile(const struct true_history *history, size_t index)
{
    uint64_t count = 0;
    for (size_t i = index + 1; i < history->block_count; i++) {
        const struct true_block *const block = &history->blocks[i];
        count +=
            block->space == TIDE_IN_HEAP && block->birth < history->blocks[index].death;
    }
    return count;
}

static void add_block(struct tide_histograms *truth, const struct true_history *history,
                      size_t index)
{
    const struct true_block *const block = &history->blocks[index];
    const uint64_t usable = TIDE_USABLE_GLIBC(block->size);
    add(&truth->requested, block->size, block->size);
    add(&truth->usable, usable, usable);
    if (block->death == TIDE_TRUE_NEVER) {
        truth->live_calls++;
        truth->live_bytes += block->size;
        return;
    }
    add(&truth->freed, block->size, block->size);
    add(&truth->life_ns, life_of(block) * 1000, block->size);
    add(&truth->life_allocs, made_meanwhile(history, index), block->size);
    add(&truth->life_bytes, meanwhile(history, index), block->size);
}

static void compare_histograms(uint64_t seed, const struct tide_selection *select)
{
    struct true_trial trial;
    struct tide_histograms truth = {0};
    true_begin_trial(&trial, seed, false);
    true_account_with(&trial, &(struct tide_account_setup){.details = true,
                                                           .select = select,
                                                           .ns_per_tick = 1000});
    for (size_t i = 0; i < trial.history->block_count; i++) {
        const struct true_block *const block = &trial.history->blocks[i];
        if (block->space == TIDE_IN_HEAP && (!select || is_selected(block, select)))
            add_block(&truth, trial.history, i);
    }
    assert_memory_equal(trial.model->histograms, &truth, sizeof(truth));
    true_end_trial(&trial);
}

static void tells_sizes_and_lives_as_a_recount_does(void **state)
{
    (void)state;
    struct tide_selection select = TIDE_SELECT_ALL;
    select.life_least = 20;
    select.size_least = 30;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        compare_histograms(seed, NULL);
        compare_histograms(seed, &select);
    }
}

/* Birth NUMBER came at START and 10 ticks for each, of 3 bytes. */
static void assert_born(const struct tide_detail *detail, uint64_t number,
                        uint64_t births, uint64_t start)
{
    const struct tide_moment_of_birth born = tide_detail_born(detail, number, births);
    const uint64_t age = births - number;
    assert_in_range(born.ticks, start + 10, start + number * 10);
    assert_true((start + number * 10 - born.ticks) / 10 <= age / 2048);
    assert_true(born.bytes <= (number - 1) * 3);
    assert_true((number - 1) * 3 - born.bytes <= 3 * age / 2048);
}

static void remembers_births_however_long_ago(void **state)
{
    (void)state;
    struct tide_detail *const detail = calloc(1, sizeof(*detail));
    assert_non_null(detail);
    const uint64_t births = 1000000;
    const uint64_t start = 1ull << 50; /* the clock of a machine that has been up */
    for (uint64_t i = 1; i <= births; i++)
        tide_detail_birth(detail, i, start + i * 10, 3);
    for (uint64_t age = 0; age < births; age += age / 7 + 1)
        assert_born(detail, births - age, births, start);
    for (uint64_t number = 1; number < 1000; number++)
        assert_born(detail, number, births, start);
    free(detail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selects_blocks_as_a_recount_does),
        cmocka_unit_test(tells_sizes_and_lives_as_a_recount_does),
        cmocka_unit_test(remembers_births_however_long_ago),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
