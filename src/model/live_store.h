/* model/live_store.h - where the live blocks of all processes are kept: leaves, wide ones.
 *
 * For: live_pages.h.  Leaves come in sizes that grow by a half or a third, from chunks of
 * 4 MiB; what one page gives back another one takes.
 */
#ifndef TIDE_MODEL_LIVE_STORE_H
#define TIDE_MODEL_LIVE_STORE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIDE_LOW_BITS = 3, /* of an address: beside its place in the page in units of 8 */
    TIDE_LEAF_CLASSES = 22,
    TIDE_UNIT = 8, /* bytes: leaves are addressed by it */
    TIDE_CHUNK_BYTES = 1 << 22,
    TIDE_CHUNK_UNITS = TIDE_CHUNK_BYTES / TIDE_UNIT,
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
    uint64_t what; /* size; from bit 32 the lowest bits of the address, above them the
                      key; 0: there is no block */
    uint64_t born; /* from bit 48: slack */
};
_Static_assert(sizeof(struct tide_packed) == 16, "four a cache line");

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

    bool helped;  /* where there are many chunks, a thread makes the next one ready */
    char *coming; /* owned: the next chunk; NULL: there is none yet */
    pthread_t helper;
    bool helping; /* it has to be joined */
};

/* With a seed that nobody can foresee, and without help. */
void tide_live_store_init(struct tide_live_store *store);
void tide_live_store_release(struct tide_live_store *store);

/* How many blocks a leaf of each class holds. */
extern const uint16_t tide_leaf_capacities[TIDE_LEAF_CLASSES];

/* The first class of at least CAPACITY. */
static inline unsigned tide_leaf_class(unsigned capacity)
{
    if (capacity <= 2)
        return capacity - 1;
    const unsigned bits = 31u - (unsigned)__builtin_clz(capacity - 1);
    return 2 * bits + (capacity > 3u << (bits - 1));
}

/* Bytes of the tags in a leaf of CAPACITY: whole words. */
static inline size_t tide_leaf_tag_bytes(size_t capacity)
{
    return (capacity + 7) & ~(size_t)7;
}

static inline void *tide_leaf_at(const struct tide_live_store *store, uint32_t leaf)
{
    return store->chunks[leaf / TIDE_CHUNK_UNITS] +
           (size_t)(leaf % TIDE_CHUNK_UNITS) * TIDE_UNIT;
}

/* A leaf of CLASS; 0 without memory. */
uint32_t tide_leaf_new(struct tide_live_store *store, unsigned class);
/* LEAF, which holds CAPACITY, is not needed any more. */
void tide_leaf_spare(struct tide_live_store *store, uint32_t leaf, unsigned capacity);

#endif
