/* model/rows_flat.c - one row per function.
 *
 * While rows are added, the row of a function has the function's own number; sorting
 * comes last.
 */
#include <stdlib.h>
#include <string.h>

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
        flat[rows->flat_count] = (struct tide_flat_row){
            .function = (uint32_t)rows->flat_count, .caller = UINT32_MAX};
    return TIDE_OK;
}

/* Paths come heaviest first, so the first one with the function gives it its place; one
 * that allocates goes before one that only calls. */
static void note_place(struct tide_flat_row *row, const struct tide_call *call,
                       bool allocates)
{
    const bool first = allocates
                           ? row->self_calls == 0 && row->self_bytes == 0
                           : row->inclusive_calls == 0 && row->inclusive_bytes == 0;
    if (!first)
        return;
    row->file = call->file;
    row->line = call->line;
}

/* The innermost call of a path, with its AMOUNT. */
static enum tide_status add_self(struct tide_flat_builder *builder,
                                 struct tide_flat_row *row,
                                 const struct tide_call *call,
                                 struct tide_amount amount)
{
    uint32_t number;
    const size_t known = builder->lines.count;
    note_place(row, call, true);
    row->self_bytes += amount.bytes;
    row->self_calls += amount.calls;
    if (call->line == 0)
        return TIDE_OK;
    const enum tide_status status = tide_pairs_find(
        &builder->lines, (struct tide_pair){call->function, call->line}, &number);
    row->lines += builder->lines.count > known;
    return status;
}

/* The innermost call of PATHS, with its AMOUNT: who calls it that has a name? */
static enum tide_status note_caller(struct tide_flat_builder *builder,
                                    const struct tide_paths *paths,
                                    struct tide_amount amount)
{
    const uint32_t function = paths->calls[0].function;
    uint32_t number;
    size_t i = 0;
    while (i < paths->call_count &&
           !paths->functions[paths->calls[i].function].resolved)
        i++;
    if (i == 0 || i == paths->call_count)
        return TIDE_OK;
    const size_t known = builder->callers.count;
    const struct tide_pair pair = {function, paths->calls[i].function};
    const enum tide_status status = tide_pairs_find(&builder->callers, pair, &number);
    if (status)
        return status;
    struct tide_amount *const called =
        tide_grown(builder->called, &builder->called_capacity, builder->callers.count,
                   sizeof(*called));
    if (!called)
        return TIDE_ENOMEM;
    builder->called = called;
    if (builder->callers.count > known)
        called[number] = (struct tide_amount){0};
    called[number].bytes += amount.bytes;
    called[number].calls += amount.calls;
    return TIDE_OK;
}

enum tide_status tide_flat_add(struct tide_flat_builder *builder,
                               struct tide_rows *rows, const struct tide_paths *paths,
                               uint32_t index, struct tide_amount amount)
{
    enum tide_status status = keep_up(builder, rows, paths->function_count);
    if (status || paths->call_count == 0)
        return status;
    for (size_t i = 0; i < paths->call_count; i++) {
        const uint32_t function = paths->calls[i].function;
        if (builder->last_stack[function] == index + 1)
            continue; /* recursion */
        builder->last_stack[function] = index + 1;
        note_place(&rows->flat[function], &paths->calls[i], false);
        rows->flat[function].inclusive_bytes += amount.bytes;
        rows->flat[function].inclusive_calls += amount.calls;
    }
    status = add_self(builder, &rows->flat[paths->calls[0].function], &paths->calls[0],
                      amount);
    return status ? status : note_caller(builder, paths, amount);
}

static int descending(uint64_t one, uint64_t other)
{
    return (one < other) - (one > other);
}

/* What counts first; 0: they are equal in it. */
static int by_column(const struct tide_rows *rows, const struct tide_flat_row *a,
                     const struct tide_flat_row *b)
{
    const struct tide_paths *const paths = rows->private_state;
    const struct tide_function *const one = &paths->functions[a->function];
    const struct tide_function *const other = &paths->functions[b->function];
    switch (rows->sort) {
    case TIDE_SORT_INCLUSIVE:
        return descending(a->inclusive_bytes, b->inclusive_bytes);
    case TIDE_SORT_CALLS:
        return descending(a->self_calls, b->self_calls);
    case TIDE_SORT_NAME:
        return strcmp(one->name, other->name);
    case TIDE_SORT_MODULE:
        return strcmp(tide_path_base(one->module), tide_path_base(other->module));
    case TIDE_SORT_USUAL:
        if (tide_rows_by_share(rows))
            return tide_rows_compare(
                rows, (struct tide_amount){a->self_bytes, a->self_calls},
                (struct tide_amount){b->self_bytes, b->self_calls});
        return descending(a->self_bytes, b->self_bytes);
    case TIDE_SORT_BYTES:
    case TIDE_SORT_SELF:
    default:
        return descending(a->self_bytes, b->self_bytes);
    }
}

static int by_weight(const void *one, const void *other, void *rows)
{
    const struct tide_flat_row *const a = one;
    const struct tide_flat_row *const b = other;
    const int first = by_column(rows, a, b);
    if (first)
        return first;
    if (a->self_bytes != b->self_bytes)
        return descending(a->self_bytes, b->self_bytes);
    if (a->inclusive_bytes != b->inclusive_bytes)
        return descending(a->inclusive_bytes, b->inclusive_bytes);
    if (a->inclusive_calls != b->inclusive_calls)
        return descending(a->inclusive_calls, b->inclusive_calls);
    return (a->function > b->function) - (a->function < b->function);
}

/* Each function without a name gets its heaviest caller. */
static void choose_callers(const struct tide_flat_builder *builder,
                           struct tide_rows *rows)
{
    double *const heaviest = calloc(rows->flat_count + 1, sizeof(*heaviest));
    for (size_t i = 0; heaviest && i < builder->callers.count; i++) {
        const struct tide_pair *const pair = &builder->callers.list[i];
        const double share = tide_rows_share(rows, builder->called[i]);
        if (share <= heaviest[pair->one])
            continue;
        heaviest[pair->one] = share;
        rows->flat[pair->one].caller = (uint32_t)pair->other;
    }
    free(heaviest); /* without memory no caller is named */
}

void tide_flat_finish(const struct tide_flat_builder *builder, struct tide_rows *rows)
{
    choose_callers(builder, rows);
    /* Functions that only stood in frames that were left out. */
    size_t kept = 0;
    for (size_t i = 0; i < rows->flat_count; i++) {
        if (rows->flat[i].inclusive_bytes || rows->flat[i].inclusive_calls)
            rows->flat[kept++] = rows->flat[i];
    }
    rows->flat_count = kept;
    if (kept)
        qsort_r(rows->flat, kept, sizeof(*rows->flat), by_weight, rows);
}

void tide_flat_release(struct tide_flat_builder *builder)
{
    free(builder->last_stack);
    tide_pairs_release(&builder->lines);
    tide_pairs_release(&builder->callers);
    free(builder->called);
    *builder = (struct tide_flat_builder){0};
}
