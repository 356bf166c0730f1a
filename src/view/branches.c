/* view/branches.c - which lines of a call tree are worth showing, and in what order.
 *
 * Three passes: gather the chains that hold enough (candidates, callers before callees,
 * large before small); choose the largest of them; put out the chosen with what is left
 * over.  No recursion: a tree is as deep as its deepest stack.
 */
#include "view/branches.h"

#include <stdlib.h>

#include "view/branches_parts.h"

/* --- Put out ----------------------------------------------------------------------- */

/* Add a line below candidate PARENT. */
static bool put_line(struct tide_branch_builder *builder, uint32_t parent,
                     struct tide_branch line)
{
    struct tide_branches *const out = builder->out;
    struct tide_branch_candidate *const above = &builder->candidates[parent];
    struct tide_branch *const list = tide_branches_room(
        out->list, out->count, &builder->line_capacity, sizeof(*out->list));
    if (!list)
        return false;
    out->list = list;
    line.parent = parent == 0 ? TIDE_NO_BRANCH : above->line;
    line.depth = above->depth;
    out->depth = line.depth > out->depth ? line.depth : out->depth;
    list[out->count++] = line;
    above->shown_bytes += line.bytes;
    above->shown_calls += line.calls;
    return true;
}

/* Add the line of what the last function of candidate INDEX allocates itself, and of a
 * recursion all its functions, unless nothing else is below: then the candidate's own line
 * says it already. */
static bool put_itself(struct tide_branch_builder *builder, uint32_t index)
{
    struct tide_branch_candidate *const c = &builder->candidates[index];
    const bool little =
        c->folded > 0 &&
        tide_rows_weight(builder->rows, c->self_bytes, c->self_calls) < builder->least;
    if (c->itself_put || little || (c->self_bytes == 0 && c->self_calls == 0))
        return true;
    c->itself_put = true;
    if (builder->rows->tree[c->last].first_child == 0 && index != 0) {
        c->shown_bytes += c->self_bytes;
        c->shown_calls += c->self_calls;
        return true;
    }
    const struct tide_branch line = {.kind = TIDE_BRANCH_ITSELF,
                                     .first = c->last,
                                     .last = c->last,
                                     .bytes = c->self_bytes,
                                     .calls = c->self_calls};
    return put_line(builder, index, line);
}

/* Is ROW out, as a line right below candidate INDEX? */
static bool is_out(const struct tide_branch_builder *builder, uint32_t index,
                   uint32_t row)
{
    const struct tide_branches *const out = builder->out;
    const uint32_t above =
        index == 0 ? TIDE_NO_BRANCH : builder->candidates[index].line;
    for (size_t i = index == 0 ? 0 : above + 1u; i < out->count; i++) {
        const struct tide_branch *const line = &out->list[i];
        if (line->kind == TIDE_BRANCH_CALLS && line->parent == above &&
            line->first == row)
            return true;
    }
    return false;
}

/* How many lines CANDIDATE lacks. */
static uint64_t count_left(const struct tide_branch_candidate *candidate)
{
    return candidate->folded + (candidate->self_calls > 0 && !candidate->itself_put);
}

/* The row that is all that is left of candidate INDEX; 0: there are others, or it
 * branches off inside the chain. */
static uint32_t only_folded(const struct tide_branch_builder *builder, uint32_t index)
{
    const struct tide_branch_candidate *const c = &builder->candidates[index];
    const struct tide_tree_row *const tree = builder->rows->tree;
    if (count_left(c) != 1 || !builder->options.chains) /* as many rows as asked for */
        return 0;
    for (uint32_t row = tree[c->last].first_child; row; row = tree[row].next)
        if ((tree[row].bytes > 0 || tree[row].calls > 0) &&
            !is_out(builder, index, row))
            return row;
    return 0;
}

/* Add the line of ROW, which nothing else was folded with: to say that there is one more
 * takes a line too.  What weighs little goes on by its own weight. */
static bool put_folded(struct tide_branch_builder *builder, uint32_t index,
                       uint32_t row)
{
    const struct tide_tree_row *const tree = builder->rows->tree;
    struct tide_branch_candidate chain = {.first = row,
                                          .bytes = tree[row].bytes,
                                          .calls = tree[row].calls,
                                          .recent = builder->candidates[index].recent};
    struct tide_branch_builder scale = *builder;
    chain.weight = tide_rows_weight(builder->rows, chain.bytes, chain.calls);
    if (chain.weight < builder->least)
        scale.least = chain.weight / 100 * builder->options.percent;
    tide_branches_follow(&scale, &chain);
    const struct tide_tree_row *const last = &tree[chain.last];
    const bool whole =
        last->first_child == 0 ||
        tide_rows_weight(
            builder->rows, tide_branch_minus(last->bytes, last->self_bytes),
            tide_branch_minus(last->calls, last->self_calls)) < scale.least;
    uint32_t below;
    (void)tide_branches_below(builder, chain.last, &below);
    return put_line(builder, index,
                    (struct tide_branch){.kind = TIDE_BRANCH_CALLS,
                                         .first = row,
                                         .last = chain.last,
                                         .bytes = chain.bytes,
                                         .calls = chain.calls,
                                         .more = whole ? 0 : below});
}

/* All lines below candidate INDEX are out: add what it holds itself, and the rest. */
static bool put_rest(struct tide_branch_builder *builder, uint32_t index)
{
    const struct tide_branch_candidate *const c = &builder->candidates[index];
    if (!put_itself(builder, index))
        return false;
    const bool alone = c->line + 1 == builder->out->count;
    const uint64_t rest = tide_branch_minus(c->bytes, c->shown_bytes);
    const uint64_t rest_calls = tide_branch_minus(c->calls, c->shown_calls);
    if (c->folded == 0)
        return true;
    if (alone && index != 0) { /* a line for it would repeat the one above */
        const bool much =
            tide_rows_weight(builder->rows, rest, rest_calls) >= builder->least;
        builder->out->list[c->line].more = much ? c->folded : 0;
        return true;
    }
    const uint32_t only = only_folded(builder, index);
    if (only)
        return put_folded(builder, index, only);
    const struct tide_branch line = {.kind = TIDE_BRANCH_MORE,
                                     .bytes = rest,
                                     .calls = rest_calls,
                                     .more = count_left(c)};
    return put_line(builder, index, line);
}

/* Close the candidates that are open and do not call NEXT. */
static bool close_until(struct tide_branch_builder *builder, uint32_t next)
{
    while (builder->open_count > 0) {
        const uint32_t top = builder->open[builder->open_count - 1];
        if (top == next)
            return true;
        if (!put_rest(builder, top))
            return false;
        builder->open_count--;
    }
    return true;
}

static bool put_candidate(struct tide_branch_builder *builder, uint32_t index)
{
    struct tide_branch_candidate *const c = &builder->candidates[index];
    if (!close_until(builder, c->parent))
        return false;
    /* Larger lines stand above smaller ones, this one too. */
    const struct tide_branch_candidate *const above = &builder->candidates[c->parent];
    if (tide_rows_weight(builder->rows, above->self_bytes, above->self_calls) >
            c->weight &&
        !put_itself(builder, c->parent))
        return false;
    c->line = (uint32_t)builder->out->count;
    builder->open[builder->open_count++] = index;
    return put_line(builder, c->parent,
                    (struct tide_branch){.kind = TIDE_BRANCH_CALLS,
                                         .first = c->first,
                                         .last = c->last,
                                         .beside = c->beside,
                                         .bytes = c->bytes,
                                         .calls = c->calls});
}

static bool put_all(struct tide_branch_builder *builder)
{
    builder->open = calloc(builder->count, sizeof(*builder->open));
    if (!builder->open)
        return false;
    builder->open[builder->open_count++] = 0;
    for (uint32_t i = 1; i < builder->count; i++)
        if (builder->candidates[i].chosen && !put_candidate(builder, i))
            return false;
    return close_until(builder, TIDE_NO_BRANCH);
}

/* A line is its parent's last when no later one has the same parent. */
static bool mark_last(struct tide_branches *branches)
{
    bool *const seen = calloc(branches->count + 1, sizeof(*seen));
    if (!seen)
        return false;
    for (size_t i = branches->count; i-- > 0;) {
        struct tide_branch *const line = &branches->list[i];
        const size_t parent = line->parent == TIDE_NO_BRANCH ? 0 : line->parent + 1u;
        line->is_last = !seen[parent];
        seen[parent] = true;
    }
    free(seen);
    return true;
}

static enum tide_status build(const struct tide_rows *rows,
                              struct tide_branch_options options,
                              struct tide_branches *out)
{
    *out = (struct tide_branches){0};
    if (rows->tree_count == 0)
        return TIDE_OK;
    const uint64_t total = /* with a focus: what that has */
        tide_rows_weight(rows, rows->tree[0].bytes, rows->tree[0].calls);
    struct tide_branch_builder builder = {.rows = rows, .options = options, .out = out};
    builder.least = total / 100 * options.percent + total % 100 * options.percent / 100;
    const bool built = tide_branches_gather(&builder) &&
                       tide_branches_choose(&builder) && put_all(&builder);
    free(builder.candidates);
    free(builder.visits);
    free(builder.open);
    if (!built)
        tide_branches_release(out);
    return built ? TIDE_OK : TIDE_ENOMEM;
}

enum tide_status tide_branches_build(const struct tide_rows *rows,
                                     struct tide_branch_options options,
                                     struct tide_branches *out)
{
    enum tide_status status = build(rows, options, out);
    if (!status && (rows->sort == TIDE_SORT_NAME || options.opens))
        status = tide_branches_sort(rows, out);
    if (!status && !mark_last(out))
        status = TIDE_ENOMEM;
    if (status)
        tide_branches_release(out);
    return status;
}

void tide_branches_release(struct tide_branches *branches)
{
    free(branches->list);
    *branches = (struct tide_branches){0};
}
