/* view/branches.c - which lines of a call tree are worth showing, and in what order.
 *
 * Three passes: gather the chains that hold enough (candidates, callers before callees,
 * large before small); choose the largest of them; put out the chosen with what is left
 * over.  No recursion: a tree is as deep as its deepest stack.
 *
 * Invariant: a candidate's caller stands before it and holds at least as much, so the
 * largest candidates always hang together.
 */
#include "view/branches.h"

#include <stdlib.h>

enum {
    TIDE_RECENT = 8, /* functions that call each other in turn, at most */
    TIDE_TURNS = 20  /* what one of them keeps is less than that part of all */
};

/* The functions that a chain and its callers went through last. */
struct recent {
    uint32_t functions[TIDE_RECENT];
    size_t count; /* of all */
};

struct candidate {
    uint32_t first, last; /* rows of the chain; candidate 0 is the tree's root */
    uint32_t parent;      /* candidate */
    uint32_t line;        /* where it was put out */
    uint32_t depth;
    bool chosen;
    bool itself_put;       /* its line of what it allocates itself is out */
    uint64_t bytes, calls; /* of the whole chain, everything below included */
    struct recent recent;
    /* Rows beside the chain and too small below it, and those in it that keep some. */
    uint64_t folded;
    uint64_t self_bytes, self_calls;   /* see put_itself() */
    uint64_t shown_bytes, shown_calls; /* of the lines put out below it */
};

struct visit {
    uint32_t row, parent;
};

struct builder {
    const struct tide_rows *rows;
    struct tide_branch_options options;
    uint64_t least; /* bytes: what holds less is folded */
    struct candidate *candidates;
    size_t count, capacity;
    struct visit *visits;
    size_t visit_count, visit_capacity;
    uint32_t *open; /* candidates whose lines are not complete, callers first */
    size_t open_count;
    struct tide_branches *out;
    size_t line_capacity;
};

/* LIST, moved if need be, with room for one more entry of SIZE bytes; NULL without
 * memory, LIST is then as it was. */
static void *with_room(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    const size_t wanted = *capacity ? *capacity * 2 : 64;
    void *const moved = reallocarray(list, wanted, size);
    if (moved)
        *capacity = wanted;
    return moved;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* --- Gather ------------------------------------------------------------------------ */

static bool holds_enough(const struct builder *builder, uint32_t row)
{
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    return r->bytes >= builder->least && (r->bytes > 0 || r->calls > 0);
}

/* Count the children of ROW: those that hold enough, and all that are not empty. */
static uint32_t count_children(const struct builder *builder, uint32_t row,
                               uint32_t *all)
{
    const struct tide_tree_row *const tree = builder->rows->tree;
    uint32_t enough = 0;
    *all = 0;
    for (uint32_t c = tree[row].first_child; c; c = tree[c].next) {
        enough += holds_enough(builder, c);
        *all += tree[c].bytes > 0 || tree[c].calls > 0;
    }
    return enough;
}

/* Does CANDIDATE, which has come to ROW, go on to CHILD, the heaviest below?  All but less
 * than the least share of its bytes must, and half of its calls: else one line would say
 * of CHILD what others called. */
static bool goes_on(const struct builder *builder, const struct candidate *candidate,
                    uint32_t row, uint32_t child)
{
    const struct tide_tree_row *const next = &builder->rows->tree[child];
    return builder->options.chains && row != 0 &&
           (next->bytes == candidate->bytes ||
            candidate->bytes - next->bytes < builder->least) &&
           next->calls >= candidate->calls - next->calls;
}

static void note_function(const struct builder *builder, struct recent *recent,
                          uint32_t row)
{
    if (row != 0)
        recent->functions[recent->count++ % TIDE_RECENT] =
            builder->rows->tree[row].function;
}

/* Does CANDIDATE, which has come to ROW and has KEPT so much itself, go on to CHILD, the
 * heaviest below, as functions do that call each other in turn?  Each may keep a little: a
 * line for each would be stairs.  What branches off weighs nothing, as in other chains. */
static bool recurs(const struct builder *builder, const struct candidate *candidate,
                   uint32_t row, uint32_t child, uint64_t kept)
{
    const struct recent *const recent = &candidate->recent;
    const struct tide_tree_row *const here = &builder->rows->tree[row];
    const struct tide_tree_row *const next = &builder->rows->tree[child];
    const uint64_t turn = candidate->bytes / TIDE_TURNS;
    bool again = false;
    for (size_t i = 0; i < recent->count && i < TIDE_RECENT; i++)
        again |= recent->functions[i] == next->function;
    return again && builder->options.chains && row != 0 &&
           here->self_bytes < (builder->least > turn ? builder->least : turn) &&
           minus(candidate->bytes, kept + next->bytes) < builder->least &&
           next->calls >= here->calls - next->calls;
}

/* Follow the chain from candidate->first as long as nothing of weight leaves it. */
static void follow_chain(const struct builder *builder, struct candidate *candidate)
{
    const struct tide_tree_row *const tree = builder->rows->tree;
    uint64_t bytes = 0, calls = 0; /* of the chain but for its last function */
    bool recursive = false;
    uint32_t row = candidate->first;
    uint64_t passed = 0; /* functions of the chain that allocate themselves */
    candidate->folded = 0;
    for (;;) {
        uint32_t all;
        const uint32_t enough = count_children(builder, row, &all);
        const uint32_t child = tree[row].first_child;
        note_function(builder, &candidate->recent, row);
        candidate->folded += all - enough;
        const bool chain = enough == 1 && goes_on(builder, candidate, row, child);
        const bool turn =
            !chain && (enough == 1 || (enough == 0 && all == 1)) &&
            recurs(builder, candidate, row, child, bytes + tree[row].self_bytes);
        if (!chain && !turn)
            break;
        if (enough == 0)
            candidate->folded--; /* a recursion goes on to its end */
        recursive |= turn;
        passed += tree[row].self_calls > 0;
        bytes += tree[row].self_bytes;
        calls += tree[row].self_calls;
        row = child;
    }
    candidate->last = row;
    candidate->self_bytes = tree[row].self_bytes + (recursive ? bytes : 0);
    candidate->self_calls = tree[row].self_calls + (recursive ? calls : 0);
    candidate->folded += recursive ? 0 : passed;
}

static bool add_visit(struct builder *builder, uint32_t row, uint32_t parent)
{
    if (row == 0)
        return true;
    struct visit *const visits =
        with_room(builder->visits, builder->visit_count, &builder->visit_capacity,
                  sizeof(*builder->visits));
    if (!visits)
        return false;
    builder->visits = visits;
    builder->visits[builder->visit_count++] = (struct visit){row, parent};
    return true;
}

static bool add_candidate(struct builder *builder, uint32_t row, uint32_t parent)
{
    struct candidate *const candidates =
        with_room(builder->candidates, builder->count, &builder->capacity,
                  sizeof(*builder->candidates));
    if (!candidates)
        return false;
    builder->candidates = candidates;
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    struct candidate *const candidate = &candidates[builder->count];
    *candidate = (struct candidate){
        .first = row, .parent = parent, .bytes = r->bytes, .calls = r->calls};
    if (row != 0) {
        candidate->depth = candidates[parent].depth + 1;
        candidate->recent = candidates[parent].recent;
    }
    follow_chain(builder, candidate);
    const uint32_t child = builder->rows->tree[candidate->last].first_child;
    return add_visit(builder, child, (uint32_t)builder->count++);
}

static bool gather(struct builder *builder)
{
    if (!add_candidate(builder, 0, 0))
        return false;
    while (builder->visit_count > 0) {
        const struct visit visit = builder->visits[--builder->visit_count];
        /* The next sibling waits until all below this one was seen. */
        if (!add_visit(builder, builder->rows->tree[visit.row].next, visit.parent))
            return false;
        if (holds_enough(builder, visit.row) &&
            !add_candidate(builder, visit.row, visit.parent))
            return false;
    }
    return true;
}

/* --- Choose ------------------------------------------------------------------------ */

struct rank {
    uint64_t bytes;
    uint32_t candidate;
};

static int larger_first(const void *a, const void *b)
{
    const struct rank *const x = a, *const y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

static bool choose(struct builder *builder)
{
    const size_t most = builder->options.lines;
    struct rank *const ranks = calloc(builder->count, sizeof(*ranks));
    if (!ranks)
        return false;
    for (size_t i = 0; i < builder->count; i++)
        ranks[i] = (struct rank){builder->candidates[i].bytes, (uint32_t)i};
    qsort(ranks + 1, builder->count - 1, sizeof(*ranks), larger_first);
    for (size_t i = 0; i < builder->count; i++) /* the root, rank 0, is no line */
        builder->candidates[ranks[i].candidate].chosen = most == 0 || i <= most;
    free(ranks);

    for (size_t i = 1; i < builder->count; i++) {
        struct candidate *const parent =
            &builder->candidates[builder->candidates[i].parent];
        if (!builder->candidates[i].chosen && parent->chosen)
            parent->folded++;
    }
    return true;
}

/* --- Put out ----------------------------------------------------------------------- */

/* Add a line below candidate PARENT. */
static bool put_line(struct builder *builder, uint32_t parent, struct tide_branch line)
{
    struct tide_branches *const out = builder->out;
    struct candidate *const above = &builder->candidates[parent];
    struct tide_branch *const list =
        with_room(out->list, out->count, &builder->line_capacity, sizeof(*out->list));
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
static bool put_itself(struct builder *builder, uint32_t index)
{
    struct candidate *const c = &builder->candidates[index];
    const bool little = c->self_bytes < builder->least && c->folded > 0;
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
static bool is_out(const struct builder *builder, uint32_t index, uint32_t row)
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
static uint64_t count_left(const struct candidate *candidate)
{
    return candidate->folded + (candidate->self_calls > 0 && !candidate->itself_put);
}

/* The row that is all that is left of candidate INDEX; 0: there are others, or it
 * branches off inside the chain. */
static uint32_t only_folded(const struct builder *builder, uint32_t index)
{
    const struct candidate *const c = &builder->candidates[index];
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
static bool put_folded(struct builder *builder, uint32_t index, uint32_t row)
{
    const struct tide_tree_row *const tree = builder->rows->tree;
    struct candidate chain = {.first = row,
                              .bytes = tree[row].bytes,
                              .calls = tree[row].calls,
                              .recent = builder->candidates[index].recent};
    struct builder scale = *builder;
    if (chain.bytes < builder->least)
        scale.least = chain.bytes / 100 * builder->options.percent;
    follow_chain(&scale, &chain);
    const struct tide_tree_row *const last = &tree[chain.last];
    const bool whole =
        last->first_child == 0 || minus(last->bytes, last->self_bytes) < scale.least;
    uint32_t below;
    (void)count_children(builder, chain.last, &below);
    return put_line(builder, index,
                    (struct tide_branch){.kind = TIDE_BRANCH_CALLS,
                                         .first = row,
                                         .last = chain.last,
                                         .bytes = chain.bytes,
                                         .calls = chain.calls,
                                         .more = whole ? 0 : below});
}

/* All lines below candidate INDEX are out: add what it holds itself, and the rest. */
static bool put_rest(struct builder *builder, uint32_t index)
{
    const struct candidate *const c = &builder->candidates[index];
    if (!put_itself(builder, index))
        return false;
    const bool alone = c->line + 1 == builder->out->count;
    const uint64_t rest = minus(c->bytes, c->shown_bytes);
    if (c->folded == 0)
        return true;
    if (alone && index != 0) { /* a line for it would repeat the one above */
        builder->out->list[c->line].more = rest >= builder->least ? c->folded : 0;
        return true;
    }
    const uint32_t only = only_folded(builder, index);
    if (only)
        return put_folded(builder, index, only);
    const struct tide_branch line = {.kind = TIDE_BRANCH_MORE,
                                     .bytes = rest,
                                     .calls = minus(c->calls, c->shown_calls),
                                     .more = count_left(c)};
    return put_line(builder, index, line);
}

/* Close the candidates that are open and do not call NEXT. */
static bool close_until(struct builder *builder, uint32_t next)
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

static bool put_candidate(struct builder *builder, uint32_t index)
{
    struct candidate *const c = &builder->candidates[index];
    if (!close_until(builder, c->parent))
        return false;
    /* Larger lines stand above smaller ones, this one too. */
    if (builder->candidates[c->parent].self_bytes > c->bytes &&
        !put_itself(builder, c->parent))
        return false;
    c->line = (uint32_t)builder->out->count;
    builder->open[builder->open_count++] = index;
    return put_line(builder, c->parent,
                    (struct tide_branch){.kind = TIDE_BRANCH_CALLS,
                                         .first = c->first,
                                         .last = c->last,
                                         .bytes = c->bytes,
                                         .calls = c->calls});
}

static bool put_all(struct builder *builder)
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
    const uint64_t total = rows->tree[0].bytes; /* with a focus: what that has */
    struct builder builder = {.rows = rows, .options = options, .out = out};
    builder.least = total / 100 * options.percent + total % 100 * options.percent / 100;
    const bool built = gather(&builder) && choose(&builder) && put_all(&builder);
    free(builder.candidates);
    free(builder.visits);
    free(builder.open);
    if (!built)
        tide_branches_release(out);
    return built ? TIDE_OK : TIDE_ENOMEM;
}

static void exchange(uint64_t *one, uint64_t *other)
{
    const uint64_t kept = *one;
    *one = *other;
    *other = kept;
}

/* A tree that is sorted by calls is built as if these were its bytes. */
static enum tide_status build_by_calls(const struct tide_rows *rows,
                                       struct tide_branch_options options,
                                       struct tide_branches *out)
{
    struct tide_rows exchanged = *rows;
    *out = (struct tide_branches){0};
    exchanged.tree = calloc(rows->tree_count + 1, sizeof(*exchanged.tree));
    if (!exchanged.tree)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < rows->tree_count; i++) {
        struct tide_tree_row *const row = &exchanged.tree[i];
        *row = rows->tree[i];
        exchange(&row->bytes, &row->calls);
        exchange(&row->self_bytes, &row->self_calls);
    }
    const enum tide_status status = build(&exchanged, options, out);
    for (size_t i = 0; !status && i < out->count; i++)
        exchange(&out->list[i].bytes, &out->list[i].calls);
    free(exchanged.tree);
    return status;
}

enum tide_status tide_branches_build(const struct tide_rows *rows,
                                     struct tide_branch_options options,
                                     struct tide_branches *out)
{
    enum tide_status status = rows->sort == TIDE_SORT_CALLS
                                  ? build_by_calls(rows, options, out)
                                  : build(rows, options, out);
    if (!status && rows->sort == TIDE_SORT_NAME)
        status = tide_branches_by_name(rows, out);
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
