/* model/bad_frees.h - frees of what is no block: freed before, or never returned.
 *
 * For: model/, cli/, tests/.  The account keeps the first frees that matched no block; a
 * second walk through the trace, for them alone, tells what had stood at their addresses.
 */
#ifndef TIDE_MODEL_BAD_FREES_H
#define TIDE_MODEL_BAD_FREES_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

enum tide_bad_free_kind {
    TIDE_FREED_TWICE,   /* a block stood there and had been freed */
    TIDE_FREED_INSIDE,  /* a live block is around it */
    TIDE_FREED_UNKNOWN, /* nothing is known of this address */
};

/* Frees of one address, as the first of them found it. */
struct tide_bad_free {
    enum tide_bad_free_kind kind;
    uint32_t process;
    uint64_t address, calls;
    uint64_t ticks;             /* of the free */
    uint32_t stack;             /* of it; 0: not recorded */
    uint64_t block_start, size; /* of the block, in bytes asked for */
    uint32_t made_stack;        /* 0: no block is known */
    uint64_t freed_ticks;       /* TWICE: the free before, ... */
    uint32_t freed_stack;       /* ... 0: not recorded */
};

struct tide_bad_frees {
    struct tide_bad_free list[TIDE_UNMATCHED_KEPT]; /* in the order of their frees */
    size_t count;
};

/* Find what the frees were that MODEL has kept.  Nothing is said of a trace that has holes,
 * since then the block's own call may be in one.  Tells the honesty of MODEL how many were
 * double.  Walks through the trace. */
enum tide_status tide_bad_frees_find(struct tide_model *model,
                                     struct tide_bad_frees *out);

#endif
