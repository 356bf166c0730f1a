/* model/live.c - the live blocks of one process, found by address.
 *
 * A table of pages (open addressing, linear probing), each with a leaf of its blocks, in
 * no order: tags, then entries.  A tag is the place in the page in units of 8 bytes, so
 * it is nearly always right; the entry holds the rest.
 *
 * A page that holds nothing any more keeps its leaf, for it will often be used again;
 * when the table is full, those pages are dropped before it is made larger.
 *
 * Leaves come in sizes that grow by a half or a third, from chunks of 4 MiB; what one page
 * gives back another one takes.  What does not fit into an entry (4 GiB and more, or
 * numbers that only a damaged trace has) stands in a list of its own.
 *
 * Invariant: from the place a page belongs to up to the one it stands in, none is empty.
 */
#include "model/live.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

#include "model/grow.h"
#include "model/tags.h"

enum {
    TIDE_PAGES_FIRST = 64, /* places in a table; a power of two */
    TIDE_PAGES_SMALL = 64 * 1024,
    TIDE_UNIT = 8, /* bytes: leaves are addressed by it */
    TIDE_CHUNK_BYTES = 1 << 22,
    TIDE_CHUNK_UNITS = TIDE_CHUNK_BYTES / TIDE_UNIT,
    TIDE_CHUNK_REST = TIDE_TAGS_AT_ONCE / TIDE_UNIT, /* may be looked at, no more */
    TIDE_CHUNKS_MAX = 1 << 13,                       /* 32 GiB */
    TIDE_HUGE_PAGE = 1 << 21,
};

#define RARE(condition) __builtin_expect(condition, 0)

/* A leaf at hand. */
struct leaf {
    uint8_t *tags;
    struct tide_packed *entries;
};

static const uint16_t CAPACITIES[TIDE_LEAF_CLASSES] = {
    1,  2,  3,   4,   6,   8,   12,  16,  24,   32,   48,
    64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048};

/* --- The store -------------------------------------------------------------------- */

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

static void *unit_at(const struct tide_live_store *store, uint32_t unit)
{
    return store->chunks[unit / TIDE_CHUNK_UNITS] +
           (size_t)(unit % TIDE_CHUNK_UNITS) * TIDE_UNIT;
}

/* Bytes of the tags in a leaf of CAPACITY: whole words. */
static size_t tag_bytes(size_t capacity)
{
    return (capacity + 7) & ~(size_t)7;
}

static struct leaf leaf_of(const struct tide_live_store *store,
                           const struct tide_live_page *page)
{
    uint8_t *const tags = unit_at(store, page->leaf);
    void *const entries = tags + tag_bytes(page->capacity);
    return (struct leaf){.tags = tags, .entries = entries};
}

static unsigned class_of(unsigned capacity)
{
    unsigned class = 0;
    while (CAPACITIES[class] < capacity)
        class ++;
    return class;
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
    char *const chunk = aligned_alloc(TIDE_HUGE_PAGE, TIDE_CHUNK_BYTES);
    if (!chunk)
        return false;
    if (store->chunk_count) /* not for the few blocks of a small program */
        (void)madvise(chunk, TIDE_CHUNK_BYTES, MADV_HUGEPAGE);
    store->fresh = (uint32_t)store->chunk_count * TIDE_CHUNK_UNITS;
    store->fresh_end = store->fresh + TIDE_CHUNK_UNITS - TIDE_CHUNK_REST;
    store->fresh += store->chunk_count == 0; /* 0 is no leaf */
    chunks[store->chunk_count++] = chunk;
    return true;
}

/* A leaf of CLASS; 0 without memory. */
static uint32_t new_leaf(struct tide_live_store *store, unsigned class)
{
    const uint32_t spare = store->spare[class];
    if (spare) {
        memcpy(&store->spare[class], unit_at(store, spare), sizeof(spare));
        return spare;
    }
    const size_t capacity = CAPACITIES[class];
    const uint32_t units =
        (uint32_t)((tag_bytes(capacity) + capacity * sizeof(struct tide_packed)) /
                   TIDE_UNIT);
    if (store->fresh_end - store->fresh < units && !add_chunk(store))
        return 0;
    const uint32_t leaf = store->fresh;
    store->fresh += units;
    return leaf;
}

static void spare_leaf(struct tide_live_store *store, uint32_t leaf, unsigned capacity)
{
    uint32_t *const spare = &store->spare[class_of(capacity)];
    memcpy(unit_at(store, leaf), spare, sizeof(*spare));
    *spare = leaf;
}

/* --- Entries ---------------------------------------------------------------------- */

/* A place in the list of wide blocks; false without memory. */
static bool __attribute__((noinline))
keep_wide(struct tide_live_store *store, const struct tide_block *block,
          uint32_t *place)
{
    if (store->wide_spare) {
        *place = store->wide_spare - 1;
        store->wide_spare = store->wide[*place].key;
    } else {
        struct tide_block *const wide = tide_grown(
            store->wide, &store->wide_capacity, store->wide_count + 1, sizeof(*wide));
        if (!wide || store->wide_count >= UINT32_MAX)
            return false;
        store->wide = wide;
        *place = (uint32_t)store->wide_count++;
    }
    store->wide[*place] = *block;
    return true;
}

static inline uint32_t low_bits(uint64_t address)
{
    return address & ((1u << TIDE_LOW_BITS) - 1);
}

static inline uint8_t tag_of(uint64_t address)
{
    return (uint8_t)(address >> TIDE_LOW_BITS);
}

/* BLOCK as a leaf keeps it; false without memory. */
static bool pack(struct tide_live_store *store, const struct tide_block *block,
                 struct tide_packed *entry)
{
    *entry = tide_block_pack(block);
    if (tide_block_packs(block))
        return true;
    entry->place = TIDE_WIDE_KEY << TIDE_LOW_BITS | low_bits(block->address);
    return keep_wide(store, block, &entry->size);
}

static bool is_wide(struct tide_packed entry)
{
    return entry.place >> TIDE_LOW_BITS == TIDE_WIDE_KEY;
}

static struct tide_block unpack(const struct tide_live_store *store,
                                struct tide_packed entry, uint64_t address)
{
    return is_wide(entry) ? store->wide[entry.size] : tide_block_unpack(entry, address);
}

/* The block of ENTRY is no longer in the table. */
static void drop(struct tide_live_store *store, struct tide_packed entry)
{
    if (is_wide(entry)) {
        store->wide[entry.size].key = store->wide_spare;
        store->wide_spare = entry.size + 1;
    }
}

/* --- Leaves ----------------------------------------------------------------------- */

/* The place of the block at ADDRESS in LEAF, which has COUNT of them; COUNT: none. */
static inline unsigned find_entry(struct leaf leaf, unsigned count, uint64_t address)
{
    const uint8_t tag = tag_of(address);
    for (unsigned from = 0; from < count; from += TIDE_TAGS_AT_ONCE) {
        uint32_t same = tide_tags_equal(leaf.tags + from, tag);
        if (count - from < TIDE_TAGS_AT_ONCE)
            same &= (1u << (count - from)) - 1;
        for (; same; same &= same - 1) {
            const unsigned at = from + (unsigned)__builtin_ctz(same);
            if (low_bits(leaf.entries[at].place) == low_bits(address))
                return at;
        }
    }
    return count;
}

/* Room for one more block on PAGE. */
static bool __attribute__((noinline))
widen_leaf(struct tide_live_store *store, struct tide_live_page *page)
{
    const unsigned class = class_of(page->capacity + 1u);
    const struct tide_live_page old = *page;
    const uint32_t leaf = class < TIDE_LEAF_CLASSES ? new_leaf(store, class) : 0;
    if (!leaf)
        return false;
    page->leaf = leaf;
    page->capacity = CAPACITIES[class];
    const struct leaf from = leaf_of(store, &old), to = leaf_of(store, page);
    memcpy(to.tags, from.tags, old.count);
    memcpy(to.entries, from.entries, old.count * sizeof(*to.entries));
    spare_leaf(store, old.leaf, old.capacity);
    return true;
}

/* --- Pages ------------------------------------------------------------------------ */

/* The place of page NUMBER, or the empty one where it would be. */
static inline struct tide_live_page *find_page(const struct tide_live *live,
                                               uint64_t hash, uint64_t number)
{
    size_t at = hash & live->mask;
    while (live->pages[at].number != number && live->pages[at].leaf)
        at = (at + 1) & live->mask;
    return &live->pages[at];
}

/* How many pages PLACES may hold.  A small table is kept half empty, which makes most
 * searches end where they begin; a large one is kept small. */
static size_t most_pages(size_t places)
{
    return places <= TIDE_PAGES_SMALL ? places / 2 : places / 4 * 3;
}

/* Make room for more pages: drop those that hold nothing, double when that is not enough.
 */
static enum tide_status widen_table(struct tide_live_store *store,
                                    struct tide_live *live)
{
    const size_t old_places = live->pages ? live->mask + 1 : 0;
    size_t used = 0;
    for (size_t i = 0; i < old_places; i++)
        used += live->pages[i].count > 0;
    size_t places = old_places ? old_places : TIDE_PAGES_FIRST;
    while (used >= most_pages(places) / 2)
        places *= 2;
    struct tide_live wider = {
        .mask = places - 1, .pages_used = used, .count = live->count};
    wider.pages = calloc(places, sizeof(*wider.pages));
    if (!wider.pages)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < old_places; i++) {
        const struct tide_live_page *const page = &live->pages[i];
        if (page->count)
            *find_page(&wider, tide_live_hash(store, page->number << TIDE_PAGE_BITS),
                       page->number) = *page;
        else if (page->leaf)
            spare_leaf(store, page->leaf, page->capacity);
    }
    free(live->pages);
    *live = wider;
    return TIDE_OK;
}

/* The page of ADDRESS, of which there is none so far; NULL without memory. */
static struct tide_live_page *__attribute__((noinline))
add_page(struct tide_live_store *store, struct tide_live *live, uint64_t address)
{
    if (!live->pages || live->pages_used >= most_pages(live->mask + 1)) {
        if (widen_table(store, live) != TIDE_OK)
            return NULL;
    }
    const uint64_t number = address >> TIDE_PAGE_BITS;
    struct tide_live_page *const page =
        find_page(live, tide_live_hash(store, address), number);
    const uint32_t leaf = new_leaf(store, 0);
    if (!leaf)
        return NULL;
    live->pages_used++;
    *page = (struct tide_live_page){
        .number = number, .leaf = leaf, .capacity = CAPACITIES[0]};
    return page;
}

/* The page of ADDRESS, new or known; NULL without memory. */
static inline struct tide_live_page *need_page(struct tide_live_store *store,
                                               struct tide_live *live, uint64_t address)
{
    if (RARE(!live->pages))
        return add_page(store, live, address);
    struct tide_live_page *const page =
        find_page(live, tide_live_hash(store, address), address >> TIDE_PAGE_BITS);
    return RARE(!page->leaf) ? add_page(store, live, address) : page;
}

/* --- Blocks come and go ------------------------------------------------------------ */

/* The page of ADDRESS; NULL when there is none, or it is empty. */
static inline struct tide_live_page *known_page(const struct tide_live_store *store,
                                                const struct tide_live *live,
                                                uint64_t address)
{
    if (RARE(!live->count))
        return NULL;
    struct tide_live_page *const page =
        find_page(live, tide_live_hash(store, address), address >> TIDE_PAGE_BITS);
    return RARE(!page->count) ? NULL : page;
}

/* Close the gap at AT of LEAF, the leaf of PAGE. */
static inline void remove_entry(struct tide_live *live, struct tide_live_page *page,
                                struct leaf leaf, unsigned at)
{
    const unsigned last = page->count - 1u;
    page->count = (uint16_t)last;
    live->count--;
    leaf.tags[at] = leaf.tags[last];
    leaf.entries[at] = leaf.entries[last];
}

bool tide_live_add(struct tide_live_store *store, struct tide_live *live,
                   uint64_t address, struct tide_packed block)
{
    struct tide_live_page *const page = need_page(store, live, address);
    if (RARE(!page))
        return false;
    const unsigned count = page->count;
    if (RARE(count == page->capacity) && !widen_leaf(store, page))
        return false;
    const struct leaf leaf = leaf_of(store, page);
    if (RARE(find_entry(leaf, count, address) != count))
        return false;
    leaf.entries[count] = block;
    leaf.tags[count] = tag_of(address);
    page->count = (uint16_t)(count + 1);
    live->count++;
    return true;
}

struct tide_packed tide_live_pull(struct tide_live_store *store, struct tide_live *live,
                                  uint64_t address)
{
    struct tide_live_page *const page = known_page(store, live, address);
    if (RARE(!page))
        return (struct tide_packed){0};
    const struct leaf leaf = leaf_of(store, page);
    const unsigned at = find_entry(leaf, page->count, address);
    if (RARE(at == page->count || is_wide(leaf.entries[at])))
        return (struct tide_packed){0};
    const struct tide_packed block = leaf.entries[at];
    remove_entry(live, page, leaf, at);
    return block;
}

enum tide_status tide_live_put(struct tide_live_store *store, struct tide_live *live,
                               const struct tide_block *block, struct tide_block *old)
{
    struct tide_packed packed;
    old->key = 0;
    (void)tide_live_take(store, live, block->address, old);
    if (!pack(store, block, &packed))
        return TIDE_ENOMEM;
    return tide_live_add(store, live, block->address, packed) ? TIDE_OK : TIDE_ENOMEM;
}

bool tide_live_take(struct tide_live_store *store, struct tide_live *live,
                    uint64_t address, struct tide_block *out)
{
    struct tide_live_page *const page = known_page(store, live, address);
    if (!page)
        return false;
    const struct leaf leaf = leaf_of(store, page);
    const unsigned at = find_entry(leaf, page->count, address);
    if (at == page->count)
        return false;
    const struct tide_packed entry = leaf.entries[at];
    *out = unpack(store, entry, address);
    drop(store, entry);
    remove_entry(live, page, leaf, at);
    return true;
}

void tide_live_release(struct tide_live_store *store, struct tide_live *live)
{
    const size_t places = live->pages ? live->mask + 1 : 0;
    for (size_t i = 0; i < places; i++) {
        const struct tide_live_page *const page = &live->pages[i];
        if (!page->leaf)
            continue;
        const struct leaf leaf = leaf_of(store, page);
        for (unsigned at = 0; at < page->count; at++)
            drop(store, leaf.entries[at]);
        spare_leaf(store, page->leaf, page->capacity);
    }
    free(live->pages);
    *live = (struct tide_live){0};
}

void tide_live_abandon(struct tide_live *live)
{
    free(live->pages);
    *live = (struct tide_live){0};
}

bool tide_live_next(const struct tide_live_store *store, const struct tide_live *live,
                    struct tide_live_walk *walk, struct tide_block *out)
{
    const size_t places = live->pages ? live->mask + 1 : 0;
    while (walk->page < places && walk->at >= live->pages[walk->page].count) {
        walk->page++;
        walk->at = 0;
    }
    if (walk->page >= places)
        return false;
    const struct tide_live_page *const page = &live->pages[walk->page];
    const struct leaf leaf = leaf_of(store, page);
    const struct tide_packed entry = leaf.entries[walk->at];
    const uint64_t address = page->number << TIDE_PAGE_BITS |
                             (uint64_t)leaf.tags[walk->at] << TIDE_LOW_BITS |
                             low_bits(entry.place);
    *out = unpack(store, entry, address);
    walk->at++;
    return true;
}

void tide_live_fetch_leaf(const struct tide_live_store *store,
                          const struct tide_live_page *page)
{
    if (!page->leaf)
        return;
    const struct leaf leaf = leaf_of(store, page);
    __builtin_prefetch(leaf.tags);
    __builtin_prefetch(&leaf.entries[page->count]);
}

void tide_live_fetch_block(const struct tide_live_store *store,
                           const struct tide_live_page *page, uint64_t address)
{
    if (!page->count)
        return;
    const struct leaf leaf = leaf_of(store, page);
    const uint32_t same = tide_tags_equal(leaf.tags, tag_of(address));
    if (same)
        __builtin_prefetch(&leaf.entries[__builtin_ctz(same)]);
}
