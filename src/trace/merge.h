/* trace/merge.h - all lanes of a trace, in one order that could have happened.
 *
 * For: trace/, tests/.  The rule is in format.h ("Order across lanes"), its proof in
 * docs/internals/order.md.
 */
#ifndef TIDE_TRACE_MERGE_H
#define TIDE_TRACE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/lane_in.h"

enum tide_merge_state {
    TIDE_LANE_BEHIND_GATE, /* waits until its process takes numbers */
    TIDE_LANE_READY,
    TIDE_LANE_PARKED, /* its next event's number has not come up */
    TIDE_LANE_ENDED,
};

struct tide_merge_lane {
    struct tide_lane_in in;
    uint64_t key; /* ticks of its next event; before it began: of its first chunk */
    uint8_t state;
    bool begun;
    uint32_t gate_at;     /* index in its stretch of the event that opens the gate */
    uint32_t place;       /* in the heap it is in */
    uint32_t slot;        /* parked: where */
    uint32_t next_waiter; /* parked: in the same bucket of waiters */
};

/* Lanes by key, smallest first. */
struct tide_lane_heap {
    uint32_t *lanes; /* borrowed */
    uint32_t count;
};

struct tide_merge_process {
    uint32_t first_lane, lane_count; /* in tide_merge.lanes */
    uint32_t ready, live;            /* lanes that are READY; that have not ended */
    bool gate_open;
    struct tide_lane_heap parked;
    uint16_t *counts;  /* owned: per slot, NULL until an event counts */
    uint32_t *waiters; /* owned: by slot and number waited for, the first parked lane */
    uint32_t waiter_mask;
};

struct tide_merge {
    struct tide_merge_lane *lanes; /* owned */
    uint32_t lane_count;
    struct tide_merge_process *processes; /* owned: by number of the process */
    uint32_t process_count;
    struct tide_lane_heap ready;
    uint32_t *heap_room; /* owned: for all heaps */
    uint32_t current;    /* lane that is giving events; TIDE_NO_LANE: none */
    uint64_t patience;   /* ticks after which a number is not waited for any longer */
    uint64_t reordered;  /* events taken although their number had not come up */
    bool usual;          /* the last events: no MAP, no EXTRA, a SPAN only in front */
};

#define TIDE_NO_LANE UINT32_MAX

/* SOURCE is borrowed and outlives the merge. */
enum tide_status tide_merge_init(struct tide_merge *merge,
                                 struct tide_lane_source *source);
void tide_merge_release(struct tide_merge *merge);

/* The next events, all of one lane, MAX of them at most.  *EVENTS is borrowed, and good
 * until the next call; *COUNT is 0 at the end. */
enum tide_status tide_merge_next(struct tide_merge *merge, size_t max,
                                 const struct tide_event **events, size_t *count);

/* --- For replay_state.c, which puts a merge back to where it was --- */

/* Room for the counts of PROCESS's slots. */
enum tide_status tide_merge_need_slots(struct tide_merge_process *process);
/* The stretch in hand of lane NUMBER is new: see whether it opens the gate. */
void tide_merge_look_for_gate(struct tide_merge *merge, uint32_t number);
/* Put every lane that is READY into the heap, and count them. */
void tide_merge_fill_heap(struct tide_merge *merge);

#endif
