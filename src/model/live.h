/* model/live.h - the live blocks of one process, found by address.
 *
 * For: model/, tests/.  Most blocks die young.  So a block comes to stand in a table of the
 * young, at the one place its address has there; if that is taken, one of the two goes to
 * the pages (live_pages.h), which hold any number of blocks.  Each place of the young knows
 * how many blocks of the pages would stand in it: where there is none, a birth or a death
 * is over after one look.
 */
#ifndef TIDE_MODEL_LIVE_H
#define TIDE_MODEL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/live_pages.h"

enum { TIDE_YOUNG_UNIT_BITS = 4 }; /* addresses of blocks are apart by that at least */

/* A place of the young: half a cache line. */
struct tide_young {
    uint64_t address;
    struct tide_packed block; /* it packs, if there is one */
    uint32_t elders;          /* blocks in the pages whose place this would be */
};
_Static_assert(sizeof(struct tide_young) == 32, "two a cache line");

/* The blocks of a process.  All zeros is ready for use. */
struct tide_live {
    struct tide_young *young; /* owned; young_mask + 1 of them, NULL before the first */
    size_t young_mask;
    size_t elder_deaths; /* since the table was of its usual size */
    size_t count;        /* blocks, of the pages too */
    struct tide_pages pages;
};

/* Put BLOCK in.  *OLD becomes the block that stood at its address; old->key is 0 when
 * there was none. */
enum tide_status tide_live_put(struct tide_live_store *store, struct tide_live *live,
                               const struct tide_block *block, struct tide_block *old);

/* Take the block at ADDRESS out; false when there is none. */
bool tide_live_take(struct tide_live_store *store, struct tide_live *live,
                    uint64_t address, struct tide_block *out);

/* --- The same for what nearly all blocks are like --- */

/* Make LIVE ready for what follows; false without memory. */
bool tide_live_ready(struct tide_live *live);

static inline struct tide_young *tide_live_place(const struct tide_live *live,
                                                 uint64_t address)
{
    return &live->young[(address >> TIDE_YOUNG_UNIT_BITS) & live->young_mask];
}

/* --- live.c: when YOUNG, the place of ADDRESS, is taken, or has elders --- */

bool tide_live_add_beside(struct tide_live_store *store, struct tide_live *live,
                          struct tide_young *young, uint64_t address,
                          struct tide_packed block);
struct tide_packed tide_live_pull_elder(struct tide_live_store *store,
                                        struct tide_live *live, uint64_t address);

/* Put the block at ADDRESS in.  False when that is not as simple (there is a block, or no
 * memory): then nothing has changed, and tide_live_put() does it. */
static inline bool tide_live_add(struct tide_live_store *store, struct tide_live *live,
                                 uint64_t address, struct tide_packed block)
{
    struct tide_young *const young = tide_live_place(live, address);
    if (__builtin_expect((young->block.what | young->elders) != 0, 0))
        return tide_live_add_beside(store, live, young, address, block);
    young->address = address;
    young->block = block;
    live->count++;
    return true;
}

/* Take the block at ADDRESS out.  There is none in what is returned when that is not as
 * simple (there was none, or it was too large for a leaf): then tide_live_take() says
 * more. */
static inline struct tide_packed tide_live_pull(struct tide_live_store *store,
                                                struct tide_live *live,
                                                uint64_t address)
{
    struct tide_young *const young = tide_live_place(live, address);
    const struct tide_packed block = young->block;
    if (__builtin_expect(young->address != address || !block.what, 0))
        return tide_live_pull_elder(store, live, address);
    young->block.what = 0;
    live->count--;
    return block;
}

/* --- All blocks --- */

/* The table goes with its store, which is about to be released. */
void tide_live_abandon(struct tide_live *live);

/* All are gone. */
void tide_live_release(struct tide_live_store *store, struct tide_live *live);

/* A walk over all blocks of a table that does not change meanwhile; zeros begin it. */
struct tide_live_walk {
    size_t young;
    struct tide_pages_walk pages;
};

/* --- live.c: when the leaf at hand has no more --- */
bool tide_live_next_place(const struct tide_live_store *store,
                          const struct tide_live *live, struct tide_live_walk *walk,
                          struct tide_block *out);

static inline bool tide_live_next(const struct tide_live_store *store,
                                  const struct tide_live *live,
                                  struct tide_live_walk *walk, struct tide_block *out)
{
    if (__builtin_expect(!walk->pages.left, 0))
        return tide_live_next_place(store, live, walk, out);
    *out = tide_pages_walk_take(store, &walk->pages);
    return true;
}

#endif
