/* capture/tallies.c - allocations and frees, counted while they happen.
 */
#include "capture/tallies.h"

#include <tidemark/tidemark.h>

__extension__ typedef unsigned __int128 tide_wide;

static void add(_Atomic uint64_t *sum, uint64_t value)
{
    atomic_fetch_add_explicit(sum, value, memory_order_relaxed);
}

/* The high word, which sizes below 4 GiB seldom reach, is added after the low one: both are
 * right once nobody is adding. */
static void add_square(_Atomic uint64_t sums[2], uint64_t value)
{
    const tide_wide square = (tide_wide)value * value;
    const uint64_t low = (uint64_t)square;
    const uint64_t before =
        atomic_fetch_add_explicit(&sums[0], low, memory_order_relaxed);
    const uint64_t high = (uint64_t)(square >> 64) + (before + low < before);
    if (high)
        add(&sums[1], high);
}

static void rise(struct tide_tally *tally, int64_t by)
{
    const int64_t live =
        atomic_fetch_add_explicit(&tally->live, by, memory_order_relaxed) + by;
    int64_t peak = atomic_load_explicit(&tally->peak, memory_order_relaxed);
    while (peak < live &&
           !atomic_compare_exchange_weak_explicit(
               &tally->peak, &peak, live, memory_order_relaxed, memory_order_relaxed))
        ;
}

void tide_tally_alloc(struct tide_tally *tally, uint32_t shard, uint64_t requested,
                      uint64_t used)
{
    struct tide_tally_shard *const own = &tally->shards[shard % TIDE_SHARDS];
    add(&own->requested, requested);
    add(&own->allocs, 1);
    add_square(own->squares, requested);
    tide_raise(&own->largest, requested);
    tide_raise(&own->smallest, ~requested);
    rise(tally, (int64_t)used);
}

void tide_tally_free(struct tide_tally *tally, uint32_t shard, uint64_t used)
{
    struct tide_tally_shard *const own = &tally->shards[shard % TIDE_SHARDS];
    add(&own->freed, used);
    add(&own->frees, 1);
    atomic_fetch_sub_explicit(&tally->live, (int64_t)used, memory_order_relaxed);
}

void tide_tally_failed(struct tide_tally *tally, uint32_t shard)
{
    add(&tally->shards[shard % TIDE_SHARDS].failed, 1);
}

/* --- Reading ------------------------------------------------------------------------- */

/* The square root, by Newton: the recorder links no libm. */
static double root(double value)
{
    double guess = value > 1 ? value : 1;
    if (!(value > 0))
        return 0;
    for (;;) {
        const double next = (guess + value / guess) / 2;
        if (!(next < guess))
            return guess;
        guess = next;
    }
}

/* n * sum(x^2) - sum(x)^2 in whole numbers, as far as they go: sums of squares as doubles
 * would leave nothing of a small spread among large sizes. */
static double deviation(uint64_t count, uint64_t sum, tide_wide squares)
{
    if (count < 2)
        return 0;
    tide_wide scaled;
    const tide_wide square = (tide_wide)sum * sum;
    double spread;
    if (!__builtin_mul_overflow(squares, count, &scaled))
        spread = scaled > square ? (double)(scaled - square) / (double)count : 0;
    else
        spread = (double)squares - (double)sum / (double)count * (double)sum;
    return root(spread / (double)(count - 1));
}

static uint64_t get(const _Atomic uint64_t *value)
{
    return atomic_load_explicit(value, memory_order_relaxed);
}

void tide_tally_read(const struct tide_tally *tally, struct tide_stats *stats)
{
    tide_wide squares = 0;
    uint64_t smallest = 0;
    const double seconds = stats->seconds;
    *stats = (struct tide_stats){.seconds = seconds};
    for (uint32_t i = 0; i < TIDE_SHARDS; i++) {
        const struct tide_tally_shard *const shard = &tally->shards[i];
        stats->requested_bytes += get(&shard->requested);
        stats->freed_bytes += get(&shard->freed);
        stats->alloc_calls += get(&shard->allocs);
        stats->free_calls += get(&shard->frees);
        stats->failed_calls += get(&shard->failed);
        squares += (tide_wide)get(&shard->squares[1]) << 64;
        squares += get(&shard->squares[0]);
        if (get(&shard->largest) > stats->largest_bytes)
            stats->largest_bytes = get(&shard->largest);
        if (get(&shard->smallest) > smallest)
            smallest = get(&shard->smallest);
    }
    stats->smallest_bytes = stats->alloc_calls ? ~smallest : 0;
    stats->live_bytes = atomic_load_explicit(&tally->live, memory_order_relaxed);
    stats->used_bytes = (uint64_t)stats->live_bytes + stats->freed_bytes;
    stats->peak_bytes = atomic_load_explicit(&tally->peak, memory_order_relaxed);
    if (stats->alloc_calls)
        stats->mean_bytes = (double)stats->requested_bytes / (double)stats->alloc_calls;
    stats->stddev_bytes =
        deviation(stats->alloc_calls, stats->requested_bytes, squares);
}
