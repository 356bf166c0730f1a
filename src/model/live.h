/* model/live.h - the live blocks of one process, found by address.
 *
 * For: model/, tests/.  This is the model's working memory, so it is made to be small:
 * about 20 bytes a block where blocks stand close together, as most do.  Blocks of one
 * page of 2 KiB share a leaf, which needs no more of an address than its place in the
 * page; pages are found by a hash with a random seed, so that a trace cannot be written
 * to make them all collide.  No leaf ever moves because others grow.
 */
#ifndef TIDE_MODEL_LIVE_H
#define TIDE_MODEL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

enum {
    TIDE_PAGE_BITS = 11,
    TIDE_LOW_BITS = 3, /* of an address: beside its place in the page in units of 8 */
    TIDE_LEAF_CLASSES = 22,
};

struct tide_block {
    uint64_t address;
    uint64_t size;  /* bytes asked for */
    uint64_t born;  /* the number of its birth, 48 bits */
    uint32_t key;   /* index + 1; 0: there is no block */
    uint32_t slack; /* usable - size, at most UINT32_MAX */
};

#define TIDE_BIRTHS_MAX ((1ull << 48) - 1)

/* The same, as a leaf keeps it: it goes through two registers. */
struct tide_packed {
    uint32_t size;
    uint32_t place; /* key, and the lowest bits of the address; 0: there is no block */
    uint32_t born_low;
    uint16_t born_high;
    uint16_t slack;
};
_Static_assert(sizeof(struct tide_packed) == 16, "four a cache line");

/* In place of a key: the block is one that no leaf can describe. */
#define TIDE_WIDE_KEY ((1u << (32 - TIDE_LOW_BITS)) - 1)

/* A page in which blocks were seen. */
struct tide_live_page {
    uint64_t number; /* address >> TIDE_PAGE_BITS */
    uint32_t leaf;   /* in the store; 0: this place of the table is empty */
    uint16_t count;  /* blocks in the leaf */
    uint16_t capacity;
};

/* The blocks of a process.  All zeros is ready for use. */
struct tide_live {
    struct tide_live_page *pages; /* owned; mask + 1 of them, NULL before the first */
    size_t mask;
    size_t pages_used; /* also those that hold nothing any more */
    size_t count;      /* blocks */
};

/* Where the leaves of all processes are. */
struct tide_live_store {
    uint64_t seed, factor;
    char **chunks; /* owned, and what they point to */
    size_t chunk_count, chunk_capacity;
    uint32_t fresh, fresh_end; /* never used yet, in the last chunk */
    uint32_t
        spare[TIDE_LEAF_CLASSES]; /* leaves given back, linked through themselves */
    struct tide_block *wide;      /* owned: blocks that no leaf can describe */
    size_t wide_count, wide_capacity;
    uint32_t wide_spare; /* index + 1, linked through key */
};

/* With a seed that nobody can foresee. */
void tide_live_store_init(struct tide_live_store *store);
void tide_live_store_release(struct tide_live_store *store);

/* Where the page of ADDRESS belongs, in all tables of STORE. */
static inline uint64_t tide_live_hash(const struct tide_live_store *store,
                                      uint64_t address)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product =
        (wide)((address >> TIDE_PAGE_BITS) ^ store->seed) * store->factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Put BLOCK in.  *OLD becomes the block that stood at its address; old->key is 0 when
 * there was none. */
enum tide_status tide_live_put(struct tide_live_store *store, struct tide_live *live,
                               const struct tide_block *block, struct tide_block *old);

/* Take the block at ADDRESS out; false when there is none. */
bool tide_live_take(struct tide_live_store *store, struct tide_live *live,
                    uint64_t address, struct tide_block *out);

/* --- The same for what nearly all blocks are like --- */

static inline bool tide_block_packs(const struct tide_block *block)
{
    return block->size <= UINT32_MAX && block->slack <= UINT16_MAX &&
           block->key < TIDE_WIDE_KEY;
}

/* BLOCK, which packs. */
static inline struct tide_packed tide_block_pack(const struct tide_block *block)
{
    const uint32_t low = block->address & ((1u << TIDE_LOW_BITS) - 1);
    return (struct tide_packed){.size = (uint32_t)block->size,
                                .place = block->key << TIDE_LOW_BITS | low,
                                .born_low = (uint32_t)block->born,
                                .born_high = (uint16_t)(block->born >> 32),
                                .slack = (uint16_t)block->slack};
}

static inline struct tide_block tide_block_unpack(struct tide_packed packed,
                                                  uint64_t address)
{
    return (struct tide_block){.address = address,
                               .size = packed.size,
                               .born =
                                   (uint64_t)packed.born_high << 32 | packed.born_low,
                               .key = packed.place >> TIDE_LOW_BITS,
                               .slack = packed.slack};
}

/* Put the block at ADDRESS in.  False when that is not as simple (there is a block, or no
 * memory): then nothing has changed, and tide_live_put() does it. */
bool tide_live_add(struct tide_live_store *store, struct tide_live *live,
                   uint64_t address, struct tide_packed block);

/* Take the block at ADDRESS out.  Its place is 0 when that is not as simple (there is
 * none, or it was too large for a leaf): then tide_live_take() says more. */
struct tide_packed tide_live_pull(struct tide_live_store *store, struct tide_live *live,
                                  uint64_t address);

/* --- All blocks --- */

/* The table goes with its store, which is about to be released. */
void tide_live_abandon(struct tide_live *live);

/* All are gone. */
void tide_live_release(struct tide_live_store *store, struct tide_live *live);

/* A walk over all blocks of a table that does not change meanwhile; zeros begin it. */
struct tide_live_walk {
    size_t page, at;
};
bool tide_live_next(const struct tide_live_store *store, const struct tide_live *live,
                    struct tide_live_walk *walk, struct tide_block *out);

/* --- Fetching ahead: first the page, a while later its leaf, then the entry --- */

static inline const struct tide_live_page *tide_live_likely_page(
    const struct tide_live_store *store, const struct tide_live *live, uint64_t address)
{
    return &live->pages[tide_live_hash(store, address) & live->mask];
}

/* Fetch what it takes to find or to add a block in the leaf of PAGE, the likely one. */
void tide_live_fetch_leaf(const struct tide_live_store *store,
                          const struct tide_live_page *page);
/* Fetch what PAGE likely says of the block at ADDRESS. */
void tide_live_fetch_block(const struct tide_live_store *store,
                           const struct tide_live_page *page, uint64_t address);

#endif
