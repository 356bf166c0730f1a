/* symbol/span_table.c - which of many address ranges holds an address.
 *
 * The table is made by one sweep over the ranges in the order of their beginnings,
 * with a stack of those that are open: the top of it owns the present address.  A
 * range that ends while it is not on top (damaged or odd debug information: a child
 * longer than its parent) stays on the stack until it is uncovered, and is dropped
 * then.
 */
#include "symbol/span_table.h"

#include <stdlib.h>

enum { TIDE_SPAN_LIST_FIRST = 64 };

enum tide_status tide_span_list_add(struct tide_span_list *list,
                                    const struct tide_span *span)
{
    if (span->low >= span->high)
        return TIDE_OK;
    if (list->count == list->capacity) {
        const size_t capacity =
            list->capacity ? list->capacity * 2 : TIDE_SPAN_LIST_FIRST;
        struct tide_span *const spans =
            reallocarray(list->spans, capacity, sizeof(*spans));
        if (!spans)
            return TIDE_ENOMEM;
        list->spans = spans;
        list->capacity = capacity;
    }
    list->spans[list->count++] = *span;
    return TIDE_OK;
}

void tide_span_list_release(struct tide_span_list *list)
{
    free(list->spans);
    *list = (struct tide_span_list){0};
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Outer before inner: a deeper or a shorter one that begins at the same place. */
static int compare_spans(const void *left, const void *right)
{
    const struct tide_span *const a = left;
    const struct tide_span *const b = right;

    if (a->low != b->low)
        return compare_u64(a->low, b->low);
    if (a->depth != b->depth)
        return compare_u64(a->depth, b->depth);
    if (a->high != b->high)
        return compare_u64(b->high, a->high);
    return compare_u64(a->owner, b->owner);
}

struct sweep {
    const struct tide_span *spans;
    struct tide_piece *pieces;
    size_t piece_count;
    size_t *open; /* indices of spans; the last one owns the present address */
    size_t open_count;
};

/* From LOW on, OWNER owns. */
static void cut(struct sweep *sweep, uint64_t low, uint32_t owner)
{
    size_t count = sweep->piece_count;
    if (count > 0 && sweep->pieces[count - 1].low == low)
        count--;
    if (count > 0 && sweep->pieces[count - 1].owner == owner) {
        sweep->piece_count = count;
        return;
    }
    sweep->pieces[count] = (struct tide_piece){.low = low, .owner = owner};
    sweep->piece_count = count + 1;
}

/* Drop what ends at or before ADDRESS from the top; the uncovered one takes over. */
static void close_until(struct sweep *sweep, uint64_t address)
{
    while (sweep->open_count > 0) {
        const uint64_t end = sweep->spans[sweep->open[sweep->open_count - 1]].high;
        if (end > address)
            return;
        while (sweep->open_count > 0 &&
               sweep->spans[sweep->open[sweep->open_count - 1]].high <= end)
            sweep->open_count--;
        cut(sweep, end,
            sweep->open_count > 0
                ? sweep->spans[sweep->open[sweep->open_count - 1]].owner
                : TIDE_NO_OWNER);
    }
}

enum tide_status tide_span_table_build(struct tide_span_table *table,
                                       struct tide_span_list *list)
{
    *table = (struct tide_span_table){0};
    if (list->count == 0)
        return TIDE_OK;

    qsort(list->spans, list->count, sizeof(*list->spans), compare_spans);

    /* Each span cuts at most twice. */
    struct sweep sweep = {
        .spans = list->spans,
        .pieces = calloc(list->count, 2 * sizeof(*sweep.pieces)),
        .open = calloc(list->count, sizeof(*sweep.open)),
    };
    if (!sweep.pieces || !sweep.open) {
        free(sweep.pieces);
        free(sweep.open);
        return TIDE_ENOMEM;
    }
    for (size_t i = 0; i < list->count; i++) {
        close_until(&sweep, list->spans[i].low);
        cut(&sweep, list->spans[i].low, list->spans[i].owner);
        sweep.open[sweep.open_count++] = i;
    }
    close_until(&sweep, UINT64_MAX);
    free(sweep.open);

    struct tide_piece *const fitted =
        reallocarray(sweep.pieces, sweep.piece_count, sizeof(*fitted));
    table->pieces = fitted ? fitted : sweep.pieces;
    table->count = sweep.piece_count;
    return TIDE_OK;
}

void tide_span_table_release(struct tide_span_table *table)
{
    free(table->pieces);
    *table = (struct tide_span_table){0};
}

uint32_t tide_span_table_find(const struct tide_span_table *table, uint64_t address)
{
    /* Invariant: pieces below `first` begin at or before the address, those from
     * `last` on behind it. */
    size_t first = 0;
    size_t last = table->count;
    while (first < last) {
        const size_t middle = first + (last - first) / 2;
        if (table->pieces[middle].low <= address)
            first = middle + 1;
        else
            last = middle;
    }
    return first > 0 ? table->pieces[first - 1].owner : TIDE_NO_OWNER;
}
