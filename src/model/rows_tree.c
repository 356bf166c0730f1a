/* model/rows_tree.c - the call tree, top down or bottom up.
 *
 * Children of one caller are merged by function.  They may be called from several lines
 * of it; the row shows the line of the heaviest stack, which comes first (see rows.c).
 * The tree is as deep as the stacks are, so nothing here recurses.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "model/rows_build.h"

enum { TIDE_TREE_SLOTS_FIRST = 256 }; /* a power of two */

void tide_tree_release(struct tide_tree_builder *builder)
{
    free(builder->callers);
    free(builder->slots);
    *builder = (struct tide_tree_builder){0};
}

/* The slot of the row for FUNCTION called from row CALLER. */
static uint32_t *find_slot(const struct tide_tree_builder *builder,
                           const struct tide_rows *rows, uint32_t caller,
                           uint32_t function)
{
    const uint64_t key = (uint64_t)caller << 32 | function;
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & builder->mask;
    for (;;) {
        const uint32_t row = builder->slots[at];
        if (!row ||
            (builder->callers[row] == caller && rows->tree[row].function == function))
            return &builder->slots[at];
        at = (at + 1) & builder->mask;
    }
}

static enum tide_status widen(struct tide_tree_builder *builder,
                              const struct tide_rows *rows)
{
    const size_t slots =
        builder->slots ? (builder->mask + 1) * 2 : TIDE_TREE_SLOTS_FIRST;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(builder->slots);
    builder->slots = wider;
    builder->mask = slots - 1;
    for (uint32_t row = 1; row < rows->tree_count; row++)
        *find_slot(builder, rows, builder->callers[row], rows->tree[row].function) =
            row;
    return TIDE_OK;
}

/* A new row for CALL, made by row CALLER. */
static enum tide_status add_row(struct tide_tree_builder *builder,
                                struct tide_rows *rows, uint32_t caller,
                                struct tide_call call)
{
    if (rows->tree_count >= UINT32_MAX)
        return TIDE_ELIMIT;
    struct tide_tree_row *const tree = tide_grown(rows->tree, &builder->row_capacity,
                                                  rows->tree_count + 1, sizeof(*tree));
    if (!tree)
        return TIDE_ENOMEM;
    rows->tree = tree;
    uint32_t *const callers = tide_grown(builder->callers, &builder->caller_capacity,
                                         rows->tree_count + 1, sizeof(*callers));
    if (!callers)
        return TIDE_ENOMEM;
    builder->callers = callers;
    callers[rows->tree_count] = caller;
    tree[rows->tree_count++] = (struct tide_tree_row){
        .function = call.function,
        .file = call.file,
        .line = call.line,
    };
    return TIDE_OK;
}

static enum tide_status find_row(struct tide_tree_builder *builder,
                                 struct tide_rows *rows, uint32_t caller,
                                 struct tide_call call, uint32_t *out)
{
    if (!builder->slots || rows->tree_count > builder->mask / 2) {
        const enum tide_status status = widen(builder, rows);
        if (status)
            return status;
    }
    uint32_t *const slot = find_slot(builder, rows, caller, call.function);
    if (!*slot) {
        const enum tide_status status = add_row(builder, rows, caller, call);
        if (status)
            return status;
        *slot = (uint32_t)rows->tree_count - 1;
    }
    *out = *slot;
    return TIDE_OK;
}

static enum tide_status add_root(struct tide_tree_builder *builder,
                                 struct tide_rows *rows)
{
    if (rows->tree_count)
        return TIDE_OK;
    return add_row(builder, rows, 0, (struct tide_call){.function = UINT32_MAX});
}

enum tide_status tide_tree_add(struct tide_tree_builder *builder,
                               struct tide_rows *rows, struct tide_branch_path path,
                               struct tide_amount amount)
{
    enum tide_status status = add_root(builder, rows);
    uint32_t row = 0;
    for (size_t done = 0; !status; done++) {
        rows->tree[row].bytes += amount.bytes;
        rows->tree[row].calls += amount.calls;
        if (done == path.count)
            break;
        const size_t at = path.inward ? path.count - 1 - done : done;
        status = find_row(builder, rows, row, path.calls[at], &row);
    }
    if (status)
        return status;
    rows->tree[row].self_bytes += amount.bytes;
    rows->tree[row].self_calls += amount.calls;
    return TIDE_OK;
}

/* --- Order ---------------------------------------------------------------------------- */

struct child {
    uint32_t caller, row;
    uint64_t bytes, calls;
};

static int by_caller_and_weight(const void *one, const void *other)
{
    const struct child *const a = one;
    const struct child *const b = other;
    if (a->caller != b->caller)
        return a->caller > b->caller ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

enum tide_status tide_tree_finish(struct tide_tree_builder *builder,
                                  struct tide_rows *rows)
{
    const enum tide_status status = add_root(builder, rows);
    if (status)
        return status;
    const size_t count = rows->tree_count - 1;
    struct child *const children = calloc(count + 1, sizeof(*children));
    if (!children)
        return TIDE_ENOMEM;
    for (uint32_t row = 1; row <= count; row++)
        children[row - 1] = (struct child){
            builder->callers[row], row, rows->tree[row].bytes, rows->tree[row].calls};
    qsort(children, count, sizeof(*children), by_caller_and_weight);
    for (size_t i = 0; i < count; i++) {
        const bool first = i == 0 || children[i - 1].caller != children[i].caller;
        if (first)
            rows->tree[children[i].caller].first_child = children[i].row;
        else
            rows->tree[children[i - 1].row].next = children[i].row;
    }
    free(children);
    return TIDE_OK;
}
