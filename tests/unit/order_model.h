/* unit/order_model.h - random programs with threads, and what their traces must say.
 *
 * A simulated program allocates, frees and reallocates through a simulated allocator that
 * uses its few addresses again and again.  Its threads go on in random turns; what is one
 * call in a real program takes several turns here (the real malloc, then the record; the
 * record, then the real free), with other threads and signal handlers in between.  Slots
 * are stepped at the turn in which the recorder would.  What really happened is logged,
 * so that the events that a reader gives can be held against it.
 */
#ifndef TIDE_UNIT_ORDER_MODEL_H
#define TIDE_UNIT_ORDER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace_builder.h"

enum {
    TIDE_MODEL_ADDRESSES = 64,
    TIDE_MODEL_LANES = 4400,
};

struct tide_program_options {
    uint32_t seed;
    uint32_t threads;   /* alive at once, at most */
    uint32_t turns;     /* of all threads together */
    uint32_t addresses; /* that the allocator has, at most TIDE_MODEL_ADDRESSES */
    uint64_t skew;      /* ticks by which a thread's clock may be wrong */
    uint32_t nap;       /* ticks in which nothing happens, now and then */
    bool crowd;         /* start all threads first */
    bool kill;          /* end by a kill that tears a record */
    bool strip_numbers; /* what a trace without numbers would look like */
    bool regions;       /* the program says where it is, and names blocks */
};

/* What one event really was. */
struct tide_truth {
    uint8_t kind; /* enum tide_event_kind */
    uint64_t address;
    uint32_t block;  /* which block it was about */
    uint64_t moment; /* of its step; rises over all lanes */
    bool on_slot;
};

struct tide_truths {
    struct tide_truth *items; /* owned */
    size_t count, capacity;
};

struct tide_history {
    struct tide_builder *builder; /* owned: the trace */
    struct tide_truths *lanes;    /* owned: TIDE_MODEL_LANES of them */
    uint32_t lane_count;
    size_t before_gate; /* events of lane 0 before it took numbers */
    size_t events;      /* of all lanes, without what the kill tore */
    size_t nested;      /* of them, how many were signal handlers' */
    size_t moves, reused_lanes;
    bool gate; /* there was a second thread */
};

/* Let a program run.  The caller releases the history. */
void tide_history_run(const struct tide_program_options *options,
                      struct tide_history *history);
void tide_history_release(struct tide_history *history);

/* What a reader made of it. */
struct tide_verdict {
    size_t wrong_pairs; /* frees of another block, births where a block lives */
    size_t wrong_lane;  /* events that are not the next of their lane */
    size_t wrong_slot;  /* events before an earlier one of their slot */
    size_t wrong_gate;  /* of other lanes, before lane 0 had come to the gate */
    size_t missing;     /* events that never came */
    uint64_t reordered, lost;
};
void tide_history_judge(const struct tide_history *history, struct tide_verdict *out);

#endif
