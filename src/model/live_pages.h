/* model/live_pages.h - the blocks of one process that are not young, by pages.
 *
 * For: live.h, tests/.  This is most of the model's working memory where there are many
 * blocks, so it is made to be small: about 20 bytes a block where blocks stand close
 * together, as most do.  Blocks of one page of 2 KiB share a leaf, which needs no more of an
 * address than its place in the page; pages are found by a hash with a random seed, so that
 * a trace cannot be written to make them all collide.  No leaf ever moves because others
 * grow.
 */
#ifndef TIDE_MODEL_LIVE_PAGES_H
#define TIDE_MODEL_LIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/live_store.h"

enum {
    TIDE_PAGE_BITS = 11,
};

/* In place of a key: the block is one that no leaf can describe. */
#define TIDE_WIDE_KEY ((1u << (32 - TIDE_LOW_BITS)) - 1)

/* A page in which blocks were seen. */
struct tide_live_page {
    uint64_t number; /* address >> TIDE_PAGE_BITS */
    uint32_t leaf;   /* in the store; 0: this place of the table is empty */
    uint16_t count;  /* blocks in the leaf */
    uint16_t capacity;
};

/* The page that got a block last, as long as it is known to have none at a higher address:
 * where blocks are born side by side, the next one goes there without a search. */
struct tide_open_page {
    uint64_t number; /* + 1 */
    uint64_t top;    /* none of its blocks stands higher */
    struct tide_live_page *page;
    /* Room for the next block, and for how many; none when its leaf has changed. */
    uint8_t *tag;
    struct tide_packed *entry;
    uint32_t room;
};

/* All zeros is ready for use. */
struct tide_pages {
    struct tide_live_page *list; /* owned; mask + 1 of them, NULL before the first */
    size_t mask;
    size_t used;     /* also those that hold nothing any more */
    size_t count;    /* blocks */
    size_t last;     /* the place of the page that got a block last */
    uint64_t absent; /* number + 1 of a page that holds nothing; 0: of none is known */
    struct tide_open_page open;
};

/* Where the page of ADDRESS belongs, in all tables of STORE. */
static inline uint64_t tide_live_hash(const struct tide_live_store *store,
                                      uint64_t address)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product =
        (wide)((address >> TIDE_PAGE_BITS) ^ store->seed) * store->factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* --- A block, packed --- */

static inline bool tide_block_packs(const struct tide_block *block)
{
    return block->size <= UINT32_MAX && block->slack <= UINT16_MAX &&
           block->key < TIDE_WIDE_KEY;
}

/* BLOCK, which packs, wherever it stands. */
static inline struct tide_packed tide_block_pack(const struct tide_block *block)
{
    const uint64_t key = block->key;
    return (struct tide_packed){.what = block->size | key << (32 + TIDE_LOW_BITS),
                                .born = block->born | (uint64_t)block->slack << 48};
}

/* The same as an entry of a leaf: it stands at ADDRESS. */
static inline struct tide_packed tide_packed_at(struct tide_packed packed,
                                                uint64_t address)
{
    packed.what |= (address & ((1u << TIDE_LOW_BITS) - 1)) << 32;
    return packed;
}

static inline struct tide_block tide_block_unpack(struct tide_packed packed,
                                                  uint64_t address)
{
    return (struct tide_block){.address = address,
                               .size = (uint32_t)packed.what,
                               .born = packed.born & TIDE_BIRTHS_MAX,
                               .key = (uint32_t)(packed.what >> (32 + TIDE_LOW_BITS)),
                               .slack = (uint32_t)(packed.born >> 48)};
}

/* A block that does not pack stands in the store's list, at the place that is the size of
 * its entry. */
static inline bool tide_packed_is_wide(struct tide_packed packed)
{
    return packed.what >> (32 + TIDE_LOW_BITS) == TIDE_WIDE_KEY;
}

/* Whatever PACKED is, the block at ADDRESS. */
static inline struct tide_block tide_packed_block(const struct tide_live_store *store,
                                                  struct tide_packed packed,
                                                  uint64_t address)
{
    return tide_packed_is_wide(packed) ? store->wide[(uint32_t)packed.what]
                                       : tide_block_unpack(packed, address);
}

/* --- Blocks come and go --- */

/* Add the block at ADDRESS, where none is.  False without memory. */
bool tide_pages_add(struct tide_live_store *store, struct tide_pages *pages,
                    uint64_t address, struct tide_packed block);
/* The same; false also when there is one. */
bool tide_pages_add_new(struct tide_live_store *store, struct tide_pages *pages,
                        uint64_t address, struct tide_packed block);
/* The same as tide_pages_add() for BLOCK, which does not pack. */
bool tide_pages_add_wide(struct tide_live_store *store, struct tide_pages *pages,
                         const struct tide_block *block);

/* The same where it takes no search; else false, and nothing has changed. */
static inline bool tide_pages_append(struct tide_pages *pages, uint64_t address,
                                     struct tide_packed block)
{
    struct tide_open_page *const open = &pages->open;
    if (!open->room || open->number != (address >> TIDE_PAGE_BITS) + 1 ||
        open->top >= address)
        return false;
    *open->entry++ = tide_packed_at(block, address);
    *open->tag++ = (uint8_t)(address >> TIDE_LOW_BITS);
    open->top = address;
    open->room--;
    open->page->count++;
    pages->count++;
    return true;
}

/* Is there a block at ADDRESS? */
bool tide_pages_hold(const struct tide_live_store *store, struct tide_pages *pages,
                     uint64_t address);

/* Take the block at ADDRESS out.  There is none in what is returned when there was none, or
 * one that does not pack: then tide_pages_take() says more. */
struct tide_packed tide_pages_pull(struct tide_live_store *store,
                                   struct tide_pages *pages, uint64_t address);
/* Take the block at ADDRESS out, whatever it is; false when there is none. */
bool tide_pages_take(struct tide_live_store *store, struct tide_pages *pages,
                     uint64_t address, struct tide_block *out);

/* --- All blocks: the walk is in live_walk.c --- */

/* The table goes with its store, which is about to be released. */
void tide_pages_abandon(struct tide_pages *pages);
/* All are gone. */
void tide_pages_release(struct tide_live_store *store, struct tide_pages *pages);

/* A walk over all blocks, leaf by leaf; zeros begin it. */
struct tide_pages_walk {
    size_t page; /* place in the table, or in order, of the one after that at hand */
    uint32_t *order; /* owned: places of the pages in the table; NULL: as they stand */
    size_t ordered;  /* of them */
    /* What is left of the leaf at hand. */
    const uint8_t *tag;
    const struct tide_packed *entry;
    uint64_t base; /* address of its page */
    unsigned left;
};

/* Let WALK, which has not begun, come by blocks as they lie in memory, which is about how
 * they were born: where there are many, that takes half the time.  Without memory, or
 * where there are few, they come as they would. */
void tide_pages_walk_by_leaf(const struct tide_live_store *store,
                             const struct tide_pages *pages,
                             struct tide_pages_walk *walk);
/* After that. */
void tide_pages_walk_end(struct tide_pages_walk *walk);

/* Go to the next leaf that has any; false when there is none. */
bool tide_pages_walk_on(const struct tide_live_store *store,
                        const struct tide_pages *pages, struct tide_pages_walk *walk);

/* The next block of the leaf at hand, which has one. */
static inline struct tide_block tide_pages_walk_take(
    const struct tide_live_store *store, struct tide_pages_walk *walk)
{
    const struct tide_packed entry = *walk->entry++;
    const uint64_t low = (entry.what >> 32) & ((1u << TIDE_LOW_BITS) - 1);
    const uint64_t address = walk->base | (uint64_t)*walk->tag++ << TIDE_LOW_BITS | low;
    walk->left--;
    return tide_packed_block(store, entry, address);
}

/* --- Fetching ahead: first the page, a while later its leaf, then the entry --- */

static inline const struct tide_live_page *tide_pages_likely(
    const struct tide_live_store *store, const struct tide_pages *pages,
    uint64_t address)
{
    return &pages->list[tide_live_hash(store, address) & pages->mask];
}

/* Fetch what it takes to find a block in the leaf of PAGE, the likely one. */
void tide_pages_fetch_leaf(const struct tide_live_store *store,
                           const struct tide_live_page *page);
/* Fetch what PAGE likely says of the block at ADDRESS. */
void tide_pages_fetch_block(const struct tide_live_store *store,
                            const struct tide_live_page *page, uint64_t address);

#endif
