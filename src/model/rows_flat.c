/* model/rows_flat.c - one row per function.
 *
 * While rows are added, the row of a function has the function's own number; sorting
 * comes last.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "model/rows_build.h"

/* A row for every function that is known by now. */
static enum tide_status keep_up(struct tide_flat_builder *builder,
                                struct tide_rows *rows, size_t functions)
{
    struct tide_flat_row *const flat =
        tide_grown(rows->flat, &builder->row_capacity, functions, sizeof(*flat));
    if (!flat)
        return TIDE_ENOMEM;
    rows->flat = flat;
    uint32_t *const last = tide_grown(builder->last_stack, &builder->last_capacity,
                                      functions, sizeof(*last));
    if (!last)
        return TIDE_ENOMEM;
    builder->last_stack = last;
    for (; rows->flat_count < functions; rows->flat_count++)
        flat[rows->flat_count].function = (uint32_t)rows->flat_count;
    return TIDE_OK;
}

enum tide_status tide_flat_add(struct tide_flat_builder *builder,
                               struct tide_rows *rows, const struct tide_paths *paths,
                               uint32_t index, struct tide_amount amount)
{
    const enum tide_status status = keep_up(builder, rows, paths->function_count);
    if (status || paths->call_count == 0)
        return status;
    for (size_t i = 0; i < paths->call_count; i++) {
        const uint32_t function = paths->calls[i].function;
        if (builder->last_stack[function] == index + 1)
            continue; /* recursion */
        builder->last_stack[function] = index + 1;
        rows->flat[function].inclusive_bytes += amount.bytes;
        rows->flat[function].inclusive_calls += amount.calls;
    }
    struct tide_flat_row *const innermost = &rows->flat[paths->calls[0].function];
    innermost->self_bytes += amount.bytes;
    innermost->self_calls += amount.calls;
    return TIDE_OK;
}

static int descending(uint64_t one, uint64_t other)
{
    return (one < other) - (one > other);
}

static int by_weight(const void *one, const void *other)
{
    const struct tide_flat_row *const a = one;
    const struct tide_flat_row *const b = other;
    if (a->inclusive_bytes != b->inclusive_bytes)
        return descending(a->inclusive_bytes, b->inclusive_bytes);
    if (a->self_bytes != b->self_bytes)
        return descending(a->self_bytes, b->self_bytes);
    if (a->inclusive_calls != b->inclusive_calls)
        return descending(a->inclusive_calls, b->inclusive_calls);
    return (a->function > b->function) - (a->function < b->function);
}

void tide_flat_finish(struct tide_rows *rows)
{
    /* Functions that only stood in frames that were left out. */
    size_t kept = 0;
    for (size_t i = 0; i < rows->flat_count; i++) {
        if (rows->flat[i].inclusive_bytes || rows->flat[i].inclusive_calls)
            rows->flat[kept++] = rows->flat[i];
    }
    rows->flat_count = kept;
    if (kept)
        qsort(rows->flat, kept, sizeof(*rows->flat), by_weight);
}

void tide_flat_release(struct tide_flat_builder *builder)
{
    free(builder->last_stack);
    *builder = (struct tide_flat_builder){0};
}
