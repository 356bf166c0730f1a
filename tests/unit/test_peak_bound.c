/* unit/test_peak_bound.c - the true peak lies within the printed uncertainty.
 *
 * A random history of several lanes has a true order, which is known here and nowhere
 * else.  Each lane writes its own events and, now and then, the time.  A reader puts
 * them together as a replay does: of the lanes whose next event may come (all earlier
 * events on its address have come), the one with the smallest time stamp goes on.  The
 * account sees only that order.
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

enum {
    TIDE_TRUE_LANES = 6,
    TIDE_TRUE_EVENTS = 600,
    TIDE_TRUE_ADDRESSES = 120,
    /* Most are small: those reach their bounds.  A sanitizer makes each cost 30 times
     * as much. */
    TIDE_TRUE_HISTORIES = TIDE_SANITIZED ? 10000 : 200000,
};

enum block_state { TIDE_IS_FREE, TIDE_IS_LIVE, TIDE_IS_MOVING };

/* An event of a lane, with its place among the events on its address. */
struct written {
    struct tide_event event;
    uint32_t turn;
};

struct lane {
    struct written list[TIDE_TRUE_EVENTS * 2];
    size_t count, next;
    size_t span;          /* the SPAN of the stretch that is being written */
    uint64_t key;         /* of the stretch that is being read */
    uint64_t moving;      /* address + 1 of the block its realloc has */
    uint64_t moving_size; /* of that block */
};

struct history {
    uint64_t random, time, live, true_peak;
    uint32_t lanes, stamp_every;
    uint64_t largest, addresses;
    size_t events;
    bool two;                       /* processes: odd lanes and odd addresses are 1's */
    struct tide_process process[2]; /* 1 may end in the midst of it */
    uint64_t left;                  /* what it held then */
    struct lane lane[TIDE_TRUE_LANES];
    enum block_state state[TIDE_TRUE_ADDRESSES];
    uint64_t size[TIDE_TRUE_ADDRESSES];
    uint32_t turns[TIDE_TRUE_ADDRESSES]; /* events written on it; read: come so far */
};

/* --- What truly happens --- */

static void stamp(struct history *history, uint32_t number)
{
    struct lane *lane = &history->lane[number];
    if (lane->count)
        lane->list[lane->span].event.usable = history->time;
    lane->span = lane->count;
    lane->list[lane->count].event = span_event(number, history->time, 0);
    lane->list[lane->count++].event.process = history->two && number % 2;
}

/* LANE does EVENT, now. */
static void happen(struct history *history, struct tide_event event)
{
    struct lane *lane = &history->lane[event.lane];
    if (lane->count == 0 || any_below(&history->random, history->stamp_every) == 0)
        stamp(history, event.lane);
    event.ticks = lane->list[lane->span].event.ticks;
    event.process = history->two && event.lane % 2;
    lane->list[lane->count++] =
        (struct written){event, history->turns[event.address]++};
    if (event.kind == TIDE_EVENT_ALLOC || event.kind == TIDE_EVENT_MOVE_END)
        lane->list[lane->span].event.size += event.size;
    if (history->live > history->true_peak)
        history->true_peak = history->live;
}

static void be_born(struct history *history, struct tide_event event)
{
    history->state[event.address] = TIDE_IS_LIVE;
    history->size[event.address] = event.size;
    history->live += event.size;
    happen(history, event);
}

/* Few are large, so that it matters where one of them is taken to stand. */
static struct tide_event some_birth(struct history *history, uint32_t lane,
                                    uint64_t address)
{
    const uint64_t size = any_below(&history->random, 4)
                              ? any_below(&history->random, 4)
                              : any_below(&history->random, history->largest);
    return alloc_event(lane, address, size, 1);
}

/* The lane's realloc comes back: elsewhere, in the same place, or having failed. */
static void end_move(struct history *history, uint32_t number, uint64_t address)
{
    struct lane *lane = &history->lane[number];
    const uint64_t old = lane->moving - 1;
    lane->moving = 0;
    if (history->state[address] != TIDE_IS_FREE) {
        history->state[old] = TIDE_IS_LIVE;
        happen(history, move_back_event(number, old));
        return;
    }
    history->state[old] = TIDE_IS_FREE;
    history->live -= lane->moving_size;
    be_born(history, move_end_event(old, some_birth(history, number, address)));
}

static void do_something(struct history *history)
{
    const uint32_t number = (uint32_t)any_below(&history->random, history->lanes);
    uint64_t address = any_below(&history->random, history->addresses);
    struct lane *lane = &history->lane[number];
    if (history->two)
        address = address / 2 * 2 + number % 2;
    if (history->two && number % 2 && history->process[1].ended)
        return;
    history->time += any_below(&history->random, 3); /* some happen at the same tick */
    if (lane->moving) {
        end_move(history, number, address);
    } else if (history->state[address] == TIDE_IS_FREE) {
        be_born(history, some_birth(history, number, address));
    } else if (history->state[address] == TIDE_IS_LIVE) {
        const bool moves = any_below(&history->random, 4) == 0;
        history->state[address] = moves ? TIDE_IS_MOVING : TIDE_IS_FREE;
        lane->moving = moves ? address + 1 : 0;
        lane->moving_size = history->size[address];
        history->live -= moves ? 0 : history->size[address];
        happen(history,
               moves ? move_begin_event(number, address) : free_event(number, address));
    }
}

static void end_process(struct history *history)
{
    for (uint64_t address = 1; address < TIDE_TRUE_ADDRESSES; address += 2) {
        if (history->state[address] != TIDE_IS_FREE)
            history->left += history->size[address];
    }
    history->live -= history->left;
    history->process[1].ended = true;
    history->process[1].end_ticks = history->time++;
}

/* All zeros, but for the lists, which are long: their counts are enough. */
static void reset(struct history *history)
{
    for (size_t i = 0; i < TIDE_TRUE_LANES; i++) {
        struct lane *lane = &history->lane[i];
        lane->count = lane->next = lane->span = 0;
        lane->key = lane->moving = lane->moving_size = 0;
    }
    history->live = history->true_peak = history->left = 0;
    memset(history->process, 0, sizeof(history->process));
    memset(history->state, 0, sizeof(history->state));
    memset(history->turns, 0, sizeof(history->turns));
}

/* Small: a dozen events on a few addresses. */
static void make_history(struct history *history, uint64_t seed, uint32_t lanes,
                         bool small)
{
    reset(history);
    history->random = seed;
    history->time = 1;
    history->lanes = lanes;
    history->stamp_every = 1 + (uint32_t)any_below(&history->random, small ? 6 : 30);
    history->largest = 2 + any_below(&history->random, small ? 100 : 5000);
    history->addresses =
        small ? 2 + any_below(&history->random, 6) : TIDE_TRUE_ADDRESSES;
    history->events = small ? 4 + any_below(&history->random, 16) : TIDE_TRUE_EVENTS;
    history->two = any_below(&history->random, 2);
    const size_t end = any_below(&history->random, 2 * history->events);
    for (size_t i = 0; i < history->events; i++) {
        do_something(history);
        if (i == end && history->two)
            end_process(history);
    }
}

/* --- What a reader makes of it --- */

static bool ready(const struct history *history, const struct lane *lane)
{
    if (lane->next == lane->count)
        return false;
    const struct written *next = &lane->list[lane->next];
    return next->event.kind == TIDE_EVENT_SPAN ||
           next->turn == history->turns[next->event.address];
}

/* The lane that goes on; NULL at the end. */
static struct lane *choose(struct history *history)
{
    struct lane *chosen = NULL;
    for (uint32_t i = 0; i < history->lanes; i++) {
        struct lane *lane = &history->lane[i];
        if (!ready(history, lane))
            continue;
        const struct tide_event *next = &lane->list[lane->next].event;
        lane->key = next->ticks;
        if (!chosen || lane->key < chosen->key)
            chosen = lane;
    }
    return chosen;
}

static void read_history(struct history *history, struct tide_account *account)
{
    memset(history->turns, 0, sizeof(history->turns));
    for (struct lane *lane = choose(history); lane; lane = choose(history)) {
        const struct written *next = &lane->list[lane->next++];
        if (next->event.kind != TIDE_EVENT_SPAN)
            history->turns[next->event.address]++;
        assert_int_equal(tide_account_events(account, &next->event, 1), TIDE_OK);
    }
    for (uint32_t i = 0; i < history->lanes; i++)
        assert_int_equal(history->lane[i].next, history->lane[i].count);
}

/* --- The comparison --- */

static uint64_t met_difference; /* histories whose peak was not the true one */
static double closest;          /* difference / uncertainty, the largest seen */

/* The parts of the bound, each for itself: together one hides the other's holes. */
static void check_parts(struct tide_account *account, uint64_t true_peak, uint64_t seed)
{
    const uint64_t most =
        tide_envelope_finish(&account->envelope, tide_account_stretches(account));
    const struct tide_watermark *water = &account->water[TIDE_IN_HEAP];
    uint64_t near = 0, far = 0;
    for (size_t i = 0; i < account->lane_capacity; i++) {
        const struct tide_lane_book *lane = &account->lanes[i];
        const bool alone = lane->known && !lane->next_lane &&
                           account->processes[lane->process].first_lane == i + 1;
        if (alone && tide_stretch_highest(&lane->stretch) > (int64_t)true_peak)
            fail_msg("seed %llu: above a process's own", (unsigned long long)seed);
        if (lane->known)
            near += tide_stretch_near(&lane->stretch, water);
        if (lane->known && i != water->peak_lane)
            far += tide_stretch_far(&lane->stretch, water);
    }
    if (true_peak > most)
        fail_msg("seed %llu: above the upper bound", (unsigned long long)seed);
    if (water->peak_bytes > true_peak + near)
        fail_msg("seed %llu: below the near bound", (unsigned long long)seed);
    if (water->peak_bytes > true_peak + far)
        fail_msg("seed %llu: below the far bound", (unsigned long long)seed);
}

static void check_history(uint64_t seed, uint32_t lanes, bool small)
{
    static struct history room;
    struct history *const history = &room;
    struct tide_account account;
    struct tide_summary summary[TIDE_SPACES];
    make_history(history, seed, lanes, small);
    const uint64_t live = history->live + history->left;
    const struct tide_account_setup setup = {.processes = history->process,
                                             .process_count = 2};
    assert_int_equal(tide_account_init(&account, &setup), TIDE_OK);
    read_history(history, &account);
    assert_int_equal(tide_account_finish(&account, summary), TIDE_OK);

    const struct tide_summary *heap = &summary[TIDE_IN_HEAP];
    assert_int_equal(heap->live_bytes, live);
    assert_int_equal(account.unmatched_frees, 0);
    assert_int_equal(account.replaced_blocks, 0);
    const uint64_t difference = heap->peak_bytes > history->true_peak
                                    ? heap->peak_bytes - history->true_peak
                                    : history->true_peak - heap->peak_bytes;
    if (difference > heap->peak_uncertainty_bytes)
        fail_msg("seed %llu: true peak %llu, found %llu, said +-%llu",
                 (unsigned long long)seed, (unsigned long long)history->true_peak,
                 (unsigned long long)heap->peak_bytes,
                 (unsigned long long)heap->peak_uncertainty_bytes);
    check_parts(&account, history->true_peak, seed);
    if (lanes == 1)
        assert_int_equal(heap->peak_uncertainty_bytes, 0);
    if (difference) {
        met_difference++;
        const double ratio = (double)difference / (double)heap->peak_uncertainty_bytes;
        closest = ratio > closest ? ratio : closest;
    }
    tide_account_release(&account);
}

static void is_certain_of_one_lane(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++)
        check_history(seed, 1, seed % 2);
    assert_int_equal(met_difference, 0);
}

static void bounds_the_peak_of_several_lanes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TIDE_TRUE_HISTORIES; seed++)
        check_history(seed, 2 + (uint32_t)(seed % (TIDE_TRUE_LANES - 1)), seed % 256);
    /* Or else the bound was never put to the test. */
    assert_true(met_difference > TIDE_TRUE_HISTORIES / 20);
    assert_true(closest == 1.0);
}

/* --- Cases worked by hand --- */

static void check_case(const struct tide_event *events, size_t count, uint64_t peak,
                       uint64_t uncertainty)
{
    struct tide_account account;
    struct tide_summary summary[TIDE_SPACES];
    assert_int_equal(tide_account_init(&account, &(struct tide_account_setup){0}),
                     TIDE_OK);
    assert_int_equal(tide_account_events(&account, events, count), TIDE_OK);
    assert_int_equal(tide_account_finish(&account, summary), TIDE_OK);
    assert_int_equal(summary[TIDE_IN_HEAP].peak_bytes, peak);
    assert_int_equal(summary[TIDE_IN_HEAP].peak_uncertainty_bytes, uncertainty);
    tide_account_release(&account);
}

/* Lane 0 allocates 100 and frees it in one stretch, lane 1 allocates 50 in a stretch of
 * the same time.  The true peak is 100 or 150. */
static void knows_what_may_have_come_together(void **state)
{
    (void)state;
    const struct tide_event events[] = {
        span_event(0, 10, 100), alloc_event(0, 0x100, 100, 1), free_event(0, 0x100),
        span_event(1, 11, 50),  alloc_event(1, 0x200, 50, 1),
    };
    check_case(events, 5, 100, 50);
}

/* Lane 1 frees 60 at the beginning of its stretch, before lanes 2 and 3 allocate, but a
 * number that does not come up keeps it until after them.  The true peak is 80. */
static void minds_frees_that_come_late(void **state)
{
    (void)state;
    const struct tide_event events[] = {
        span_event(0, 1, 60),         alloc_event(0, 0x100, 60, 1),
        span_event(0, 5, 0),          span_event(1, 10, 0),
        span_event(2, 11, 30),        alloc_event(2, 0x200, 30, 1),
        span_event(2, 14, 0),         span_event(3, 15, 50),
        alloc_event(3, 0x300, 50, 1), free_event(1, 0x100),
        span_event(1, 30, 0),
    };
    check_case(events, 11, 140, 60);
}

/* Lane 1 may have allocated its 7 long after lane 0 freed its 60. */
static void minds_no_more_than_the_last_rise(void **state)
{
    (void)state;
    const struct tide_event events[] = {
        span_event(0, 1, 60), alloc_event(0, 0x100, 60, 1), span_event(0, 5, 0),
        span_event(1, 10, 7), alloc_event(1, 0x200, 7, 1),  span_event(0, 20, 0),
        free_event(0, 0x100),
    };
    check_case(events, 7, 67, 7);
}

/* A large block is no reason for doubt when nobody else does anything. */
static void is_certain_of_a_large_block_among_quiet_lanes(void **state)
{
    (void)state;
    const struct tide_event events[] = {
        span_event(0, 1, 10),
        alloc_event(0, 0x100, 10, 1),
        span_event(0, 5, 0),
        span_event(1, 10, 1 << 30),
        alloc_event(1, 0x200, 1 << 30, 1),
        free_event(1, 0x200),
    };
    check_case(events, 6, 10 + (1 << 30), 0);
}

/* Lane 1, of another process, may have ended before lane 0 allocated its 100, which it frees
 * again in the same stretch: the true peak is 100 or 107, not 7. */
static void is_certain_of_what_a_process_held_by_itself(void **state)
{
    (void)state;
    struct tide_event events[] = {
        span_event(0, 1, 100),       alloc_event(0, 0x100, 100, 1), span_event(1, 2, 7),
        alloc_event(1, 0x200, 7, 1), free_event(0, 0x100),
    };
    events[2].process = events[3].process = 1;
    check_case(events, 5, 107, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_certain_of_one_lane),
        cmocka_unit_test(bounds_the_peak_of_several_lanes),
        cmocka_unit_test(knows_what_may_have_come_together),
        cmocka_unit_test(minds_frees_that_come_late),
        cmocka_unit_test(minds_no_more_than_the_last_rise),
        cmocka_unit_test(is_certain_of_a_large_block_among_quiet_lanes),
        cmocka_unit_test(is_certain_of_what_a_process_held_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
