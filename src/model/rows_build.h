/* model/rows_build.h - the shapes of tide_rows, each built by a file of its own.
 *
 * For: model/ only.
 */
#ifndef TIDE_MODEL_ROWS_BUILD_H
#define TIDE_MODEL_ROWS_BUILD_H

#include "model/filter.h"
#include "model/model.h"
#include "model/pairs.h"
#include "model/path.h"

/* The calls that make a branch of the tree, innermost first. */
struct tide_branch_path {
    const struct tide_call *calls;
    size_t count;
    bool inward; /* the outermost is the first of the branch */
};

/* The sites come one by one, with paths->calls being theirs.  Zeros to start with. */
struct tide_flat_builder {
    uint32_t *last_stack; /* owned, per function: the last stack that had it, + 1 */
    size_t last_capacity;
    size_t row_capacity;
    struct tide_pairs lines;    /* (function, line) of innermost calls */
    struct tide_pairs callers;  /* (function without a name, nearest caller with one) */
    struct tide_amount *called; /* owned, per such pair */
    size_t called_capacity;
};

struct tide_tree_builder {
    size_t row_capacity;
    uint32_t *callers; /* owned, per row: the row it is called from */
    uint32_t
        *ranks; /* owned, per row: of its heaviest stack, which gives it its line */
    size_t caller_capacity, rank_capacity;
    struct tide_trail {
        uint32_t function, row;
    } * trail; /* owned: the branch that was added last, from the root on */
    size_t trail_count, trail_capacity;
    uint32_t *slots; /* owned: row of (caller's row, function); 0: none */
    size_t mask;
    struct tide_pairs lines; /* (row, line) of innermost calls */
};

/* Add the stack that is number INDEX of the rows. */
enum tide_status tide_flat_add(struct tide_flat_builder *builder,
                               struct tide_rows *rows, const struct tide_paths *paths,
                               uint32_t index, struct tide_amount amount);
/* Sort what was added. */
void tide_flat_finish(const struct tide_flat_builder *builder, struct tide_rows *rows);
void tide_flat_release(struct tide_flat_builder *builder);

/* Add the stack that is number RANK of the rows; they may come in any order, and those
 * that begin alike best one after the other. */
enum tide_status tide_tree_add(struct tide_tree_builder *builder,
                               struct tide_rows *rows, struct tide_branch_path path,
                               struct tide_amount amount, uint32_t rank);
enum tide_status tide_tree_finish(struct tide_tree_builder *builder,
                                  struct tide_rows *rows);
void tide_tree_release(struct tide_tree_builder *builder);

/* Does an amount weigh what the larger of its shares of bytes and calls does?  So it is with
 * what churns, unless a column is asked for: many small blocks cost as much as a few large. */
static inline bool tide_rows_by_share(const struct tide_rows *rows)
{
    return rows->metric == TIDE_METRIC_CHURN && rows->sort == TIDE_SORT_USUAL;
}

/* The larger of the two shares. */
static inline double tide_rows_share(const struct tide_rows *rows,
                                     struct tide_amount amount)
{
    const double bytes =
        rows->total_bytes ? (double)amount.bytes / (double)rows->total_bytes : 0;
    const double calls =
        rows->total_calls ? (double)amount.calls / (double)rows->total_calls : 0;
    return bytes > calls ? bytes : calls;
}

/* The order of two amounts by that, heaviest first; 0: they are equal in it. */
static inline int tide_rows_compare(const struct tide_rows *rows,
                                    struct tide_amount one, struct tide_amount other)
{
    const double a = tide_rows_share(rows, one), b = tide_rows_share(rows, other);
    return (a < b) - (a > b);
}

#endif
