/* model/stack_counts.h - what each stack did to the heap, of one process or of all.
 *
 * For: model/, view/, tests/.  A walk of its own through the trace (see block_stream.h), for
 * who wants the blocks that live one by one, and sums by process.
 */
#ifndef TIDE_MODEL_STACK_COUNTS_H
#define TIDE_MODEL_STACK_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

struct tide_stack_count {
    uint64_t calls, bytes; /* allocated, ever */
    uint64_t largest;      /* of these calls */
    uint64_t live_blocks, live_bytes;
    uint64_t high_bytes;              /* the most that it held at a time */
    uint64_t peak_blocks, peak_bytes; /* when the heap, or PROCESS's, stood highest */
    uint64_t peak_mark;               /* bookkeeping: as of which peak these are */
    size_t first_block;               /* the first of live_blocks in `blocks` */
};

struct tide_live_block {
    uint64_t address, size;
    uint32_t stack; /* node */
};

struct tide_stack_counts {
    struct tide_stack_count *of; /* owned; by node */
    uint32_t count;
    struct tide_live_block *blocks; /* owned; by node, then as they were born */
    size_t block_count, block_capacity;
};

#define TIDE_ALL_PROCESSES UINT32_MAX

/* Of PROCESS, an index into the trace's, or of all. */
enum tide_status tide_stack_counts_build(struct tide_model *model, uint32_t process,
                                         const struct tide_progress *progress,
                                         struct tide_stack_counts *out);
void tide_stack_counts_release(struct tide_stack_counts *counts);

#endif
