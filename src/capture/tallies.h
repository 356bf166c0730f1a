/* capture/tallies.h - allocations and frees, counted while they happen.
 *
 * For: capture/, tests/.  Everything is an atomic of its own, so that any number of threads,
 * and signal handlers that interrupt them, may count at once and nothing is lost.  Sums
 * are spread over shards by thread; only what the highest live bytes take is shared.
 */
#ifndef TIDE_CAPTURE_TALLIES_H
#define TIDE_CAPTURE_TALLIES_H

#include <stdatomic.h>
#include <stdint.h>

enum { TIDE_SHARDS = 16 }; /* a power of two */

struct tide_stats;

struct tide_tally_shard {
    _Alignas(64) _Atomic uint64_t requested;
    _Atomic uint64_t freed, allocs, frees, failed;
    _Atomic uint64_t squares[2]; /* of what was requested: low word, high word */
    _Atomic uint64_t largest;
    _Atomic uint64_t smallest; /* all bits turned; 0: none yet */
};

/* All zeros is ready for use. */
struct tide_tally {
    struct tide_tally_shard shards[TIDE_SHARDS];
    _Alignas(64) _Atomic int64_t live; /* with what was freed, it tells what was used */
    _Atomic int64_t peak;
};

void tide_tally_alloc(struct tide_tally *tally, uint32_t shard, uint64_t requested,
                      uint64_t used);
void tide_tally_free(struct tide_tally *tally, uint32_t shard, uint64_t used);
void tide_tally_failed(struct tide_tally *tally, uint32_t shard);

/* What was counted so far; `seconds` is left alone. */
void tide_tally_read(const struct tide_tally *tally, struct tide_stats *stats);

/* *HIGHEST becomes VALUE, unless it is more. */
static inline void tide_raise(_Atomic uint64_t *highest, uint64_t value)
{
    uint64_t seen = atomic_load_explicit(highest, memory_order_relaxed);
    while (seen < value && !atomic_compare_exchange_weak_explicit(highest, &seen, value,
                                                                  memory_order_relaxed,
                                                                  memory_order_relaxed))
        ;
}

#endif
