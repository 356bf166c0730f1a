/* tests/bench/draining.c - how fast the collector takes what threads record, by itself.
 *
 * Usage: draining [PASSES]
 *
 * Lanes are filled with births and deaths at random, 200 KiB each, by this process, which costs
 * nobody anything; then one pass of the collector empties all of them, codes, compresses and
 * writes.  Only the passes are timed, with the drain thread alone and with hands.
 */
#include "busy_lanes.h"
#include "collect/hands.h"
#include "trace/row.h"

enum {
    MUCH = 200 * 1024, /* bytes of rows a lane and pass */
    SLOTS = 1024,      /* live blocks of a lane */
    PLACES = 200000,   /* where they may be */
};

static uint64_t live[TIDE_CHECK_LANES][SLOTS];
static bool begun[TIDE_CHECK_LANES];
static uint64_t events;

static void put(struct tide_fake_lane *lane, const uint64_t *row, size_t words)
{
    if (!tide_fake_put(lane, row, words * sizeof(*row)))
        exit(1);
}

/* The first birth of a lane tells the stack of all. */
static void put_birth(uint32_t number, uint64_t address)
{
    struct tide_fake_lane *const lane = &busy.lanes[number];
    const unsigned mode = begun[number] ? TIDE_STACK_ENTRY : TIDE_STACK_DELTA;
    const uint64_t size = 16 + tide_bench_any(1000);
    const uint64_t row[] = {
        TIDE_ROW_HEAD(TIDE_OP_ALLOC | mode << TIDE_TAG_MODE_SHIFT, 0, address),
        size | 8ull << TIDE_ROW_SLACK_SHIFT, 1ull << 32, 0x401000};
    put(lane, row, begun[number] ? 2 : 4);
    begun[number] = true;
}

static void fill(uint32_t number)
{
    struct tide_fake_lane *const lane = &busy.lanes[number];
    const uint64_t end = atomic_load(&lane->shared->head) + MUCH;
    while (atomic_load(&lane->shared->head) < end) {
        uint64_t *const slot = &live[number][tide_bench_any(SLOTS)];
        if (*slot) {
            const uint64_t death = TIDE_ROW_HEAD(TIDE_OP_FREE, 0, *slot);
            put(lane, &death, 1);
            events++;
        }
        *slot =
            0x7f0000000000 + (number + 1) * 0x10000000ull + tide_bench_any(PLACES) * 16;
        put_birth(number, *slot);
        events++;
    }
}

static int measure(uint32_t lanes, uint32_t hands, int passes)
{
    void *state = NULL;
    uint64_t ns = 0;
    memset(live, 0, sizeof(live));
    memset(begun, 0, sizeof(begun));
    events = 0;
    if (busy_set_up(&state, lanes))
        return 1;
    if (hands > 0)
        tide_bench.collector->hands = tide_hands_new(hands);
    for (int i = 0; i < passes; i++) {
        for (uint32_t k = 0; k < lanes; k++)
            fill(k);
        const uint64_t begin = tide_ticks_monotonic();
        (void)tide_drain_pass(tide_bench.collector);
        ns += tide_ticks_monotonic() - begin;
    }
    printf("%6u %6u %12.1f %14.1f\n", lanes, hands, (double)ns / (double)events,
           (double)events * 1e3 / (double)ns);
    return busy_tear_down(&state);
}

int main(int argc, char **argv)
{
    static const uint32_t LANES[] = {1, 4, 8, 40};
    const int passes = argc > 1 ? atoi(argv[1]) : 100;
    printf(" lanes  hands  ns an event  M events/s\n");
    for (size_t i = 0; i < sizeof(LANES) / sizeof(LANES[0]); i++) {
        for (uint32_t hands = 0; hands <= TIDE_HANDS_MOST; hands++) {
            if (measure(LANES[i], hands, passes))
                return 1;
        }
    }
    return 0;
}
