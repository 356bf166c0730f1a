/* trace/list.h - arrays that grow.
 *
 * For: trace/, tests/.  A list of all zeros with item_bytes set is ready for use; its
 * owner frees `items`, or gives it away.
 */
#ifndef TIDE_TRACE_LIST_H
#define TIDE_TRACE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tide_list {
    void *items; /* owned */
    size_t count, capacity;
    size_t item_bytes;
};

/* Room for COUNT items; false without memory: then the list stands as it was. */
static inline bool tide_list_reserve(struct tide_list *list, size_t count)
{
    if (count <= list->capacity)
        return true;
    size_t wider = list->capacity ? list->capacity : 8;
    while (wider < count && wider <= SIZE_MAX / 2)
        wider *= 2;
    if (wider < count || wider > SIZE_MAX / list->item_bytes)
        return false;
    void *moved = realloc(list->items, wider * list->item_bytes);
    if (!moved)
        return false;
    list->items = moved;
    list->capacity = wider;
    return true;
}

/* One more item, of zeros, at the end; NULL without memory.  Pointers to older items
 * end with this call. */
static inline void *tide_list_add(struct tide_list *list)
{
    if (!tide_list_reserve(list, list->count + 1))
        return NULL;
    void *item = (char *)list->items + list->count++ * list->item_bytes;
    memset(item, 0, list->item_bytes);
    return item;
}

/* Sort by COMPARE; an empty list is no trouble. */
static inline void tide_list_sort(struct tide_list *list,
                                  int (*compare)(const void *, const void *))
{
    if (list->count > 1)
        qsort(list->items, list->count, list->item_bytes, compare);
}

#endif
