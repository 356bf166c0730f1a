/* model/live_store.c - where the live blocks of all processes are kept: leaves, wide ones.
 *
 * The system clears memory before it gives it: where there are millions of blocks, that is
 * a tenth of the time.  So a thread asks for the next chunk while this one is filled.
 */
#include "model/live_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include "base/zeroed.h"
#include "model/grow.h"
#include "model/tags.h"

#ifndef MADV_POPULATE_WRITE
#    define MADV_POPULATE_WRITE 23 /* Linux 5.14; before, it is refused */
#endif

enum {
    TIDE_CHUNK_REST = TIDE_TAGS_AT_ONCE / TIDE_UNIT, /* may be looked at, no more */
    TIDE_CHUNKS_MAX = 1 << 13,                       /* 32 GiB */
    TIDE_CHUNK_ALIGN = 1 << 21,                      /* that of huge pages */
    TIDE_CHUNK_SMALL = TIDE_CHUNK_ALIGN, /* of the first: in pages of the usual size */
    TIDE_CHUNKS_FEW = 4, /* no more than one in as many is there too soon */
};

const uint16_t tide_leaf_capacities[TIDE_LEAF_CLASSES] = {
    1,  2,  3,   4,   6,   8,   12,  16,  24,   32,   48,
    64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048};

void tide_live_store_init(struct tide_live_store *store)
{
    uint64_t random[2];
    if (getrandom(random, sizeof(random), GRND_NONBLOCK) != (ssize_t)sizeof(random)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        random[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull;
        random[1] = (uint64_t)now.tv_sec ^ (uint64_t)(uintptr_t)&random;
    }
    *store = (struct tide_live_store){
        .seed = random[0],
        /* A factor with few bits set, or zero, would not mix. */
        .factor = (random[1] | 1) ^ 0x9e3779b97f4a7c14ull,
    };
}

/* --- Chunks --- */

static char *new_chunk(size_t small_bytes)
{
    char *const chunk = aligned_alloc(TIDE_CHUNK_ALIGN, TIDE_CHUNK_BYTES);
    if (chunk)
        tide_wants_huge(chunk + small_bytes, TIDE_CHUNK_BYTES - small_bytes);
    return chunk;
}

/* It may be in use by now: what is in it stays as it is. */
static void *populate(void *chunk)
{
    (void)madvise(chunk, TIDE_CHUNK_BYTES, MADV_POPULATE_WRITE);
    return NULL;
}

/* Let the next chunk be made ready, unless the helper has not even come to the last one. */
static void order_chunk(struct tide_live_store *store)
{
    if (store->helping && pthread_tryjoin_np(store->helper, NULL) != 0)
        return;
    store->coming = new_chunk(0);
    store->helping = store->coming &&
                     pthread_create(&store->helper, NULL, populate, store->coming) == 0;
}

/* The chunk that was ordered, ready or not; NULL when none was. */
static char *take_ordered(struct tide_live_store *store)
{
    char *const chunk = store->coming;
    store->coming = NULL;
    return chunk;
}

void tide_live_store_release(struct tide_live_store *store)
{
    if (store->helping)
        pthread_join(store->helper, NULL);
    free(take_ordered(store));
    for (size_t i = 0; i < store->chunk_count; i++)
        free(store->chunks[i]);
    free(store->chunks);
    free(store->wide);
    *store = (struct tide_live_store){0};
}

static bool add_chunk(struct tide_live_store *store)
{
    if (store->chunk_count == TIDE_CHUNKS_MAX)
        return false;
    char **const chunks = tide_grown(store->chunks, &store->chunk_capacity,
                                     store->chunk_count + 1, sizeof(*chunks));
    if (!chunks)
        return false;
    store->chunks = chunks;
    char *chunk = take_ordered(store);
    if (!chunk) /* no huge pages for the few blocks of a small program */
        chunk = new_chunk(store->chunk_count ? 0 : TIDE_CHUNK_SMALL);
    if (!chunk)
        return false;
    store->fresh = (uint32_t)store->chunk_count * TIDE_CHUNK_UNITS;
    store->fresh_end = store->fresh + TIDE_CHUNK_UNITS - TIDE_CHUNK_REST;
    store->fresh += store->chunk_count == 0; /* 0 is no leaf */
    chunks[store->chunk_count++] = chunk;
    if (store->helped && store->chunk_count >= TIDE_CHUNKS_FEW)
        order_chunk(store);
    return true;
}

/* --- Leaves --- */

uint32_t tide_leaf_new(struct tide_live_store *store, unsigned class)
{
    const uint32_t spare = store->spare[class];
    if (spare) {
        memcpy(&store->spare[class], tide_leaf_at(store, spare), sizeof(spare));
        return spare;
    }
    const size_t capacity = tide_leaf_capacities[class];
    const uint32_t units = (uint32_t)((tide_leaf_tag_bytes(capacity) +
                                       capacity * sizeof(struct tide_packed)) /
                                      TIDE_UNIT);
    if (store->fresh_end - store->fresh < units && !add_chunk(store))
        return 0;
    const uint32_t leaf = store->fresh;
    store->fresh += units;
    return leaf;
}

void tide_leaf_spare(struct tide_live_store *store, uint32_t leaf, unsigned capacity)
{
    uint32_t *const spare = &store->spare[tide_leaf_class(capacity)];
    memcpy(tide_leaf_at(store, leaf), spare, sizeof(*spare));
    *spare = leaf;
}
