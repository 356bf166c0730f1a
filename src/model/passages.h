/* model/passages.h - from where blocks are made to where they are freed.
 *
 * For: model/, view/, cli/, tests/.  A walk of its own through the trace (see
 * block_stream.h), for who asks for it; memory is for live blocks and distinct pairs.
 * realloc does not free: what it moved was made where realloc was called, as everywhere in
 * the model, and is freed at the end of its chain.  realloc(p, 0) frees.
 */
#ifndef TIDE_MODEL_PASSAGES_H
#define TIDE_MODEL_PASSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

/* Blocks of the heap that were made at one stack and freed at another. */
struct tide_passage {
    uint32_t made, freed; /* nodes */
    uint64_t blocks, bytes;
    double life_s; /* of all of them together */
};

struct tide_passages {
    struct tide_passage *list; /* the heaviest first */
    size_t count;
    uint64_t blocks, bytes; /* of all pairs */
};

/* Does TRACE know where blocks are freed? */
bool tide_passages_recorded(const struct tide_trace *trace);

/* All pairs of the part of the run that MODEL is of.  The stacks of frees are the model's
 * from then on, so it is symbolized after this. */
enum tide_status tide_passages_build(struct tide_model *model,
                                     const struct tide_progress *progress,
                                     struct tide_passages **out);
void tide_passages_free(struct tide_passages *passages);

static inline double tide_passage_mean_s(const struct tide_passage *passage)
{
    return passage->blocks ? passage->life_s / (double)passage->blocks : 0;
}

#endif
