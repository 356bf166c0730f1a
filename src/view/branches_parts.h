/* view/branches_parts.h - internal: the lines of a call tree while they are chosen.
 *
 * For: view/branches*.c.
 */
#ifndef TIDE_VIEW_BRANCHES_PARTS_H
#define TIDE_VIEW_BRANCHES_PARTS_H

#include "view/branches.h"

enum { TIDE_RECENT = 8 }; /* functions that call each other in turn, at most */

/* The functions that a chain and its callers went through last. */
struct tide_branch_recent {
    uint32_t functions[TIDE_RECENT];
    size_t count; /* of all */
};

struct tide_branch_candidate {
    uint32_t first, last; /* rows of the chain; candidate 0 is the tree's root */
    uint32_t parent;      /* candidate */
    uint32_t line;        /* where it was put out */
    uint32_t depth;
    bool chosen;
    bool opened;     /* it is no line: its heaviest callee goes on from its start */
    bool beside;     /* its caller was opened, and it is not the heaviest callee */
    bool itself_put; /* its line of what it allocates itself is out */
    uint64_t bytes, calls; /* of the whole chain, everything below included */
    uint64_t weight;       /* of that: see tide_rows_weight() */
    struct tide_branch_recent recent;
    /* Rows beside the chain and too small below it, and those in it that keep some. */
    uint64_t folded;
    uint64_t self_bytes, self_calls;   /* see put_itself() */
    uint64_t shown_bytes, shown_calls; /* of the lines put out below it */
};

struct tide_branch_visit {
    uint32_t row, parent;
};

struct tide_branch_builder {
    const struct tide_rows *rows;
    struct tide_branch_options options;
    uint64_t least;                           /* what weighs less is folded */
    struct tide_branch_candidate *candidates; /* callers first */
    size_t count, capacity;
    struct tide_branch_visit *visits;
    size_t visit_count, visit_capacity;
    uint32_t *open; /* candidates whose lines are not complete, callers first */
    size_t open_count;
    struct tide_branches *out;
    size_t line_capacity;
};

/* Find all candidates, and choose those that become lines; false without memory. */
bool tide_branches_gather(struct tide_branch_builder *builder);
bool tide_branches_choose(struct tide_branch_builder *builder);

/* What CANDIDATE is, followed down from its first row as long as nothing of weight leaves
 * the chain. */
void tide_branches_follow(const struct tide_branch_builder *builder,
                          struct tide_branch_candidate *candidate);

/* Count the children of ROW: those that hold enough, and all that are not empty. */
uint32_t tide_branches_below(const struct tide_branch_builder *builder, uint32_t row,
                             uint32_t *all);

/* LIST, moved if need be, with room for one more entry of SIZE bytes; NULL without
 * memory, LIST is then as it was. */
void *tide_branches_room(void *list, size_t count, size_t *capacity, size_t size);

static inline uint64_t tide_branch_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

#endif
