/* unit/naive_pages.h - the rules of model/mapped.h, one page at a time.
 *
 * An address space of few pages; each knows what it is and which call committed it.  All
 * sums are made anew after every call.
 */
#ifndef TIDE_UNIT_NAIVE_PAGES_H
#define TIDE_UNIT_NAIVE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"

enum {
    TIDE_PAGES = 200,
    TIDE_PAGE_BYTES = 4096,
    TIDE_PAGE_PROCESSES = 3,
    TIDE_PAGE_STACKS = 8,
    TIDE_PAGE_CALLS = 4096,
};

enum naive_page_kind {
    TIDE_PAGE_NONE,
    TIDE_PAGE_COMMITTED,
    TIDE_PAGE_RESERVED,
    TIDE_PAGE_FILE,
    TIDE_PAGE_SHARED,
    TIDE_PAGE_KINDS,
};

struct naive_page {
    enum naive_page_kind kind;
    bool quiet;    /* not counted */
    uint32_t call; /* that committed it */
};

struct naive_pages {
    struct naive_page pages[TIDE_PAGE_PROCESSES][TIDE_PAGES];
    uint32_t call; /* number of the last one */
    uint32_t stack_of_call[TIDE_PAGE_CALLS];

    uint64_t calls[TIDE_PAGE_STACKS], bytes[TIDE_PAGE_STACKS]; /* committed ever */
    uint64_t alloc_calls, free_calls, realloc_calls;
    uint64_t now[TIDE_PAGE_KINDS], highest[TIDE_PAGE_KINDS];
    uint64_t live_blocks[TIDE_PAGE_STACKS], live_bytes[TIDE_PAGE_STACKS];
    uint64_t peak_blocks[TIDE_PAGE_STACKS], peak_bytes[TIDE_PAGE_STACKS];
};

/* QUIET: the caller is not counted. */
void naive_pages_enter(struct naive_pages *pages, const struct tide_event *event,
                       bool quiet);

#endif
