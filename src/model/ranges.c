/* model/ranges.c - the mapped ranges of one process, in order of address.
 *
 * A treap: a search tree by address that is a heap by random priority, so its depth is
 * logarithmic for every order of insertion.  Nodes are numbers in one array; all walks
 * are loops.
 */
#include "model/ranges.h"

#include <stdlib.h>

#include "model/grow.h"

void tide_ranges_release(struct tide_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct tide_ranges){0};
}

static uint32_t next_random(struct tide_ranges *ranges)
{
    uint32_t x = ranges->random ? ranges->random : 0x9e3779b9u;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    ranges->random = x;
    return x;
}

/* An unused entry; 0 without memory. */
static uint32_t take_entry(struct tide_ranges *ranges)
{
    if (ranges->spare) {
        const uint32_t entry = ranges->spare;
        ranges->spare = ranges->list[entry].left;
        return entry;
    }
    if (ranges->count == 0)
        ranges->count = 1;
    if (ranges->count >= UINT32_MAX)
        return 0;
    struct tide_range *const list =
        tide_grown(ranges->list, &ranges->capacity, ranges->count + 1, sizeof(*list));
    if (!list)
        return 0;
    ranges->list = list;
    return (uint32_t)ranges->count++;
}

/* Part TREE into what starts before START and the rest. */
static void split(struct tide_range *list, uint32_t tree, uint64_t start,
                  uint32_t *before, uint32_t *rest)
{
    while (tree) {
        if (list[tree].start < start) {
            *before = tree;
            before = &list[tree].right;
            tree = *before;
        } else {
            *rest = tree;
            rest = &list[tree].left;
            tree = *rest;
        }
    }
    *before = 0;
    *rest = 0;
}

enum tide_status tide_ranges_add(struct tide_ranges *ranges, uint64_t start,
                                 uint64_t end, uint32_t tag)
{
    const uint32_t entry = take_entry(ranges);
    if (!entry)
        return TIDE_ENOMEM;
    struct tide_range *const list = ranges->list;
    struct tide_range *const range = &list[entry];
    range->start = start;
    range->end = end;
    range->tag = tag;
    range->priority = next_random(ranges);
    uint32_t *link = &ranges->root;
    while (*link && list[*link].priority >= range->priority)
        link = start < list[*link].start ? &list[*link].left : &list[*link].right;
    split(list, *link, start, &range->left, &range->right);
    *link = entry;
    return TIDE_OK;
}

void tide_ranges_remove(struct tide_ranges *ranges, uint32_t range)
{
    struct tide_range *const list = ranges->list;
    uint32_t *link = &ranges->root;
    while (*link != range)
        link = list[range].start < list[*link].start ? &list[*link].left
                                                     : &list[*link].right;
    uint32_t left = list[range].left;
    uint32_t right = list[range].right;
    while (left && right) {
        if (list[left].priority > list[right].priority) {
            *link = left;
            link = &list[left].right;
            left = *link;
        } else {
            *link = right;
            link = &list[right].left;
            right = *link;
        }
    }
    *link = left ? left : right;
    list[range].left = ranges->spare;
    ranges->spare = range;
}

uint32_t tide_ranges_after(const struct tide_ranges *ranges, uint64_t address)
{
    uint32_t found = 0;
    uint32_t at = ranges->root;
    while (at) {
        const struct tide_range *const range = &ranges->list[at];
        if (range->end > address) {
            found = at;
            at = range->left;
        } else {
            at = range->right;
        }
    }
    return found;
}

enum tide_status tide_ranges_cut(struct tide_ranges *ranges, uint64_t address)
{
    const uint32_t found = tide_ranges_after(ranges, address);
    if (!found || ranges->list[found].start >= address)
        return TIDE_OK;
    const uint64_t end = ranges->list[found].end;
    const enum tide_status status =
        tide_ranges_add(ranges, address, end, ranges->list[found].tag);
    if (!status)
        ranges->list[found].end = address;
    return status;
}
