/* model/grow.c - arrays that grow.
 */
#include "model/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIDE_GROW_FIRST = 16,
    TIDE_GROW_LARGE = 16 << 20, /* bytes from which on an array grows by an eighth */
};

/* Large arrays are moved by the kernel, without a copy, but what they have room for is
 * memory that was touched: to double them would waste up to half of it. */
static size_t widen(size_t capacity, size_t item_bytes)
{
    const size_t more =
        capacity > TIDE_GROW_LARGE / item_bytes ? capacity / 8 : capacity;
    return capacity > SIZE_MAX - more ? SIZE_MAX : capacity + more;
}

void *tide_grown(void *items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    if (wanted <= *capacity)
        return items;
    size_t wider = *capacity ? *capacity : TIDE_GROW_FIRST;
    while (wider < wanted)
        wider = widen(wider, item_bytes);
    if (wider > SIZE_MAX / item_bytes)
        return NULL;
    char *const moved = realloc(items, wider * item_bytes);
    if (!moved)
        return NULL;
    memset(moved + *capacity * item_bytes, 0, (wider - *capacity) * item_bytes);
    *capacity = wider;
    return moved;
}
