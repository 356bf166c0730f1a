/* model/live.c - the live blocks of one process, found by address.
 *
 * The table of the young grows with the blocks as long as it stays in the cache, where
 * most of its places are empty and have no elders.  Beyond that a place is kept by the
 * block that has it until that is old; others go to the pages at once.  Only where many of
 * those die does it grow once more: where blocks stay, that would be a loss.
 *
 * Invariant: a block is either at its place among the young or in the pages, and counted
 * there as an elder; those that do not pack are always in the pages.
 */
#include "model/live.h"

#include <stdlib.h>

#include "base/zeroed.h"

enum {
    TIDE_YOUNG_FIRST = 256, /* places; a power of two */
    TIDE_YOUNG_MOST = 64 * 1024,
    TIDE_YOUNG_GROWTH = 4,
    TIDE_ELDERS_DIE = 16 * 1024, /* that are many */
    TIDE_YOUNG_APART = 8,        /* places a block, if they are to be had */
    TIDE_YOUTH = 1 << 20, /* births after which a block is no longer young, at least */
};

/* Is BLOCK, at its place among the young, no longer young when OTHER is born?  A block
 * lives, on average, for as many births as there are blocks. */
static bool is_old(const struct tide_live *live, struct tide_packed block,
                   struct tide_packed other)
{
    const uint64_t age = (other.born - block.born) & TIDE_BIRTHS_MAX;
    return age >= TIDE_YOUTH && age / 2 >= live->count;
}

bool tide_live_ready(struct tide_live *live)
{
    if (live->young)
        return true;
    live->young = calloc(TIDE_YOUNG_FIRST, sizeof(*live->young));
    live->young_mask = TIDE_YOUNG_FIRST - 1;
    return live->young != NULL;
}

/* Blocks of different places have different places in a wider table as well. */
static bool __attribute__((noinline))
widen(const struct tide_live_store *store, struct tide_live *live)
{
    const size_t places = live->young_mask + 1;
    struct tide_live wider = *live;
    wider.young_mask = places * TIDE_YOUNG_GROWTH - 1;
    wider.young = tide_zeroed(places * TIDE_YOUNG_GROWTH, sizeof(*wider.young));
    if (!wider.young)
        return false;
    for (size_t i = 0; i < places; i++) {
        struct tide_young *const to = tide_live_place(&wider, live->young[i].address);
        if (live->young[i].block.what) {
            to->address = live->young[i].address;
            to->block = live->young[i].block;
        }
    }
    struct tide_pages_walk walk = {0};
    while (walk.left || tide_pages_walk_on(store, &live->pages, &walk))
        tide_live_place(&wider, tide_pages_walk_take(store, &walk).address)->elders++;
    free(live->young);
    *live = wider;
    return true;
}

/* The block that stands at YOUNG moves to the pages. */
static bool grow_old(struct tide_live_store *store, struct tide_live *live,
                     struct tide_young *young)
{
    if (!tide_pages_add(store, &live->pages, young->address, young->block))
        return false;
    young->block.what = 0;
    young->elders++;
    return true;
}

/* A block at ADDRESS goes to the pages at once. */
static bool add_elder(struct tide_live_store *store, struct tide_live *live,
                      struct tide_young *young, uint64_t address,
                      struct tide_packed block)
{
    if (!tide_pages_append(&live->pages, address, block) &&
        !tide_pages_add_new(store, &live->pages, address, block))
        return false;
    young->elders++;
    live->count++;
    return true;
}

static bool __attribute__((noinline))
add_beside_others(struct tide_live_store *store, struct tide_live *live,
                  struct tide_young *young, uint64_t address, struct tide_packed block)
{
    if (young->block.what && young->address == address)
        return false;
    if (young->block.what && live->young_mask < TIDE_YOUNG_MOST - 1 &&
        live->count > live->young_mask / TIDE_YOUNG_APART && widen(store, live))
        young = tide_live_place(live, address);
    if (young->block.what && !is_old(live, young->block, block))
        return add_elder(store, live, young, address, block);
    if (young->elders && tide_pages_hold(store, &live->pages, address))
        return false;
    if (young->block.what && !grow_old(store, live, young))
        return false;
    young->address = address;
    young->block = block;
    live->count++;
    return true;
}

/* Where the heap grows, most births go to the page of the last one: those take no more than
 * this. */
bool tide_live_add_beside(struct tide_live_store *store, struct tide_live *live,
                          struct tide_young *young, uint64_t address,
                          struct tide_packed block)
{
    if (live->young_mask < TIDE_YOUNG_MOST - 1 || !young->block.what ||
        young->address == address || is_old(live, young->block, block) ||
        !tide_pages_append(&live->pages, address, block))
        return add_beside_others(store, live, young, address, block);
    young->elders++;
    live->count++;
    return true;
}

/* Another elder has died: perhaps others should not have become one. */
static void note_elder_death(const struct tide_live_store *store,
                             struct tide_live *live)
{
    const size_t most = (size_t)TIDE_YOUNG_MOST * TIDE_YOUNG_GROWTH;
    if (live->young_mask != TIDE_YOUNG_MOST - 1 ||
        ++live->elder_deaths < TIDE_ELDERS_DIE)
        return;
    live->elder_deaths = 0;
    if (live->count < most)
        (void)widen(store, live);
}

struct tide_packed tide_live_pull_elder(struct tide_live_store *store,
                                        struct tide_live *live, uint64_t address)
{
    struct tide_young *const young = tide_live_place(live, address);
    struct tide_packed block = {0};
    if (young->elders)
        block = tide_pages_pull(store, &live->pages, address);
    if (!block.what)
        return block;
    young->elders--;
    live->count--;
    note_elder_death(store, live);
    return block;
}

static enum tide_status put_wide(struct tide_live_store *store, struct tide_live *live,
                                 const struct tide_block *block)
{
    if (!tide_pages_add_wide(store, &live->pages, block))
        return TIDE_ENOMEM;
    tide_live_place(live, block->address)->elders++;
    live->count++;
    return TIDE_OK;
}

enum tide_status tide_live_put(struct tide_live_store *store, struct tide_live *live,
                               const struct tide_block *block, struct tide_block *old)
{
    old->key = 0;
    if (!tide_live_ready(live))
        return TIDE_ENOMEM;
    (void)tide_live_take(store, live, block->address, old);
    if (!tide_block_packs(block))
        return put_wide(store, live, block);
    return tide_live_add(store, live, block->address, tide_block_pack(block))
               ? TIDE_OK
               : TIDE_ENOMEM;
}

bool tide_live_take(struct tide_live_store *store, struct tide_live *live,
                    uint64_t address, struct tide_block *out)
{
    if (!live->count)
        return false;
    const struct tide_packed packed = tide_live_pull(store, live, address);
    if (packed.what) {
        *out = tide_block_unpack(packed, address);
        return true;
    }
    if (!tide_pages_take(store, &live->pages, address, out))
        return false;
    tide_live_place(live, address)->elders--;
    live->count--;
    return true;
}

void tide_live_release(struct tide_live_store *store, struct tide_live *live)
{
    tide_pages_release(store, &live->pages);
    free(live->young);
    *live = (struct tide_live){0};
}

void tide_live_abandon(struct tide_live *live)
{
    tide_pages_abandon(&live->pages);
    free(live->young);
    *live = (struct tide_live){0};
}

bool tide_live_next_place(const struct tide_live_store *store,
                          const struct tide_live *live, struct tide_live_walk *walk,
                          struct tide_block *out)
{
    const size_t places = live->young ? live->young_mask + 1 : 0;
    while (walk->young < places) {
        const struct tide_young *const young = &live->young[walk->young++];
        if (!young->block.what)
            continue;
        *out = tide_block_unpack(young->block, young->address);
        return true;
    }
    if (!tide_pages_walk_on(store, &live->pages, &walk->pages))
        return false;
    *out = tide_pages_walk_take(store, &walk->pages);
    return true;
}
