/* model/live.h - the live blocks of one process, found by address.
 *
 * For: model/, tests/.  An open-addressing table: the model's working memory is this
 * table, so an entry is 32 bytes, and a large table is up to three quarters full.  The
 * place of an address depends on a random seed, so that a trace cannot be written to
 * make all its blocks collide.
 */
#ifndef TIDE_MODEL_LIVE_H
#define TIDE_MODEL_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

struct tide_block {
    uint64_t address;
    uint64_t size;   /* bytes asked for */
    uint64_t origin; /* see tide_block_origin() */
    uint32_t site;   /* index + 1; 0: the slot is empty */
    uint32_t slack;  /* usable - size, at most UINT32_MAX */
};
_Static_assert(sizeof(struct tide_block) == 32, "two blocks a cache line");

#define TIDE_NO_MAKER 0xffffu

/* Birth and maker in one word.  AGE is in ticks since the start of the run; 256 ticks
 * are less than the time stamps tell, and 48 bits of them last for months.  Lanes are
 * told apart by their low 16 bits: it only decides whether a block was temporary, and
 * only among blocks at one address. */
static inline uint64_t tide_block_origin(uint64_t age, uint32_t lane)
{
    return (age >> 8) << 16 | (lane & 0xffffu);
}

static inline bool tide_block_made_by(const struct tide_block *block, uint32_t lane)
{
    return (block->origin & 0xffffu) == (lane & 0xffffu);
}

struct tide_live {
    struct tide_block *slots; /* owned; mask + 1 of them, NULL before the first block */
    size_t mask;
    size_t count; /* blocks in it */
};

struct tide_live_seed {
    uint64_t first, second;
};

/* A seed nobody can foresee. */
struct tide_live_seed tide_live_seed_new(void);

/* Where an address belongs, in all tables that share SEED. */
static inline uint64_t tide_live_hash(struct tide_live_seed seed, uint64_t address)
{
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(address ^ seed.first) * seed.second;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A table of all zeros is ready for use. */
void tide_live_release(struct tide_live *live);

/* Fetch the slot of HASH into the cache. */
static inline void tide_live_prefetch(const struct tide_live *live, uint64_t hash)
{
    if (live->slots)
        __builtin_prefetch(&live->slots[hash & live->mask]);
}

/* The site of the block in the first slot for HASH: a guess, for fetching. */
static inline uint32_t tide_live_peek(const struct tide_live *live, uint64_t hash)
{
    return live->slots ? live->slots[hash & live->mask].site : 0;
}

/* Put BLOCK in.  *OLD becomes the block that stood at its address; old->site is 0 when
 * there was none. */
enum tide_status tide_live_put(struct tide_live *live, struct tide_live_seed seed,
                               uint64_t hash, const struct tide_block *block,
                               struct tide_block *old);

/* Take the block at ADDRESS out; false when there is none. */
bool tide_live_take(struct tide_live *live, struct tide_live_seed seed, uint64_t hash,
                    uint64_t address, struct tide_block *out);

#endif
