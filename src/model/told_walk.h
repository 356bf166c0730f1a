/* model/told_walk.h - internal: the walk that finds out what a program told.
 *
 * For: told*.c.
 */
#ifndef TIDE_MODEL_TOLD_WALK_H
#define TIDE_MODEL_TOLD_WALK_H

#include "model/context.h"
#include "model/told.h"
#include "trace/event.h"

/* A thread, or (phases) a process, is in a region. */
struct tide_visit {
    uint32_t region;
    uint32_t depth; /* of the trail with it */
    bool loop, iterating;
    uint64_t entry, peak;                      /* live bytes */
    uint64_t iteration_live;                   /* where the iteration began */
    uint64_t iteration_calls, iteration_bytes; /* of the process, ever, by then */
};

struct tide_visits {
    struct tide_visit list[TIDE_REGIONS_DEEP];
    uint32_t count;
};

struct tide_told_lane {
    struct tide_where where;
    struct tide_visits visits;
    uint32_t process;
    bool known;
};

struct tide_told_process {
    struct tide_phases phases;
    struct tide_visits visits; /* of phases */
    uint64_t live, high;       /* now, and at most since the last mark */
    uint64_t calls, bytes;     /* allocated, ever */
};

struct tide_told_walk {
    struct tide_model *model;
    struct tide_told *told;
    struct tide_contexts contexts;       /* of regions only */
    struct tide_told_lane *lanes;        /* owned */
    struct tide_told_process *processes; /* owned */
    size_t region_capacity, label_capacity, call_capacity;
    struct tide_pairs labels; /* (text, size) */
    struct tide_pairs calls;  /* (region, kind) */
};

/* The row of REGION; NULL without memory. */
struct tide_told_region *tide_told_row(struct tide_told_walk *walk, uint32_t region);

/* An EXTRA event: regions are entered and left. */
enum tide_status tide_told_mark(struct tide_told_walk *walk,
                                const struct tide_event *event);
/* Where LANE is; makes it known. */
struct tide_told_lane *tide_told_lane(struct tide_told_walk *walk, uint32_t lane,
                                      uint32_t process);
/* Nothing comes any more: all visits end. */
void tide_told_leave_all(struct tide_told_walk *walk);

#endif
