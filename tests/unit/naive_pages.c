/* unit/naive_pages.c - the rules of model/mapped.h, one page at a time. */
#include "naive_pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/format.h"

static bool counts(const struct naive_page *page)
{
    return page->kind == TIDE_PAGE_COMMITTED && !page->quiet;
}

static enum naive_page_kind kind_of_mmap(const struct tide_event *event)
{
    if (event->value2 & TIDE_MAP_FILE)
        return TIDE_PAGE_FILE;
    if ((event->value2 & MAP_TYPE) != MAP_PRIVATE)
        return TIDE_PAGE_SHARED;
    return event->value == PROT_NONE ? TIDE_PAGE_RESERVED : TIDE_PAGE_COMMITTED;
}

/* Is page number I touched by [ADDRESS, ADDRESS + LENGTH)? */
static bool touched(size_t i, uint64_t address, uint64_t length)
{
    const uint64_t start = i * TIDE_PAGE_BYTES;
    return length > 0 && start < address + length && start + TIDE_PAGE_BYTES > address;
}

/* What PAGE is after a call that touches it; FROM is the page that mremap moved. */
static struct naive_page changed(const struct naive_page *page,
                                 const struct naive_page *from,
                                 const struct tide_event *event, uint32_t call)
{
    struct naive_page after = *page;
    const bool none = event->value == PROT_NONE;
    if (event->map_call == TIDE_MAP_MUNMAP)
        return (struct naive_page){.kind = TIDE_PAGE_NONE};
    if (event->map_call == TIDE_MAP_MREMAP)
        return (struct naive_page){from->kind, from->quiet, call};
    if (event->map_call != TIDE_MAP_MPROTECT)
        return after;
    if (none && page->kind == TIDE_PAGE_COMMITTED)
        after.kind = TIDE_PAGE_RESERVED;
    if (!none && page->kind == TIDE_PAGE_RESERVED)
        after = (struct naive_page){TIDE_PAGE_COMMITTED, page->quiet, call};
    return after;
}

static void change(struct naive_pages *pages, struct naive_page *space,
                   const struct tide_event *event, bool quiet)
{
    const bool moves = event->map_call == TIDE_MAP_MREMAP;
    const struct naive_page from =
        moves ? space[event->value / TIDE_PAGE_BYTES] : *space;
    for (size_t i = 0; i < TIDE_PAGES; i++) {
        if (!touched(i, event->address, event->size)) {
            if (moves && touched(i, event->value, event->value2))
                space[i] = (struct naive_page){.kind = TIDE_PAGE_NONE};
        } else if (event->map_call == TIDE_MAP_MMAP) {
            space[i] = (struct naive_page){kind_of_mmap(event), quiet, pages->call};
        } else {
            space[i] = changed(&space[i], &from, event, pages->call);
        }
    }
}

/* What the call did: pages that count now by this call, pages that count no more. */
static void count_call(struct naive_pages *pages, const struct naive_page *before,
                       const struct naive_page *after, const struct tide_event *event)
{
    uint64_t made = 0, lost = 0;
    for (size_t i = 0; i < TIDE_PAGES; i++) {
        made += counts(&after[i]) && after[i].call == pages->call;
        lost += counts(&before[i]) &&
                (!counts(&after[i]) || after[i].call != before[i].call);
    }
    if (made) {
        pages->alloc_calls++;
        pages->calls[event->stack]++;
        pages->bytes[event->stack] += made * TIDE_PAGE_BYTES;
    }
    pages->free_calls += lost > 0;
    pages->realloc_calls += event->map_call == TIDE_MAP_MREMAP && made > 0;
}

static void sum_up(struct naive_pages *pages)
{
    static bool seen[TIDE_PAGE_CALLS];
    memset(seen, 0, sizeof(seen));
    memset(pages->now, 0, sizeof(pages->now));
    memset(pages->live_blocks, 0, sizeof(pages->live_blocks));
    memset(pages->live_bytes, 0, sizeof(pages->live_bytes));
    for (size_t i = 0; i < (size_t)TIDE_PAGE_PROCESSES * TIDE_PAGES; i++) {
        const struct naive_page *page = &pages->pages[i / TIDE_PAGES][i % TIDE_PAGES];
        if (page->quiet)
            continue;
        pages->now[page->kind] += TIDE_PAGE_BYTES;
        if (page->kind != TIDE_PAGE_COMMITTED)
            continue;
        const uint32_t stack = pages->stack_of_call[page->call];
        pages->live_blocks[stack] += !seen[page->call];
        seen[page->call] = true;
        pages->live_bytes[stack] += TIDE_PAGE_BYTES;
    }
    const bool peak =
        pages->now[TIDE_PAGE_COMMITTED] > pages->highest[TIDE_PAGE_COMMITTED];
    if (peak) {
        memcpy(pages->peak_blocks, pages->live_blocks, sizeof(pages->peak_blocks));
        memcpy(pages->peak_bytes, pages->live_bytes, sizeof(pages->peak_bytes));
    }
    for (size_t kind = 0; kind < TIDE_PAGE_KINDS; kind++) {
        if (pages->now[kind] > pages->highest[kind])
            pages->highest[kind] = pages->now[kind];
    }
}

void naive_pages_enter(struct naive_pages *pages, const struct tide_event *event,
                       bool quiet)
{
    struct naive_page *space = pages->pages[event->process];
    struct naive_page before[TIDE_PAGES];
    memcpy(before, space, sizeof(before));
    if (++pages->call == TIDE_PAGE_CALLS)
        abort();
    pages->stack_of_call[pages->call] = event->stack;
    change(pages, space, event, quiet);
    count_call(pages, before, space, event);
    sum_up(pages);
}
