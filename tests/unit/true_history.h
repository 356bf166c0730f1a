/* unit/true_history.h - random histories of whole programs, with all that is true of them.
 *
 * Processes with threads that enter and leave regions, allocate, name, move and free
 * blocks, map memory and end.  What the events mean is written down while they are made,
 * block by block; what stood at any event is then found by looking at every block.
 */
#ifndef TIDE_UNIT_TRUE_HISTORY_H
#define TIDE_UNIT_TRUE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "trace/event.h"
#include "trace/trace.h"

enum {
    TIDE_TRUE_EVENTS = 2500,
    TIDE_TRUE_STACKS = 24,
    TIDE_TRUE_PROCESSES = 3,
    TIDE_TRUE_LANES = 6, /* lane L is of process L % TIDE_TRUE_PROCESSES */
    TIDE_TRUE_NAMES = 4, /* of regions and of labels */
    TIDE_TRUE_DEEP = 5,
    TIDE_TRUE_NEVER = TIDE_TRUE_EVENTS, /* a death that does not come */
};

struct true_block {
    uint32_t space, process, thread, stack;
    uint32_t region; /* its path: the numbers of names, base 8; 0: none */
    uint32_t label;  /* 0: none */
    uint64_t address, size;
    size_t birth, death; /* events */
    bool temporary;
    uint32_t freed_by; /* thread; 0: nobody, or realloc */
    bool moving;
    bool moved;      /* made by realloc ... */
    uint64_t grown;  /* ... out of a block that was so much smaller ... */
    bool crept;      /* ... and that is less than a sixteenth of it */
    uint64_t copied; /* bytes, when it crept to another address */
};

struct true_lane {
    uint32_t thread; /* as its THREAD_BEGIN names it; 0: none yet */
    uint32_t regions[TIDE_TRUE_DEEP];
    uint32_t depth;
    size_t newest; /* block + 1 */
    size_t moving; /* block + 1 */
};

struct true_history {
    uint64_t random;
    struct tide_event events[TIDE_TRUE_EVENTS];
    size_t count;
    struct true_block blocks[TIDE_TRUE_EVENTS];
    size_t block_count;
    struct true_lane lanes[TIDE_TRUE_LANES];
    struct tide_process processes[TIDE_TRUE_PROCESSES];
    uint32_t stacks[TIDE_TRUE_STACKS]; /* nodes, by the user */
    uint32_t thread_count;
    uint64_t mismatches, unmatched_labels, moves;
};

/* Fill HISTORY, whose stacks are set.  LABELS: blocks get names. */
void true_history_make(struct true_history *history, uint64_t seed, bool labels);

/* Does BLOCK stand after event AT? */
bool true_stands(const struct true_history *history, const struct true_block *block,
                 size_t at);
/* Does BLOCK count in METRIC, when the peak is after the event PEAK? */
bool true_counts(const struct true_history *history, const struct true_block *block,
                 enum tide_metric metric, size_t peak);
/* The event after which SPACE stands highest, the first of them. */
size_t true_peak(const struct true_history *history, uint32_t space);

/* For tide_account_setup: "r1".."r4", "l1".."l4"; numbers differ by process. */
const char *true_name(const void *user, uint32_t process, uint64_t id);

#endif
