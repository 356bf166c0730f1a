/* model/told.h - what a program told of itself: regions, loops, labels, call by call.
 *
 * For: model/, view/, cli/, tests/.  A walk of its own through the trace (see
 * block_stream.h), for reports that show it.  Live bytes are those of the process's heap,
 * as asked for.
 */
#ifndef TIDE_MODEL_TOLD_H
#define TIDE_MODEL_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

/* Numbers of one kind. */
struct tide_spread {
    uint64_t count, sum;
    uint64_t least, most; /* 0 when there are none */
    double squares;       /* of the distances from `about`, the first number */
    double distance;      /* sum of these */
    uint64_t about;
};
void tide_spread_add(struct tide_spread *spread, uint64_t value);
double tide_spread_mean(const struct tide_spread *spread);
/* Of the sample (n - 1); 0 below two numbers. */
double tide_spread_deviation(const struct tide_spread *spread);

/* A region, by its path.  Row 0 is what is in no region. */
struct tide_told_region {
    uint32_t around;       /* row; 0: none */
    uint32_t inside, next; /* rows: the first in it, the next beside it; 0: none */
    uint32_t depth;        /* 1: outermost */
    const char *name;
    bool loop, phase;
    uint64_t visits;
    uint64_t window_visits; /* of these, in windows of timemory */
    uint64_t calls, bytes;  /* that allocated, not in a region inside it */
    uint64_t inclusive_calls, inclusive_bytes;
    uint64_t entry_bytes, exit_bytes; /* live at the first entry and the last exit */
    int64_t delta_bytes; /* what visitors made there less what they freed, together */
    uint64_t peak_bytes; /* the highest live bytes while somebody was in it */
    /* Of a loop: what the process allocated in an iteration, and how much of that (at
     * most) it kept. */
    struct tide_spread iteration_calls, iteration_bytes;
    int64_t iteration_kept_bytes; /* all iterations together */
};

/* How often a label was given to a block of a size. */
enum { TIDE_TOLD_DIMENSIONS = 8 };
struct tide_told_shape {
    uint64_t element_bytes; /* 0: the program told no shape */
    uint32_t dimensions;
    uint64_t extents[TIDE_TOLD_DIMENSIONS]; /* slowest first */
};
struct tide_told_label {
    const char *label;
    struct tide_told_shape shape; /* the last that the label was given with this size */
    uint64_t size;
    uint64_t blocks;
    uint64_t moved; /* of these, made by realloc of such a block */
};

/* What a function did in a region. */
enum { TIDE_TOLD_FREE = 31 };
struct tide_told_call {
    uint32_t region; /* row */
    uint32_t kind;   /* enum tide_alloc_kind, or TIDE_TOLD_FREE */
    struct tide_spread sizes;
    struct tide_spread in_windows; /* of timemory */
};

/* Memory that the program's own allocator gave out.  It lies in other blocks: it is shown
 * beside them, and never added to them. */
struct tide_told_pool {
    const char *name;
    uint64_t calls, bytes; /* given out */
    uint64_t free_calls;
    uint64_t live_blocks, live_bytes; /* at the end */
    uint64_t peak_bytes;
    uint64_t unmatched_frees;
};
/* What one pool gave out under one label, out of blocks of one kind. */
struct tide_told_piece {
    uint32_t pool;     /* index */
    const char *label; /* "": none */
    uint64_t calls, bytes;
    uint64_t live_blocks, live_bytes;
    bool held;                /* by a block of the heap that is known: */
    const char *holder_label; /* "": none */
    uint32_t holder_stack;    /* where it was made */
    uint64_t holder_bytes;    /* of the largest such block */
};

struct tide_told {
    struct tide_told_pool *pools; /* owned, as they first came */
    size_t pool_count;
    struct tide_told_piece *pieces; /* owned, by pool */
    size_t piece_count;
    struct tide_told_region *regions; /* owned */
    size_t region_count;
    struct tide_told_label *labels; /* owned; by blocks, most first */
    size_t label_count;
    struct tide_told_call *calls; /* owned; by region, then kind */
    size_t call_count;
    bool has_windows;         /* of timemory: only what they saw is in its table */
    const char *memory_units; /* as the program has set timemory's; NULL: it did not */
    void *private_state;
};

/* MODEL must outlive what is given out; the caller gives it back. */
enum tide_status tide_told_build(struct tide_model *model, struct tide_told **out);
void tide_told_free(struct tide_told *told);

/* What of CALL is in timemory's table: all, or what windows of timemory saw. */
const struct tide_spread *tide_told_counted(const struct tide_told *told,
                                            const struct tide_told_call *call);

/* "malloc", "free". */
const char *tide_told_kind(uint32_t kind);

#endif
