/* base/zeroed.c - large tables of zeros, in huge pages where the system has them.
 */
#include "base/zeroed.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { TIDE_HUGE_PAGE = 1 << 21 };

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
