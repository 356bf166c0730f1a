/* view/tree_end.c - what a line of a call tree leads to that ends in dots. */
#include "view/tree_end.h"

#include <stdio.h>
#include <stdlib.h>

#include "view/names.h"
#include "view/units.h"
#include "view/utf8.h"

enum { TIDE_END_PART = 3 }; /* what has less than that part does not stand out */

static const struct tide_tree_end NO_END = {.function = UINT32_MAX};

/* The row behind AT in the order of the tree, all of whose rows are below TOP; 0: there is
 * none.  CALLERS is a stack of the rows that lead to AT. */
static uint32_t row_behind(const struct tide_rows *rows, uint32_t at, uint32_t *callers,
                           size_t *depth)
{
    if (rows->tree[at].first_child) {
        callers[(*depth)++] = at;
        return rows->tree[at].first_child;
    }
    while (!rows->tree[at].next && *depth > 1)
        at = callers[--*depth];
    return rows->tree[at].next;
}

static void note_largest(const struct tide_rows *rows, uint32_t row, uint64_t *sums,
                         struct tide_tree_end *out)
{
    const struct tide_tree_row *const r = &rows->tree[row];
    if (r->function >= rows->function_count)
        return;
    sums[r->function] += tide_rows_weight(rows, r->self_bytes, r->self_calls);
    if (sums[r->function] > out->weight)
        *out = (struct tide_tree_end){r->function, sums[r->function]};
}

/* The last row below ROW that half of what it holds goes through. */
static struct tide_tree_end goes_through(const struct tide_rows *rows, uint32_t row)
{
    const struct tide_tree_row *const top = &rows->tree[row];
    const uint64_t half = tide_rows_weight(rows, top->bytes, top->calls) / 2;
    struct tide_tree_end end = NO_END;
    for (uint32_t at = top->first_child; at; at = rows->tree[at].first_child) {
        const struct tide_tree_row *const r = &rows->tree[at];
        const uint64_t weight = tide_rows_weight(rows, r->bytes, r->calls);
        if (weight <= half)
            break;
        end = (struct tide_tree_end){r->function, weight};
    }
    return end;
}

bool tide_tree_end_down(const struct tide_rows *rows, uint32_t row,
                        struct tide_tree_end *out)
{
    const struct tide_tree_row *const top = &rows->tree[row];
    uint64_t *const sums = calloc(rows->function_count + 1, sizeof(*sums));
    uint32_t *const callers = calloc(rows->tree_count + 1, sizeof(*callers));
    const bool ready = sums && callers;
    size_t depth = 1; /* TOP itself */
    *out = NO_END;
    for (uint32_t at = ready ? top->first_child : 0; at;
         at = row_behind(rows, at, callers, &depth))
        note_largest(rows, at, sums, out);
    free(sums);
    free(callers);
    if (out->weight < tide_rows_weight(rows, top->bytes, top->calls) / TIDE_END_PART)
        *out = goes_through(rows, row);
    return ready;
}

void tide_tree_end_up(const struct tide_rows *rows, uint32_t row,
                      struct tide_tree_end *out)
{
    *out = NO_END;
    for (uint32_t at = rows->tree[row].first_child; at;
         at = rows->tree[at].first_child) {
        const struct tide_tree_row *const r = &rows->tree[at];
        if (r->function < rows->function_count &&
            rows->functions[r->function].resolved) {
            *out = (struct tide_tree_end){r->function,
                                          tide_rows_weight(rows, r->bytes, r->calls)};
            return;
        }
    }
}

void tide_tree_end_words(struct tide_text *out, const struct tide_rows *rows,
                         struct tide_tree_end end, int columns,
                         const struct tide_style *style)
{
    const uint64_t whole = tide_rows_weight(rows, rows->total_bytes, rows->total_calls);
    struct tide_number share = {""};
    if (end.function >= rows->function_count || whole == 0)
        return;
    (void)snprintf(share.text, sizeof(share.text), "%.0f %% ",
                   100.0 * (double)end.weight / (double)whole);
    const int room = columns - tide_columns(share.text);
    const char *const name = rows->functions[end.function].name;
    if (room < tide_name_least(name, style))
        return;
    tide_text_add(out, share.text);
    tide_name_function(out, name, room, style);
}
