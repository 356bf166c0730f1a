/* model/told_walk.h - internal: the walk that finds out what a program told.
 *
 * For: told*.c.
 */
#ifndef TIDE_MODEL_TOLD_WALK_H
#define TIDE_MODEL_TOLD_WALK_H

#include "model/context.h"
#include "model/life_table.h"
#include "model/ranges.h"
#include "model/told.h"
#include "trace/event.h"

/* A thread, or (phases) a process, is in a region. */
struct tide_visit {
    uint32_t region;
    uint32_t depth; /* of the trail with it */
    bool loop, iterating;
    bool in_window;                            /* of timemory */
    uint64_t entry, peak;                      /* live bytes */
    uint64_t kept;                             /* by who visits, before it did */
    uint64_t iteration_live;                   /* where the iteration began */
    uint64_t iteration_calls, iteration_bytes; /* of the process, ever, by then */
};

struct tide_visits {
    struct tide_visit list[TIDE_REGIONS_DEEP];
    uint32_t count;
    uint64_t kept; /* bytes that the thread, or the process, made less those it freed */
};

struct tide_told_lane {
    struct tide_where where;
    struct tide_visits visits;
    uint32_t process;
    bool known;
};

/* A block of the heap that may hold blocks of pools. */
struct tide_holder {
    uint64_t bytes;
    const char *label; /* "": none */
    uint32_t stack;
    uint32_t spare; /* the next unused one, + 1 */
};

/* The blocks of one pool in one process. */
struct tide_told_given {
    uint32_t process, pool;
    struct tide_ranges ranges; /* tag: piece */
};

struct tide_told_process {
    struct tide_ranges heap; /* tag: holder; only when there are pools */
    struct tide_phases phases;
    struct tide_visits visits; /* of phases */
    bool begun;                /* it has done something */
    uint32_t windows;          /* of timemory that are open */
    uint64_t live, high;       /* now, and at most since the last mark */
    uint64_t calls, bytes;     /* allocated, ever */
};

struct tide_told_walk {
    struct tide_model *model;
    struct tide_told *told;
    struct tide_contexts contexts;       /* of regions only */
    struct tide_told_lane *lanes;        /* owned */
    struct tide_told_process *processes; /* owned */
    struct tide_pairs begun;             /* (pid, birth) of processes */
    uint32_t *begun_processes;           /* owned; by its numbers */
    size_t region_capacity, label_capacity, call_capacity;
    struct tide_pairs labels;       /* (text, size) */
    struct tide_pairs calls;        /* (region, kind) */
    struct tide_told_shape *shapes; /* owned */
    size_t shape_capacity;
    struct tide_pairs shape_of;  /* (process, address): the shape of the block there */
    bool pools;                  /* the trace has some */
    struct tide_holder *holders; /* owned */
    size_t holder_count, holder_capacity;
    uint32_t spare_holder;          /* index + 1; 0: none */
    struct tide_pairs pool_names;   /* (text, 0): the pool */
    struct tide_pairs givens_of;    /* (process, pool) */
    struct tide_told_given *givens; /* owned */
    struct tide_pairs holder_kinds; /* (stack, label) */
    struct tide_pairs piece_kinds;  /* (pool << 32 | holder kind + 1, label) */
    size_t pool_capacity, piece_capacity, given_capacity;
};

/* The one copy of a name of PROCESS; "" for 0; NULL without memory. */
const char *tide_told_text(struct tide_told_walk *walk, uint32_t process, uint64_t id);

/* For pools: a block of the heap is there, or is gone; an EXTRA event comes. */
enum tide_status tide_told_holder_born(struct tide_told_walk *walk,
                                       const struct tide_life *life);
void tide_told_holder_dies(struct tide_told_walk *walk, uint32_t process,
                           uint64_t address);
enum tide_status tide_told_pool_mark(struct tide_told_walk *walk,
                                     const struct tide_event *event);
/* Pieces of one pool side by side, as they came. */
enum tide_status tide_told_sort_pieces(struct tide_told *told);
/* Give back what the pools took. */
void tide_told_pools_release(struct tide_told_walk *walk);

/* The row of REGION; NULL without memory. */
struct tide_told_region *tide_told_row(struct tide_told_walk *walk, uint32_t region);

/* An EXTRA event: regions are entered and left. */
enum tide_status tide_told_mark(struct tide_told_walk *walk,
                                const struct tide_event *event);
/* PROCESS begins: a forked one is in the windows that its parent is in. */
void tide_told_windows_inherit(struct tide_told_walk *walk, uint32_t process);
/* For timemory's table: a window opens or closes, or a setting changes. */
enum tide_status tide_told_window_mark(struct tide_told_walk *walk,
                                       const struct tide_event *event);
/* Where LANE is; makes it known. */
struct tide_told_lane *tide_told_lane(struct tide_told_walk *walk, uint32_t lane,
                                      uint32_t process);
/* Nothing comes any more: all visits end. */
void tide_told_leave_all(struct tide_told_walk *walk);

#endif
