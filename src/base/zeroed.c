/* base/zeroed.c - large tables of zeros, in huge pages where the system has them.
 */
#include "base/zeroed.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    TIDE_HUGE_PAGE = 1 << 21,
    TIDE_HEAP_AHEAD = 24 << 20, /* bytes of the heap that come in huge pages */
    TIDE_HEAP_ITEM = 4 << 20,   /* what is larger is mapped for itself */
};

/* Only whole ones: what stands beside the bytes is no business of ours. */
void tide_wants_huge(void *from, size_t bytes)
{
    const size_t behind = (uintptr_t)from % TIDE_HUGE_PAGE;
    const size_t before = behind ? TIDE_HUGE_PAGE - behind : 0;
    if (bytes < before + TIDE_HUGE_PAGE)
        return;
    const size_t whole = (bytes - before) / TIDE_HUGE_PAGE * TIDE_HUGE_PAGE;
    (void)madvise((char *)from + before, whole, MADV_HUGEPAGE);
}

void *tide_zeroed(size_t count, size_t item_bytes)
{
    void *const table = calloc(count, item_bytes);
    if (table)
        tide_wants_huge(table, count * item_bytes);
    return table;
}

static void set_allocator(int parameter, int value)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
    (void)mallopt(parameter, value);
}

/* The allocator maps whatever is larger than 128 KiB, in pages of 4 KiB, and gives it back
 * to the system, so that tables that grow touch new pages again and again. */
void tide_heap_wants_huge(void)
{
    set_allocator(M_MMAP_THRESHOLD, TIDE_HEAP_AHEAD + TIDE_HUGE_PAGE);
    set_allocator(M_TRIM_THRESHOLD, 2 * TIDE_HEAP_AHEAD);
    void *const ahead = malloc(TIDE_HEAP_AHEAD);
    if (ahead)
        tide_wants_huge(ahead, TIDE_HEAP_AHEAD);
    free(ahead);
    set_allocator(M_MMAP_THRESHOLD, TIDE_HEAP_ITEM);
}
