/* model/live_pages.c - the blocks of one process that are not young, by pages.
 *
 * A table of pages (open addressing, linear probing), each with a leaf of its blocks, in
 * no order: tags, then entries.  A tag is the place in the page in units of 8 bytes, so
 * it is nearly always right; the entry holds the rest.
 *
 * A page that holds nothing any more keeps its leaf, for it will often be used again;
 * when the table is full, those pages are dropped before it is made larger.
 *
 * What does not fit into an entry (4 GiB and more, or numbers that only a damaged trace has)
 * stands in a list of its own.
 *
 * Invariant: from the place a page belongs to up to the one it stands in, none is empty.
 */
#include "model/live_pages.h"

#include <stdlib.h>
#include <string.h>

#include "base/zeroed.h"
#include "model/grow.h"
#include "model/tags.h"

enum {
    TIDE_PAGES_FIRST = 64, /* places in a table; a power of two */
    TIDE_PAGES_SMALL = 64 * 1024,
};

#define RARE(condition) __builtin_expect(condition, 0)

/* A leaf at hand. */
struct leaf {
    uint8_t *tags;
    struct tide_packed *entries;
};

static struct leaf leaf_of(const struct tide_live_store *store,
                           const struct tide_live_page *page)
{
    uint8_t *const tags = tide_leaf_at(store, page->leaf);
    void *const entries = tags + tide_leaf_tag_bytes(page->capacity);
    return (struct leaf){.tags = tags, .entries = entries};
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

/* The lowest bits of the address of ENTRY. */
static inline uint32_t low_bits_of(struct tide_packed entry)
{
    return low_bits(entry.what >> 32);
}

/* A wide block has its place in the list in place of a size. */
static struct tide_packed pack_wide(uint32_t at)
{
    const struct tide_block block = {.size = at, .key = TIDE_WIDE_KEY};
    return tide_block_pack(&block);
}

static uint32_t wide_place(struct tide_packed entry)
{
    return (uint32_t)entry.what;
}

/* The block of ENTRY is no longer in the table. */
static void drop(struct tide_live_store *store, struct tide_packed entry)
{
    if (tide_packed_is_wide(entry)) {
        store->wide[wide_place(entry)].key = store->wide_spare;
        store->wide_spare = wide_place(entry) + 1;
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
            if (low_bits_of(leaf.entries[at]) == low_bits(address))
                return at;
        }
    }
    return count;
}

/* Room for one more block on PAGE. */
static bool __attribute__((noinline))
widen_leaf(struct tide_live_store *store, struct tide_live_page *page)
{
    const unsigned class = tide_leaf_class(page->capacity + 1u);
    const struct tide_live_page old = *page;
    const uint32_t leaf = class < TIDE_LEAF_CLASSES ? tide_leaf_new(store, class) : 0;
    if (!leaf)
        return false;
    page->leaf = leaf;
    page->capacity = tide_leaf_capacities[class];
    const struct leaf from = leaf_of(store, &old), to = leaf_of(store, page);
    memcpy(to.tags, from.tags, old.count);
    memcpy(to.entries, from.entries, old.count * sizeof(*to.entries));
    tide_leaf_spare(store, old.leaf, old.capacity);
    return true;
}

/* --- Pages ------------------------------------------------------------------------ */

/* The place of page NUMBER, or the empty one where it would be. */
static inline struct tide_live_page *find_page(const struct tide_pages *pages,
                                               uint64_t hash, uint64_t number)
{
    size_t at = hash & pages->mask;
    while (pages->list[at].number != number && pages->list[at].leaf)
        at = (at + 1) & pages->mask;
    return &pages->list[at];
}

/* How many pages PLACES may hold.  A small table is kept half empty, which makes most
 * searches end where they begin; a large one is kept small. */
static size_t most_pages(size_t places)
{
    return places <= TIDE_PAGES_SMALL ? places / 2 : places / 4 * 3;
}

/* Make room for more pages: drop those that hold nothing, double when that is not enough.
 */
static bool widen_table(struct tide_live_store *store, struct tide_pages *pages)
{
    const size_t old_places = pages->list ? pages->mask + 1 : 0;
    size_t used = 0;
    for (size_t i = 0; i < old_places; i++)
        used += pages->list[i].count > 0;
    size_t places = old_places ? old_places : TIDE_PAGES_FIRST;
    while (used >= most_pages(places) / 2)
        places *= 2;
    struct tide_pages wider = {.mask = places - 1, .used = used, .count = pages->count};
    wider.list = tide_zeroed(places, sizeof(*wider.list));
    if (!wider.list)
        return false;
    for (size_t i = 0; i < old_places; i++) {
        const struct tide_live_page *const page = &pages->list[i];
        if (page->count)
            *find_page(&wider, tide_live_hash(store, page->number << TIDE_PAGE_BITS),
                       page->number) = *page;
        else if (page->leaf)
            tide_leaf_spare(store, page->leaf, page->capacity);
    }
    free(pages->list);
    *pages = wider;
    return true;
}

/* The class that the leaf of page NUMBER begins with.  Where one page after the other is
 * filled, the next will hold about as much as the last. */
static unsigned first_class(const struct tide_pages *pages, uint64_t number)
{
    const struct tide_live_page *const last = &pages->list[pages->last];
    return last->number + 1 == number && last->count > 4
               ? tide_leaf_class(last->count * 3u / 4)
               : 0;
}

/* The page of ADDRESS, of which there is none so far; NULL without memory. */
static struct tide_live_page *__attribute__((noinline))
add_page(struct tide_live_store *store, struct tide_pages *pages, uint64_t address)
{
    const uint64_t number = address >> TIDE_PAGE_BITS;
    const unsigned class = pages->list ? first_class(pages, number) : 0;
    if (!pages->list || pages->used >= most_pages(pages->mask + 1)) {
        if (!widen_table(store, pages))
            return NULL;
    }
    struct tide_live_page *const page =
        find_page(pages, tide_live_hash(store, address), number);
    const uint32_t leaf = tide_leaf_new(store, class);
    if (!leaf)
        return NULL;
    pages->used++;
    *page = (struct tide_live_page){
        .number = number, .leaf = leaf, .capacity = tide_leaf_capacities[class]};
    return page;
}

/* The page of ADDRESS, new or known, often the one of the last time; NULL without
 * memory. */
static inline struct tide_live_page *need_page(struct tide_live_store *store,
                                               struct tide_pages *pages,
                                               uint64_t address)
{
    const uint64_t number = address >> TIDE_PAGE_BITS;
    if (RARE(!pages->list))
        return add_page(store, pages, address);
    struct tide_live_page *page = &pages->list[pages->last];
    if (page->number == number && page->leaf)
        return page;
    page = find_page(pages, tide_live_hash(store, address), number);
    return RARE(!page->leaf) ? add_page(store, pages, address) : page;
}

/* The page of ADDRESS; NULL when there is none, or it is empty. */
static inline struct tide_live_page *known_page(const struct tide_live_store *store,
                                                const struct tide_pages *pages,
                                                uint64_t address)
{
    if (RARE(!pages->count))
        return NULL;
    struct tide_live_page *const page =
        find_page(pages, tide_live_hash(store, address), address >> TIDE_PAGE_BITS);
    return RARE(!page->count) ? NULL : page;
}

/* --- Blocks come and go ------------------------------------------------------------ */

/* Close the gap at AT of LEAF, the leaf of PAGE. */
static inline void remove_entry(struct tide_pages *pages, struct tide_live_page *page,
                                struct leaf leaf, unsigned at)
{
    const unsigned last = page->count - 1u;
    if (page == pages->open.page)
        pages->open.room = 0;
    page->count = (uint16_t)last;
    pages->count--;
    leaf.tags[at] = leaf.tags[last];
    leaf.entries[at] = leaf.entries[last];
}

/* PAGE has got the block at ADDRESS, the last one of LEAF, its leaf. */
static inline void keep_open(struct tide_pages *pages, struct tide_live_page *page,
                             struct leaf leaf, uint64_t address)
{
    struct tide_open_page *const open = &pages->open;
    if (open->number == page->number + 1) {
        open->top = address > open->top ? address : open->top;
    } else if (page->count == 1) {
        open->number = page->number + 1;
        open->top = address;
    } else { /* how high its blocks stand is not known */
        open->number = 0;
    }
    open->page = page;
    open->tag = leaf.tags + page->count;
    open->entry = leaf.entries + page->count;
    open->room = (uint32_t)page->capacity - page->count;
}

/* Add the block at ADDRESS to PAGE, which is its page. */
static inline bool add_entry(struct tide_live_store *store, struct tide_pages *pages,
                             struct tide_live_page *page, uint64_t address,
                             struct tide_packed block)
{
    const unsigned count = page->count;
    if (RARE(count == page->capacity) && !widen_leaf(store, page))
        return false;
    const struct leaf leaf = leaf_of(store, page);
    leaf.entries[count] = tide_packed_at(block, address);
    leaf.tags[count] = tag_of(address);
    page->count = (uint16_t)(count + 1);
    pages->count++;
    pages->last = (size_t)(page - pages->list);
    keep_open(pages, page, leaf, address);
    if (RARE(pages->absent == page->number + 1))
        pages->absent = 0;
    return true;
}

bool tide_pages_add(struct tide_live_store *store, struct tide_pages *pages,
                    uint64_t address, struct tide_packed block)
{
    struct tide_live_page *const page = need_page(store, pages, address);
    return !RARE(!page) && add_entry(store, pages, page, address, block);
}

bool tide_pages_add_new(struct tide_live_store *store, struct tide_pages *pages,
                        uint64_t address, struct tide_packed block)
{
    struct tide_live_page *const page = need_page(store, pages, address);
    if (RARE(!page) ||
        RARE(find_entry(leaf_of(store, page), page->count, address) != page->count))
        return false;
    return add_entry(store, pages, page, address, block);
}

bool tide_pages_add_wide(struct tide_live_store *store, struct tide_pages *pages,
                         const struct tide_block *block)
{
    uint32_t place;
    if (!keep_wide(store, block, &place))
        return false;
    const struct tide_packed entry = pack_wide(place);
    if (tide_pages_add(store, pages, block->address, entry))
        return true;
    drop(store, entry);
    return false;
}

bool tide_pages_hold(const struct tide_live_store *store, struct tide_pages *pages,
                     uint64_t address)
{
    const uint64_t number = address >> TIDE_PAGE_BITS;
    if (pages->absent == number + 1)
        return false;
    const struct tide_live_page *const page = known_page(store, pages, address);
    if (!page) {
        pages->absent = number + 1;
        return false;
    }
    return find_entry(leaf_of(store, page), page->count, address) != page->count;
}

struct tide_packed tide_pages_pull(struct tide_live_store *store,
                                   struct tide_pages *pages, uint64_t address)
{
    struct tide_live_page *const page = known_page(store, pages, address);
    if (RARE(!page))
        return (struct tide_packed){0};
    const struct leaf leaf = leaf_of(store, page);
    const unsigned at = find_entry(leaf, page->count, address);
    if (RARE(at == page->count || tide_packed_is_wide(leaf.entries[at])))
        return (struct tide_packed){0};
    const struct tide_packed block = leaf.entries[at];
    remove_entry(pages, page, leaf, at);
    return block;
}

bool tide_pages_take(struct tide_live_store *store, struct tide_pages *pages,
                     uint64_t address, struct tide_block *out)
{
    struct tide_live_page *const page = known_page(store, pages, address);
    if (!page)
        return false;
    const struct leaf leaf = leaf_of(store, page);
    const unsigned at = find_entry(leaf, page->count, address);
    if (at == page->count)
        return false;
    const struct tide_packed entry = leaf.entries[at];
    *out = tide_packed_block(store, entry, address);
    drop(store, entry);
    remove_entry(pages, page, leaf, at);
    return true;
}

void tide_pages_release(struct tide_live_store *store, struct tide_pages *pages)
{
    const size_t places = pages->list ? pages->mask + 1 : 0;
    for (size_t i = 0; i < places; i++) {
        const struct tide_live_page *const page = &pages->list[i];
        if (!page->leaf)
            continue;
        const struct leaf leaf = leaf_of(store, page);
        for (unsigned at = 0; at < page->count; at++)
            drop(store, leaf.entries[at]);
        tide_leaf_spare(store, page->leaf, page->capacity);
    }
    tide_pages_abandon(pages);
}

void tide_pages_abandon(struct tide_pages *pages)
{
    free(pages->list);
    *pages = (struct tide_pages){0};
}

/* --- Fetching ahead ----------------------------------------------------------------- */

void tide_pages_fetch_leaf(const struct tide_live_store *store,
                           const struct tide_live_page *page)
{
    if (!page->leaf)
        return;
    const struct leaf leaf = leaf_of(store, page);
    __builtin_prefetch(leaf.tags);
    __builtin_prefetch(&leaf.entries[page->count]);
}

void tide_pages_fetch_block(const struct tide_live_store *store,
                            const struct tide_live_page *page, uint64_t address)
{
    if (!page->count)
        return;
    const struct leaf leaf = leaf_of(store, page);
    const uint32_t same = tide_tags_equal(leaf.tags, tag_of(address));
    if (same)
        __builtin_prefetch(&leaf.entries[__builtin_ctz(same)]);
}
