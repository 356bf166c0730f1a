/* view/branches.h - which lines of a call tree are worth showing, and in what order.
 *
 * For: view/, tests/.  A call tree as it is has hundreds of levels of which most have
 * one child, and thousands of branches of which most weigh nothing.  A branch here is a
 * chain of calls without a fork that matters: it goes on while one child holds all but
 * less than the least share, and half of the calls; along a recursion, while no single turn
 * keeps much.  What is not shown is summed up, so that the lines of a parent always add up
 * to it.  Where lines are few a branch is a path: it holds what its last function does, and
 * what leaves the path before stands beside it.
 */
#ifndef TIDE_VIEW_BRANCHES_H
#define TIDE_VIEW_BRANCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

enum tide_branch_kind {
    TIDE_BRANCH_CALLS,  /* a chain of calls */
    TIDE_BRANCH_ITSELF, /* what the last function of the chain above allocates itself */
    TIDE_BRANCH_MORE,   /* branches that are not shown, summed up */
};

#define TIDE_NO_BRANCH UINT32_MAX

/* One line.  Lines stand in the order in which they are printed. */
struct tide_branch {
    enum tide_branch_kind kind;
    uint32_t first, last; /* CALLS: the chain, from row first down first children */
    uint32_t parent;      /* line of the caller, TIDE_NO_BRANCH for none */
    uint32_t depth;       /* 0: no caller */
    bool is_last;         /* of its parent's lines */
    bool beside; /* CALLS: further calls lead from its parent to it, which the lines
                             of its neighbours name */
    uint64_t bytes, calls;
    uint64_t
        more; /* MORE: how many branches; CALLS: how many that have no line below */
};

struct tide_branches {
    struct tide_branch *list; /* owned */
    size_t count;
    uint32_t depth; /* of the deepest line */
};

struct tide_branch_options {
    size_t lines; /* CALLS lines at most, the largest first; 0: all.  One that is left
                         out alone has its line too */
    unsigned percent; /* what holds less is folded; 0: nothing is */
    bool chains;      /* false: each row is a branch of its own (for JSON) */
    bool opens; /* what holds hardly more than what it calls is no line of its own */
};

enum tide_status tide_branches_build(const struct tide_rows *rows,
                                     struct tide_branch_options options,
                                     struct tide_branches *out);
/* Put the lines that have one parent in the order of the rows: by weight, that of the rest
 * last; or by the names of their first functions, the one of what the parent allocates itself
 * before the last. */
enum tide_status tide_branches_sort(const struct tide_rows *rows,
                                    struct tide_branches *branches);
void tide_branches_release(struct tide_branches *branches);

#endif
