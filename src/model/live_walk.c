/* model/live_walk.c - all blocks of a process that are not young, one leaf after the other.
 *
 * A walk reads all the memory that the blocks are in, so it waits for memory more than for
 * anything else.  By the places of the leaves it goes straight through it; what the next
 * leaves need is fetched while one is at hand.
 */
#include <stdlib.h>

#include "model/live_pages.h"

enum {
    TIDE_ORDER_LEAST = 64 * 1024, /* blocks: as many stay in the cache by themselves */
    TIDE_STEP_UNITS = 4096 / TIDE_UNIT,
    TIDE_PAGES_AHEAD = 16,
    TIDE_LEAVES_AHEAD = 6,
    TIDE_LINE = 64, /* bytes that come at once */
};

/* The places of all pages that hold something, by where their leaves are, in steps of
 * TIDE_STEP_UNITS: ORDER has room for them.  STEPS, of which there are more than leaves can
 * need, are zeros. */
static void sort_places(const struct tide_pages *pages, uint32_t *steps, size_t count,
                        uint32_t *order)
{
    for (size_t i = 0; i <= pages->mask; i++)
        if (pages->list[i].count)
            steps[pages->list[i].leaf / TIDE_STEP_UNITS + 1]++;
    for (size_t i = 1; i < count; i++)
        steps[i] += steps[i - 1];
    for (size_t i = 0; i <= pages->mask; i++)
        if (pages->list[i].count)
            order[steps[pages->list[i].leaf / TIDE_STEP_UNITS]++] = (uint32_t)i;
}

void tide_pages_walk_by_leaf(const struct tide_live_store *store,
                             const struct tide_pages *pages,
                             struct tide_pages_walk *walk)
{
    const size_t steps = store->chunk_count * (TIDE_CHUNK_UNITS / TIDE_STEP_UNITS) + 1;
    if (pages->count < TIDE_ORDER_LEAST || pages->mask > UINT32_MAX)
        return;
    uint32_t *const ends = calloc(steps, sizeof(*ends));
    uint32_t *const order = reallocarray(NULL, pages->used, sizeof(*order));
    if (!ends || !order) {
        free(order);
        free(ends);
        return;
    }
    sort_places(pages, ends, steps, order);
    walk->order = order;
    walk->ordered = ends[steps - 1];
    free(ends);
}

void tide_pages_walk_end(struct tide_pages_walk *walk)
{
    free(walk->order);
    *walk = (struct tide_pages_walk){0};
}

static const struct tide_packed *entries_of(const struct tide_live_store *store,
                                            const struct tide_live_page *page)
{
    const void *const entries = (const uint8_t *)tide_leaf_at(store, page->leaf) +
                                tide_leaf_tag_bytes(page->capacity);
    return entries;
}

/* Fetch what the pages behind the one at hand are in.  Always inlined: the compiler drops
 * calls of a function that does nothing else. */
static inline __attribute__((always_inline)) void fetch_ahead(
    const struct tide_live_store *store, const struct tide_pages *pages,
    const struct tide_pages_walk *walk)
{
    const size_t far = walk->page + TIDE_PAGES_AHEAD;
    const size_t near = walk->page + TIDE_LEAVES_AHEAD;
    if (far < walk->ordered)
        __builtin_prefetch(&pages->list[walk->order[far]]);
    if (near >= walk->ordered)
        return;
    const struct tide_live_page *const page = &pages->list[walk->order[near]];
    const char *const entries = (const char *)entries_of(store, page);
    const size_t bytes = page->count * sizeof(struct tide_packed);
    for (size_t at = 0; at < bytes; at += TIDE_LINE)
        __builtin_prefetch(entries + at);
}

/* The next page that holds something; NULL when there is none. */
static const struct tide_live_page *next_page(const struct tide_live_store *store,
                                              const struct tide_pages *pages,
                                              struct tide_pages_walk *walk)
{
    if (walk->order) {
        fetch_ahead(store, pages, walk);
        return walk->page < walk->ordered ? &pages->list[walk->order[walk->page++]]
                                          : NULL;
    }
    const size_t places = pages->list ? pages->mask + 1 : 0;
    while (walk->page < places && !pages->list[walk->page].count)
        walk->page++;
    return walk->page < places ? &pages->list[walk->page++] : NULL;
}

bool tide_pages_walk_on(const struct tide_live_store *store,
                        const struct tide_pages *pages, struct tide_pages_walk *walk)
{
    const struct tide_live_page *const page = next_page(store, pages, walk);
    if (!page)
        return false;
    walk->tag = tide_leaf_at(store, page->leaf);
    walk->entry = entries_of(store, page);
    walk->base = page->number << TIDE_PAGE_BITS;
    walk->left = page->count;
    return true;
}
