/* unit/test_account_random.c - the books against the plainest way to keep them.
 *
 * Random histories of several lanes and processes, with addresses so few that every
 * clash comes up: births at live addresses, frees of unknown blocks, moves that nest,
 * fail, vanish or never end, threads that change, processes that end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/account.h"
#include "model/account_evidence.h"
#include "naive_account.h"

enum {
    TIDE_HISTORIES = 400,
    TIDE_HISTORY_EVENTS = 1500,
    TIDE_HISTORY_STACKS = 12,
    /* Bytes between addresses of which no table of young blocks has both places. */
    TIDE_ALIKE = 1 << 20,
};

struct history {
    uint64_t random;
    uint32_t lanes, processes, addresses;
    uint32_t alike; /* so many addresses at a time have one place among young blocks */
    uint64_t begun[TIDE_NAIVE_LANES]; /* address of the lane's last MOVE_BEGIN */
    struct tide_process process[TIDE_NAIVE_PROCESSES];
    struct tide_event events[TIDE_HISTORY_EVENTS];
};

static uint64_t some_address(struct history *history)
{
    const uint64_t any = any_below(&history->random, history->addresses);
    return 0x1000 + any / history->alike * 16 + any % history->alike * TIDE_ALIKE;
}

/* Mostly the end of a move that began. */
static uint64_t some_old(struct history *history, uint32_t lane)
{
    return any_below(&history->random, 8) ? history->begun[lane]
                                          : some_address(history);
}

static struct tide_event some_birth(struct history *history, uint32_t lane)
{
    const uint64_t size = any_below(&history->random, 4) == 0
                              ? any_below(&history->random, 100000)
                              : any_below(&history->random, 64);
    const uint32_t stack = (uint32_t)any_below(&history->random, TIDE_HISTORY_STACKS);
    struct tide_event event = alloc_event(lane, some_address(history), size, stack);
    event.usable = size + any_below(&history->random, 40);
    return event;
}

static struct tide_event some_event(struct history *history, uint32_t lane)
{
    const uint64_t what = any_below(&history->random, 100);
    if (what < 35)
        return some_birth(history, lane);
    if (what < 60)
        return free_event(lane, some_address(history));
    if (what < 72) {
        history->begun[lane] = some_address(history);
        return move_begin_event(lane, history->begun[lane]);
    }
    if (what < 84)
        return move_end_event(some_old(history, lane), some_birth(history, lane));
    if (what < 88)
        return move_back_event(lane, some_old(history, lane));
    if (what < 91)
        return move_gone_event(lane, some_old(history, lane));
    if (what < 93)
        return extra_event(lane, TIDE_EXTRA_FAILED, 0);
    if (what < 95)
        return extra_event(lane, TIDE_EXTRA_THREAD_BEGIN, what);
    return span_event(lane, 0, any_below(&history->random, 1000));
}

/* Lane L belongs to process L % processes, as a reader would have it. */
static void make_history(struct history *history, uint64_t seed)
{
    *history = (struct history){.random = seed};
    history->processes = 1 + (uint32_t)any_below(&history->random, 4);
    history->lanes = history->processes + (uint32_t)any_below(&history->random, 6);
    history->addresses = 4 + (uint32_t)any_below(&history->random, 200);
    history->alike = 1 + (uint32_t)any_below(&history->random, 4);
    for (uint32_t i = 0; i < history->processes; i++) {
        struct tide_process *process = &history->process[i];
        process->forked = any_below(&history->random, 2);
        process->ended = any_below(&history->random, 2);
        process->end_ticks = any_below(&history->random, TIDE_HISTORY_EVENTS);
    }
    for (size_t i = 0; i < TIDE_HISTORY_EVENTS; i++) {
        const uint32_t lane = (uint32_t)any_below(&history->random, history->lanes);
        history->events[i] = some_event(history, lane);
        history->events[i].process = lane % history->processes;
        history->events[i].ticks = i;
    }
}

static void enter_naively(const struct history *history, struct naive_account *naive)
{
    bool gone[TIDE_NAIVE_PROCESSES] = {0};
    for (uint32_t p = 0; p < history->processes; p++)
        naive->forked[p] = history->process[p].forked;
    for (size_t i = 0; i < TIDE_HISTORY_EVENTS; i++) {
        for (uint32_t p = 0; p < history->processes; p++) {
            const struct tide_process *process = &history->process[p];
            if (gone[p] || !process->ended || process->end_ticks == 0 ||
                process->end_ticks >= history->events[i].ticks)
                continue;
            gone[p] = true;
            naive_end_process(naive, p);
            for (uint32_t lane = p; lane < history->lanes; lane += history->processes)
                naive->lanes[lane] = (struct naive_lane){0};
        }
        naive_enter(naive, &history->events[i]);
    }
    naive_finish(naive);
}

static void compare_sites(const struct tide_account *account,
                          const struct naive_account *naive)
{
    bool seen[TIDE_NAIVE_STACKS] = {0};
    for (size_t i = 0; i < account->sites.count; i++) {
        const struct tide_site *site = &account->sites.list[i];
        const struct naive_stack *stack = &naive->stacks[site->stack];
        assert_false(seen[site->stack]);
        seen[site->stack] = true;
        assert_int_equal(site->calls, stack->calls);
        assert_int_equal(site->bytes, stack->bytes);
        assert_int_equal(site->freed_calls, stack->freed_calls);
        assert_int_equal(site->freed_bytes, stack->freed_bytes);
        assert_int_equal(site->temporary_calls, stack->temporary_calls);
        assert_int_equal(site->temporary_bytes, stack->temporary_bytes);
        assert_int_equal(site->live_blocks, stack->live_blocks);
        assert_int_equal(site->live_bytes, stack->live_bytes);
        assert_int_equal(site->peak_blocks, stack->peak_blocks);
        assert_int_equal(site->peak_bytes, stack->peak_bytes);
    }
    for (size_t i = 0; i < TIDE_NAIVE_STACKS; i++)
        assert_true(seen[i] || naive->stacks[i].calls == 0);
}

/* What is known of blocks that were never freed: they are all of them. */
static void compare_survivors(const struct tide_account *account)
{
    const struct tide_survivors *const survivors = &account->evidence->survivors;
    uint64_t blocks[TIDE_NAIVE_STACKS] = {0}, bytes[TIDE_NAIVE_STACKS] = {0};
    for (size_t i = 0; i < account->keys.count && i < survivors->capacity; i++) {
        blocks[account->keys.list[i].stack] += survivors->list[i].blocks;
        bytes[account->keys.list[i].stack] += survivors->list[i].bytes;
    }
    for (size_t i = 0; i < account->sites.count; i++) {
        const struct tide_site *site = &account->sites.list[i];
        assert_int_equal(blocks[site->stack], site->live_blocks);
        assert_int_equal(bytes[site->stack], site->live_bytes);
    }
}

static void compare_sums(const struct tide_account *account,
                         const struct tide_summary *heap,
                         const struct naive_account *naive)
{
    assert_int_equal(heap->alloc_calls, naive->alloc_calls);
    assert_int_equal(heap->free_calls, naive->free_calls);
    assert_int_equal(heap->realloc_calls, naive->realloc_calls);
    assert_int_equal(heap->failed_calls, naive->failed_calls);
    assert_int_equal(heap->peak_bytes, naive->peak_bytes);
    assert_int_equal(heap->peak_blocks, naive->peak_blocks);
    assert_int_equal(heap->peak_usable_bytes, naive->peak_usable);
    assert_int_equal(heap->peak_with_realloc_bytes, naive->peak_with_realloc);
    assert_int_equal(account->water[TIDE_IN_HEAP].peak_ticks, naive->peak_ticks);
    assert_int_equal(account->unmatched_frees, naive->unmatched);
    assert_int_equal(account->inherited_frees, naive->inherited);
    assert_int_equal(account->replaced_blocks, naive->replaced);
}

/* How often each rule came up, over all histories: a test that never meets a rule does
 * not test it. */
static uint64_t met_replaced, met_inherited, met_temporary, met_realloc_peak;

static void compare_history(uint64_t seed)
{
    struct history *history = malloc(sizeof(*history));
    struct naive_account *naive = calloc(1, sizeof(*naive));
    make_history(history, seed);
    enter_naively(history, naive);

    struct tide_account account;
    struct tide_summary summary[TIDE_SPACES];
    const struct tide_account_setup setup = {.processes = history->process,
                                             .process_count = history->processes,
                                             .evidence = true};
    assert_int_equal(tide_account_init(&account, &setup), TIDE_OK);
    size_t done = 0;
    while (done < TIDE_HISTORY_EVENTS) { /* batches of any size */
        size_t batch = 1 + any_below(&history->random, 200);
        if (batch > TIDE_HISTORY_EVENTS - done)
            batch = TIDE_HISTORY_EVENTS - done;
        assert_int_equal(tide_account_events(&account, history->events + done, batch),
                         TIDE_OK);
        done += batch;
    }
    assert_int_equal(tide_account_finish(&account, summary), TIDE_OK);
    compare_sums(&account, &summary[TIDE_IN_HEAP], naive);
    compare_sites(&account, naive);
    compare_survivors(&account);

    met_replaced += naive->replaced;
    met_inherited += naive->inherited;
    met_temporary += summary[TIDE_IN_HEAP].temporary_calls;
    met_realloc_peak += naive->peak_with_realloc > naive->peak_bytes;
    tide_account_release(&account);
    free(naive);
    free(history);
}

static void agrees_with_the_plain_way_on_random_histories(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++)
        compare_history(seed);
    assert_true(met_replaced > 1000);
    assert_true(met_inherited > 1000);
    assert_true(met_temporary > 1000);
    assert_true(met_realloc_peak > 20);
}

/* --- Runs of events ------------------------------------------------------------------ */

enum { TIDE_RUN_EVENTS = 30 }; /* of one lane */

static void enter_by(const struct history *history, size_t at_once,
                     struct tide_account *account)
{
    const struct tide_account_setup setup = {.processes = history->process,
                                             .process_count = history->processes};
    assert_int_equal(tide_account_init(account, &setup), TIDE_OK);
    for (size_t i = 0; i < TIDE_HISTORY_EVENTS; i += at_once)
        assert_int_equal(tide_account_events(account, &history->events[i], at_once),
                         TIDE_OK);
}

/* What is known of the peak, and how sure that is. */
static void compare_peaks(const struct tide_account *one,
                          const struct tide_account *other)
{
    const struct tide_watermark *const water = &one->water[TIDE_IN_HEAP];
    assert_memory_equal(water, &other->water[TIDE_IN_HEAP], sizeof(*water));
    assert_int_equal(one->lane_capacity, other->lane_capacity);
    for (size_t i = 0; i < one->lane_capacity; i++) {
        const struct tide_stretch *const a = &one->lanes[i].stretch;
        const struct tide_stretch *const b = &other->lanes[i].stretch;
        assert_int_equal(a->balance, b->balance);
        assert_int_equal(a->lowest, b->lowest);
        assert_int_equal(a->highest, b->highest);
        assert_int_equal(tide_stretch_near(a, water), tide_stretch_near(b, water));
        assert_int_equal(tide_stretch_far(a, water), tide_stretch_far(b, water));
    }
}

static void runs_come_to_the_same_as_single_events(void **state)
{
    (void)state;
    struct history *const history = malloc(sizeof(*history));
    assert_non_null(history);
    for (uint64_t seed = 1; seed <= TIDE_HISTORIES; seed++) {
        struct tide_account single, whole;
        make_history(history, seed);
        for (size_t i = 0; i < TIDE_HISTORY_EVENTS; i++) {
            const uint32_t lane = (uint32_t)(i / TIDE_RUN_EVENTS) % history->lanes;
            history->events[i].lane = lane;
            history->events[i].process = lane % history->processes;
        }
        enter_by(history, 1, &single);
        enter_by(history, TIDE_HISTORY_EVENTS, &whole);
        compare_peaks(&single, &whole);
        tide_account_release(&single);
        tide_account_release(&whole);
    }
    free(history);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_plain_way_on_random_histories),
        cmocka_unit_test(runs_come_to_the_same_as_single_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
