/* view/branches_gather.c - the chains of a call tree that hold enough, and which of them
 * become lines.
 *
 * Invariant: a candidate's caller stands before it and holds at least as much, so the
 * largest candidates always hang together.
 */
#include <stdlib.h>

#include "view/branches_parts.h"

enum {
    TIDE_TURNS = 20, /* what one function of a recursion keeps is less than that part */
    TIDE_OPENED = 10 /* what a callee leaves of a line that goes on as its is less */
};

void *tide_branches_room(void *list, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return list;
    const size_t wanted = *capacity ? *capacity * 2 : 64;
    void *const moved = reallocarray(list, wanted, size);
    if (moved)
        *capacity = wanted;
    return moved;
}

/* --- Gather ------------------------------------------------------------------------ */

static uint64_t weight_of(const struct tide_branch_builder *builder, uint32_t row)
{
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    return tide_rows_weight(builder->rows, r->bytes, r->calls);
}

static uint64_t self_weight_of(const struct tide_branch_builder *builder, uint32_t row)
{
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    return tide_rows_weight(builder->rows, r->self_bytes, r->self_calls);
}

static bool holds_enough(const struct tide_branch_builder *builder, uint32_t row)
{
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    return weight_of(builder, row) >= builder->least && (r->bytes > 0 || r->calls > 0);
}

uint32_t tide_branches_below(const struct tide_branch_builder *builder, uint32_t row,
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
 * than the least share of its weight must, and half of its calls: else one line would say
 * of CHILD what others called. */
static bool goes_on(const struct tide_branch_builder *builder,
                    const struct tide_branch_candidate *candidate, uint32_t row,
                    uint32_t child)
{
    const struct tide_tree_row *const next = &builder->rows->tree[child];
    const uint64_t weight = weight_of(builder, child);
    return builder->options.chains && row != 0 &&
           (weight == candidate->weight ||
            tide_branch_minus(candidate->weight, weight) < builder->least) &&
           next->calls >= candidate->calls - next->calls;
}

static void note_function(const struct tide_branch_builder *builder,
                          struct tide_branch_recent *recent, uint32_t row)
{
    if (row != 0)
        recent->functions[recent->count++ % TIDE_RECENT] =
            builder->rows->tree[row].function;
}

/* Does CANDIDATE, which has come to ROW and has KEPT so much itself, go on to CHILD, the
 * heaviest below, as functions do that call each other in turn?  Each may keep a little: a
 * line for each would be stairs.  What branches off weighs nothing, as in other chains. */
static bool recurs(const struct tide_branch_builder *builder,
                   const struct tide_branch_candidate *candidate, uint32_t row,
                   uint32_t child, uint64_t kept)
{
    const struct tide_branch_recent *const recent = &candidate->recent;
    const struct tide_tree_row *const here = &builder->rows->tree[row];
    const struct tide_tree_row *const next = &builder->rows->tree[child];
    const uint64_t turn = candidate->weight / TIDE_TURNS;
    bool again = false;
    for (size_t i = 0; i < recent->count && i < TIDE_RECENT; i++)
        again |= recent->functions[i] == next->function;
    return again && builder->options.chains && row != 0 &&
           self_weight_of(builder, row) <
               (builder->least > turn ? builder->least : turn) &&
           tide_branch_minus(candidate->weight, kept + weight_of(builder, child)) <
               builder->least &&
           next->calls >= here->calls - next->calls;
}

void tide_branches_follow(const struct tide_branch_builder *builder,
                          struct tide_branch_candidate *candidate)
{
    const struct tide_tree_row *const tree = builder->rows->tree;
    uint64_t bytes = 0, calls = 0; /* of the chain but for its last function ... */
    uint64_t kept = 0;             /* ... and what they weigh */
    bool recursive = false;
    uint32_t row = candidate->first;
    uint64_t passed = 0; /* functions of the chain that allocate themselves */
    candidate->folded = 0;
    for (;;) {
        uint32_t all;
        const uint32_t enough = tide_branches_below(builder, row, &all);
        const uint32_t child = tree[row].first_child;
        note_function(builder, &candidate->recent, row);
        candidate->folded += all - enough;
        const bool chain = enough == 1 && goes_on(builder, candidate, row, child);
        const bool turn =
            !chain && (enough == 1 || (enough == 0 && all == 1)) &&
            recurs(builder, candidate, row, child, kept + self_weight_of(builder, row));
        if (!chain && !turn)
            break;
        if (enough == 0)
            candidate->folded--; /* a recursion goes on to its end */
        recursive |= turn;
        passed += tree[row].self_calls > 0;
        bytes += tree[row].self_bytes;
        calls += tree[row].self_calls;
        kept += self_weight_of(builder, row);
        row = child;
    }
    candidate->last = row;
    candidate->self_bytes = tree[row].self_bytes + (recursive ? bytes : 0);
    candidate->self_calls = tree[row].self_calls + (recursive ? calls : 0);
    candidate->folded += recursive ? 0 : passed;
}

static bool add_visit(struct tide_branch_builder *builder, uint32_t row,
                      uint32_t parent)
{
    if (row == 0)
        return true;
    struct tide_branch_visit *const visits =
        tide_branches_room(builder->visits, builder->visit_count,
                           &builder->visit_capacity, sizeof(*builder->visits));
    if (!visits)
        return false;
    builder->visits = visits;
    builder->visits[builder->visit_count++] = (struct tide_branch_visit){row, parent};
    return true;
}

static bool add_candidate(struct tide_branch_builder *builder, uint32_t row,
                          uint32_t parent)
{
    struct tide_branch_candidate *const candidates =
        tide_branches_room(builder->candidates, builder->count, &builder->capacity,
                           sizeof(*builder->candidates));
    if (!candidates)
        return false;
    builder->candidates = candidates;
    const struct tide_tree_row *const r = &builder->rows->tree[row];
    struct tide_branch_candidate *const candidate = &candidates[builder->count];
    *candidate = (struct tide_branch_candidate){
        .first = row,
        .parent = parent,
        .bytes = r->bytes,
        .calls = r->calls,
        .weight = weight_of(builder, row),
    };
    if (row != 0)
        candidate->recent = candidates[parent].recent;
    tide_branches_follow(builder, candidate);
    const uint32_t child = builder->rows->tree[candidate->last].first_child;
    return add_visit(builder, child, (uint32_t)builder->count++);
}

/* Does candidate INDEX hold hardly more than its heaviest callee, which is the next one? */
static bool hides_one(const struct tide_branch_builder *builder, uint32_t index)
{
    const struct tide_branch_candidate *const c = &builder->candidates[index];
    const struct tide_branch_candidate *const next = c + 1;
    return index > 0 && index + 1 < builder->count && next->parent == index &&
           tide_branch_minus(c->weight, next->weight) <= c->weight / TIDE_OPENED;
}

/* Stairs of lines that hold nearly the same say less than what stands at their foot: a
 * candidate like that is no line.  Its heaviest callee goes on from its start, with its own
 * numbers; the others stand beside that one, and what is left is left of the caller. */
static void open_stairs(struct tide_branch_builder *builder)
{
    for (uint32_t i = 1; i < builder->count; i++) {
        struct tide_branch_candidate *const c = &builder->candidates[i];
        const struct tide_branch_candidate *above = &builder->candidates[c->parent];
        if (above->opened) {
            const bool heaviest = c->parent + 1 == i;
            c->first = heaviest ? above->first : c->first;
            c->beside = heaviest ? above->beside : true;
            c->parent = above->parent;
            above = &builder->candidates[c->parent];
        }
        c->depth = above->depth + 1;
        c->opened = builder->options.opens && hides_one(builder, i);
        if (c->opened)
            builder->candidates[c->parent].folded += c->folded + (c->self_calls > 0);
    }
}

bool tide_branches_gather(struct tide_branch_builder *builder)
{
    if (!add_candidate(builder, 0, 0))
        return false;
    while (builder->visit_count > 0) {
        const struct tide_branch_visit visit = builder->visits[--builder->visit_count];
        /* The next sibling waits until all below this one was seen. */
        if (!add_visit(builder, builder->rows->tree[visit.row].next, visit.parent))
            return false;
        if (holds_enough(builder, visit.row) &&
            !add_candidate(builder, visit.row, visit.parent))
            return false;
    }
    open_stairs(builder);
    return true;
}

/* --- Choose ------------------------------------------------------------------------ */

struct rank {
    uint64_t weight;
    uint32_t candidate;
};

static int larger_first(const void *a, const void *b)
{
    const struct rank *const x = a, *const y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

bool tide_branches_choose(struct tide_branch_builder *builder)
{
    const size_t most = builder->options.lines;
    struct rank *const ranks = calloc(builder->count, sizeof(*ranks));
    if (!ranks)
        return false;
    size_t lines = 0;
    for (size_t i = 1; i < builder->count; i++)
        if (!builder->candidates[i].opened)
            ranks[lines++] = (struct rank){builder->candidates[i].weight, (uint32_t)i};
    qsort(ranks, lines, sizeof(*ranks), larger_first);
    builder->candidates[0].chosen = true; /* the root, which is no line */
    for (size_t i = 0; i < lines; i++)
        builder->candidates[ranks[i].candidate].chosen = most == 0 || i < most;
    free(ranks);

    for (size_t i = 1; i < builder->count; i++) {
        struct tide_branch_candidate *const parent =
            &builder->candidates[builder->candidates[i].parent];
        if (!builder->candidates[i].chosen && !builder->candidates[i].opened &&
            parent->chosen)
            parent->folded++;
    }
    return true;
}
