/* model/live_store.c - where the live blocks of all processes are kept: leaves, wide ones.
 */
#include "model/live_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/zeroed.h"
#include "model/grow.h"
#include "model/tags.h"

enum {
    TIDE_CHUNK_REST = TIDE_TAGS_AT_ONCE / TIDE_UNIT, /* may be looked at, no more */
    TIDE_CHUNKS_MAX = 1 << 13,                       /* 32 GiB */
    TIDE_CHUNK_ALIGN = 1 << 21,                      /* that of huge pages */
    TIDE_CHUNK_SMALL = TIDE_CHUNK_ALIGN, /* of the first: in pages of the usual size */
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

void tide_live_store_release(struct tide_live_store *store)
{
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
    char *const chunk = aligned_alloc(TIDE_CHUNK_ALIGN, TIDE_CHUNK_BYTES);
    if (!chunk)
        return false;
    /* Not for the few blocks of a small program. */
    const size_t small = store->chunk_count ? 0 : TIDE_CHUNK_SMALL;
    tide_wants_huge(chunk + small, TIDE_CHUNK_BYTES - small);
    store->fresh = (uint32_t)store->chunk_count * TIDE_CHUNK_UNITS;
    store->fresh_end = store->fresh + TIDE_CHUNK_UNITS - TIDE_CHUNK_REST;
    store->fresh += store->chunk_count == 0; /* 0 is no leaf */
    chunks[store->chunk_count++] = chunk;
    return true;
}

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
