/* model/diff.h - what changed from one run to another, or from one moment to another.
 *
 * For: model/, view/, cli/, tests/.  Two models become one tree of calls that knows both:
 * stacks are the same when they go through the same functions, by name and by the base
 * name of their module.  Addresses, lines, builds and versions do not matter (see
 * diff_names.c).  Every sum is of both sides, so that in every shape the differences of
 * all rows add up to the difference of the totals.
 */
#ifndef TIDE_MODEL_DIFF_H
#define TIDE_MODEL_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/arena.h"
#include "model/intern.h"
#include "model/model.h"
#include "model/path.h"

enum tide_side {
    TIDE_SIDE_BASE,
    TIDE_SIDE_NEW,
    TIDE_SIDES,
};

/* What both sides have of something. */
struct tide_change {
    uint64_t bytes[TIDE_SIDES], calls[TIDE_SIDES];
};

/* NEW less BASE. */
static inline int64_t tide_change_bytes(const struct tide_change *change)
{
    return (int64_t)(change->bytes[TIDE_SIDE_NEW] - change->bytes[TIDE_SIDE_BASE]);
}
static inline int64_t tide_change_calls(const struct tide_change *change)
{
    return (int64_t)(change->calls[TIDE_SIDE_NEW] - change->calls[TIDE_SIDE_BASE]);
}

static inline void tide_change_add(struct tide_change *sum,
                                   const struct tide_change *more)
{
    for (int side = 0; side < TIDE_SIDES; side++) {
        sum->bytes[side] += more->bytes[side];
        sum->calls[side] += more->calls[side];
    }
}

enum tide_change_kind {
    TIDE_CHANGE_NONE, /* the same on both sides, perhaps nothing */
    TIDE_CHANGE_MORE, /* or less: on both sides, but not the same */
    TIDE_CHANGE_NEW,  /* BASE has nothing of it */
    TIDE_CHANGE_GONE, /* NEW has nothing of it */
};
enum tide_change_kind tide_change_kind(const struct tide_change *change);

/* A function of either side. */
struct tide_diff_function {
    const char *name;   /* "[module]" for what has no name there */
    const char *module; /* base name without version; "" when none */
    const char *file;   /* where it changed most, as NEW has it if it has it; NULL when
                           unknown */
    uint32_t line;
    struct tide_change self;      /* it is the innermost */
    struct tide_change inclusive; /* anywhere on the stack, counted once per stack */
    uint64_t seen;                /* bookkeeping: the last stack that had it */
    uint32_t own_lines, lines;    /* the same: its lines, of self and of all (+ 1) */
};

/* A function as it is called from one path; node 0 is the root, which is none. */
struct tide_diff_node {
    uint32_t function; /* of the root: UINT32_MAX */
    uint32_t caller;   /* node */
    const char *file;  /* of the call inside this function that changed most; NULL when
                          unknown */
    uint32_t line;
    uint32_t lines;          /* bookkeeping: all its lines (+ 1) */
    struct tide_change all;  /* with everything below */
    struct tide_change self; /* of stacks that end here */
    uint32_t stacks;         /* these (+ 1); 0: none */
    uint64_t weight;  /* how much changed: the sum of all differences of stacks that
                                end here or below, without their signs; in bytes */
    uint64_t changes; /* how many of those stacks changed */
    uint32_t rank;    /* its place among all nodes, heaviest first, callers before what
                         they call: the root has 0 */
    uint32_t fork;    /* the same, where those do not count in which all that changed is
                         below one call: they have the place of what comes next */
    uint32_t first_child, next; /* 0: none; heaviest first */
};

/* A line of a function, or of a node. */
struct tide_diff_line {
    const char *file; /* NULL when unknown */
    uint32_t line;
    uint32_t next; /* of the same function or node, + 1; 0: none */
    struct tide_change change;
};
struct tide_diff_lines {
    struct tide_diff_line *list; /* owned */
    size_t count, capacity;
};

/* A site of one side: all of a node are its stacks, which differ in lines at most. */
struct tide_diff_stack {
    uint32_t site; /* of the side's model */
    uint8_t side;
    uint32_t next; /* of the same node, + 1; 0: none */
};

/* Stacks that only one side has. */
struct tide_diff_one_sided {
    size_t count;
    uint64_t bytes, calls;
};

/* Which models, both symbolized, and what of them. */
struct tide_diff_request {
    const struct tide_model
        *models[TIDE_SIDES]; /* borrowed: they must outlive the diff */
    enum tide_metric metric;
    enum tide_space space;
    bool fold; /* library functions and wrappers of malloc count as their callers */
    const char *hide; /* so do functions and modules that this pattern means; or NULL */
    const bool *
        suppressed[TIDE_SIDES]; /* per site: leaks that do not count (model/suppress.h);
                                    or NULL */
};

struct tide_diff {
    struct tide_diff_request request; /* what it borrows must outlive the diff */
    enum tide_metric metric;
    enum tide_space space;
    struct tide_change total;
    struct tide_diff_function *functions; /* owned */
    size_t function_count, function_capacity;
    struct tide_diff_node *nodes; /* owned */
    size_t node_count, node_capacity;
    struct tide_diff_stack *stacks; /* owned: in the order in which they came */
    size_t stack_count, stack_capacity;
    uint32_t
        *flat; /* owned: functions that changed, by their own difference without its
                       sign, then by the inclusive one */
    size_t flat_count;
    uint32_t
        *sites; /* owned: nodes whose self changed, by their difference without sign */
    size_t site_count;
    struct tide_diff_one_sided added, gone;
    const char *program; /* interned: what the main program is called in BASE ... */
    const char *program_alias; /* ... and in NEW; NULL when unknown */

    /* While it is built. */
    struct tide_arena arena;    /* names */
    struct tide_intern strings; /* in the arena */
    uint32_t *function_slots;   /* owned: index + 1, by name and module */
    size_t function_mask;
    uint32_t *node_slots; /* owned: node of (caller, function), 0: none */
    size_t node_mask;
    struct tide_diff_lines lines;
};

enum tide_status tide_diff_build(const struct tide_diff_request *request,
                                 struct tide_diff **out);
void tide_diff_free(struct tide_diff *diff);

/* --- For diff.c: see diff_names.c, diff_lines.c and diff_order.c --- */

/* Find out what the main programs of both sides are called. */
enum tide_status tide_diff_name_programs(struct tide_diff *diff,
                                         const struct tide_diff_request *request);
/* What only NEW's program has is its, and not BASE's; when both sides were entered. */
enum tide_status tide_diff_name_new(struct tide_diff *diff);
/* The number of FUNCTION of SIDE, new or known. */
enum tide_status tide_diff_function(struct tide_diff *diff, enum tide_side side,
                                    const struct tide_function *function,
                                    uint32_t *out);
/* What SITE of one side has. */
struct tide_change tide_diff_amount(const struct tide_site *site,
                                    enum tide_metric metric, enum tide_side side);
/* AMOUNT goes through the line of CALL, one of those from *HEAD on. */
enum tide_status tide_diff_enter_line(struct tide_diff_lines *lines, uint32_t *head,
                                      const struct tide_call *call,
                                      const struct tide_change *amount);
/* The line from HEAD on that changed most; NULL when that cannot be said. */
const struct tide_diff_line *tide_diff_choose_line(const struct tide_diff_lines *lines,
                                                   uint32_t head);
/* All stacks are entered: which line of each function and node is to be shown? */
void tide_diff_choose_lines(struct tide_diff *diff);
/* The same: weigh, link and sort. */
enum tide_status tide_diff_order(struct tide_diff *diff);

#endif
