/* model/rows_tree.c - the call tree, top down or bottom up.
 *
 * Children of one caller are merged by function.  They may be called from several lines
 * of it; the row shows the line of the heaviest stack, and knows how many there are where
 * the stacks have their innermost call.  The tree is as deep as the stacks
 * are, so nothing here recurses.  A stack mostly begins as the one before it: rows are
 * looked up from where the two part.
 */
#include <stdlib.h>

#include "model/grow.h"
#include "model/rows_build.h"

enum { TIDE_TREE_SLOTS_FIRST = 256 }; /* a power of two */

void tide_tree_release(struct tide_tree_builder *builder)
{
    free(builder->callers);
    free(builder->ranks);
    free(builder->trail);
    free(builder->slots);
    tide_pairs_release(&builder->lines);
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
    uint32_t *const ranks = tide_grown(builder->ranks, &builder->rank_capacity,
                                       rows->tree_count + 1, sizeof(*ranks));
    if (!ranks)
        return TIDE_ENOMEM;
    builder->ranks = ranks;
    callers[rows->tree_count] = caller;
    ranks[rows->tree_count] = UINT32_MAX;
    tree[rows->tree_count++] = (struct tide_tree_row){.function = call.function};
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

/* Step from *ROW, DEPTH calls from the root, into CALL. */
static enum tide_status step(struct tide_tree_builder *builder, struct tide_rows *rows,
                             size_t depth, struct tide_call call, uint32_t *row)
{
    struct tide_trail *const trail = &builder->trail[depth];
    if (depth < builder->trail_count && trail->function == call.function) {
        *row = trail->row;
        return TIDE_OK;
    }
    builder->trail_count = depth; /* from here on it is another branch */
    const enum tide_status status = find_row(builder, rows, *row, call, row);
    *trail = (struct tide_trail){call.function, *row};
    builder->trail_count = depth + 1;
    return status;
}

/* The innermost call of a path is at LINE, which is ROW's. */
static enum tide_status count_line(struct tide_tree_builder *builder,
                                   struct tide_rows *rows, uint32_t row, uint32_t line)
{
    uint32_t number;
    if (line == 0)
        return TIDE_OK;
    const size_t known = builder->lines.count;
    const enum tide_status status =
        tide_pairs_find(&builder->lines, (struct tide_pair){row, line}, &number);
    rows->tree[row].lines += builder->lines.count > known;
    return status;
}

/* ROW calls on, or allocates, at LINE. */
static void note_line(struct tide_tree_row *row, uint32_t line)
{
    if (line == 0)
        return;
    if (row->least_line == 0 || line < row->least_line)
        row->least_line = line;
    if (line > row->most_line)
        row->most_line = line;
}

enum tide_status tide_tree_add(struct tide_tree_builder *builder,
                               struct tide_rows *rows, struct tide_branch_path path,
                               struct tide_amount amount, uint32_t rank)
{
    enum tide_status status = add_root(builder, rows);
    uint32_t row = 0;
    struct tide_trail *const trail = tide_grown(
        builder->trail, &builder->trail_capacity, path.count + 1, sizeof(*trail));
    if (!trail)
        return TIDE_ENOMEM;
    builder->trail = trail;
    for (size_t done = 0; !status; done++) {
        rows->tree[row].bytes += amount.bytes;
        rows->tree[row].calls += amount.calls;
        if (done == path.count)
            break;
        const struct tide_call *const call =
            &path.calls[path.inward ? path.count - 1 - done : done];
        status = step(builder, rows, done, *call, &row);
        if (!status && rank < builder->ranks[row]) {
            builder->ranks[row] = rank;
            rows->tree[row].file = call->file;
            rows->tree[row].line = call->line;
        }
        if (!status)
            note_line(&rows->tree[row], call->line);
        if (!status && call == path.calls)
            status = count_line(builder, rows, row, call->line);
    }
    if (status)
        return status;
    rows->tree[row].self_bytes += amount.bytes;
    rows->tree[row].self_calls += amount.calls;
    return TIDE_OK;
}

/* --- Order ---------------------------------------------------------------------------- */

struct child {
    uint32_t row, rank;
    uint64_t weight, bytes, calls;
};

/* The two shares as whole numbers, so that what children weigh adds up to their caller. */
static uint64_t weight_of_shares(const struct tide_rows *rows, uint64_t bytes,
                                 uint64_t calls)
{
    static const double WHOLE = 1ull << 48;
    double weight = 0;
    if (rows->total_bytes)
        weight += (double)bytes / (double)rows->total_bytes * WHOLE;
    if (rows->total_calls)
        weight += (double)calls / (double)rows->total_calls * WHOLE;
    return (uint64_t)weight;
}

uint64_t tide_rows_weight(const struct tide_rows *rows, uint64_t bytes, uint64_t calls)
{
    if (tide_rows_by_share(rows))
        return weight_of_shares(rows, bytes, calls);
    return rows->sort == TIDE_SORT_CALLS ? calls : bytes;
}

static int by_weight(const void *one, const void *other)
{
    const struct child *const a = one;
    const struct child *const b = other;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    if (a->rank != b->rank)
        return a->rank > b->rank ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The children of one row, in a list of their own while they are sorted. */
struct siblings {
    struct child *list; /* owned */
    size_t count, capacity;
};

/* Sort the children of CALLER, which are linked in any order. */
static enum tide_status sort_children(const struct tide_tree_builder *builder,
                                      struct tide_rows *rows, uint32_t caller,
                                      struct siblings *siblings)
{
    siblings->count = 0;
    for (uint32_t row = rows->tree[caller].first_child; row;
         row = rows->tree[row].next) {
        struct child *const list = tide_grown(siblings->list, &siblings->capacity,
                                              siblings->count + 1, sizeof(*list));
        if (!list)
            return TIDE_ENOMEM;
        siblings->list = list;
        struct child *const child = &list[siblings->count++];
        const uint64_t bytes = rows->tree[row].bytes, calls = rows->tree[row].calls;
        *child = (struct child){row, builder->ranks[row],
                                tide_rows_weight(rows, bytes, calls), bytes, calls};
    }
    if (siblings->count < 2)
        return TIDE_OK;
    qsort(siblings->list, siblings->count, sizeof(*siblings->list), by_weight);
    rows->tree[caller].first_child = siblings->list[0].row;
    for (size_t i = 0; i < siblings->count; i++)
        rows->tree[siblings->list[i].row].next =
            i + 1 < siblings->count ? siblings->list[i + 1].row : 0;
    return TIDE_OK;
}

enum tide_status tide_tree_finish(struct tide_tree_builder *builder,
                                  struct tide_rows *rows)
{
    struct siblings siblings = {0};
    enum tide_status status = add_root(builder, rows);
    for (uint32_t row = 1; !status && row < rows->tree_count; row++) {
        struct tide_tree_row *const caller = &rows->tree[builder->callers[row]];
        rows->tree[row].next = caller->first_child;
        caller->first_child = row;
    }
    for (uint32_t row = 0; !status && row < rows->tree_count; row++)
        status = sort_children(builder, rows, row, &siblings);
    free(siblings.list);
    return status;
}
