/* model/live.c - the live blocks of one process, found by address.
 *
 * Linear probing, with the gap closed at each removal: there are no tombstones, so the
 * table never needs cleaning and a lookup ends at the first empty slot.
 *
 * Invariant: from the slot a block belongs to up to the one it stands in, no slot is
 * empty.
 */
#include "model/live.h"

#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

enum {
    TIDE_LIVE_FIRST = 64,         /* slots; a power of two */
    TIDE_LIVE_SMALL = 128 * 1024, /* slots: 4 MiB */
};

struct tide_live_seed tide_live_seed_new(void)
{
    struct tide_live_seed seed;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        seed.first = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull;
        seed.second = (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&seed;
    }
    /* A factor with few bits set, or zero, would not mix. */
    seed.second = (seed.second | 1) ^ 0x9e3779b97f4a7c14ull;
    return seed;
}

void tide_live_release(struct tide_live *live)
{
    free(live->slots);
    *live = (struct tide_live){0};
}

/* The slot that holds ADDRESS, or the empty one where it would be. */
static struct tide_block *find(const struct tide_live *live, uint64_t hash,
                               uint64_t address)
{
    size_t at = hash & live->mask;
    while (live->slots[at].site && live->slots[at].address != address)
        at = (at + 1) & live->mask;
    return &live->slots[at];
}

static enum tide_status widen(struct tide_live *live, struct tide_live_seed seed)
{
    const size_t old_slots = live->slots ? live->mask + 1 : 0;
    const size_t slots = old_slots ? old_slots * 2 : TIDE_LIVE_FIRST;
    struct tide_live wider = {.mask = slots - 1, .count = live->count};
    wider.slots = calloc(slots, sizeof(*wider.slots));
    if (!wider.slots)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < old_slots; i++) {
        const struct tide_block *const block = &live->slots[i];
        if (block->site)
            *find(&wider, tide_live_hash(seed, block->address), block->address) =
                *block;
    }
    free(live->slots);
    *live = wider;
    return TIDE_OK;
}

/* How many blocks SLOTS may hold.  A small table is kept half empty, which makes most
 * searches end at the first slot; a large one is kept small. */
static size_t most_blocks(size_t slots)
{
    return slots <= TIDE_LIVE_SMALL ? slots / 2 : slots / 4 * 3;
}

enum tide_status tide_live_put(struct tide_live *live, struct tide_live_seed seed,
                               uint64_t hash, const struct tide_block *block,
                               struct tide_block *old)
{
    if (!live->slots || live->count >= most_blocks(live->mask + 1)) {
        const enum tide_status status = widen(live, seed);
        if (status)
            return status;
    }
    struct tide_block *const slot = find(live, hash, block->address);
    *old = *slot;
    *slot = *block;
    if (!old->site)
        live->count++;
    return TIDE_OK;
}

/* Close the gap at slot GAP: move back what would be cut off from its place. */
static void close_gap(struct tide_live *live, struct tide_live_seed seed, size_t gap)
{
    const size_t mask = live->mask;
    size_t at = (gap + 1) & mask;
    while (live->slots[at].site) {
        const size_t home = tide_live_hash(seed, live->slots[at].address) & mask;
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            live->slots[gap] = live->slots[at];
            gap = at;
        }
        at = (at + 1) & mask;
    }
    live->slots[gap].site = 0;
}

bool tide_live_take(struct tide_live *live, struct tide_live_seed seed, uint64_t hash,
                    uint64_t address, struct tide_block *out)
{
    if (!live->count)
        return false;
    struct tide_block *const slot = find(live, hash, address);
    if (!slot->site)
        return false;
    *out = *slot;
    live->count--;
    close_gap(live, seed, (size_t)(slot - live->slots));
    return true;
}
