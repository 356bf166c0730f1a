/* model/grow.c - arrays that double.
 */
#include "model/grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TIDE_GROW_FIRST = 16 };

void *tide_grown(void *items, size_t *capacity, size_t wanted, size_t item_bytes)
{
    if (wanted <= *capacity)
        return items;
    size_t wider = *capacity ? *capacity : TIDE_GROW_FIRST;
    while (wider < wanted && wider <= SIZE_MAX / 2)
        wider *= 2;
    if (wider < wanted || wider > SIZE_MAX / item_bytes)
        return NULL;
    char *const moved = realloc(items, wider * item_bytes);
    if (!moved)
        return NULL;
    memset(moved + *capacity * item_bytes, 0, (wider - *capacity) * item_bytes);
    *capacity = wider;
    return moved;
}
