/* query/foresight.h - what a first walk finds out, so that the second can tell rows.
 *
 * For: query/.  A label names its allocation's own row, also when it came later; and
 * whether a block lived at the peak of
 * its space is known only after the peak.
 */
#ifndef TIDE_QUERY_FORESIGHT_H
#define TIDE_QUERY_FORESIGHT_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/block_stream.h"
#include "query/shapes.h"

struct tide_future_label {
    uint64_t id;    /* of the block */
    uint32_t label; /* id of its name + 1 */
    uint32_t shape; /* of that label: number + 1; 0: none */
};

/* All zeros is ready for use. */
struct tide_foresight {
    struct tide_future_label *labels; /* owned, by block */
    size_t label_count, label_capacity;
    struct tide_shape *shapes; /* owned: those that labels have */
    size_t shape_count, shape_capacity;
    struct tide_foreseen_peak {
        uint64_t step; /* births and deaths up to it */
        uint64_t id;   /* the last block born by then */
        uint64_t bytes;
    } peaks[TIDE_SPACES]; /* of the heap, and of what is mapped */
    uint64_t *end_steps; /* owned, per process: when it ended; UINT64_MAX: it did not */
};

/* Walk through the trace of MODEL. */
enum tide_status tide_foresee(struct tide_model *model,
                              const struct tide_progress *progress,
                              struct tide_foresight *out);
/* The label of block ID; NULL: it never has one. */
const struct tide_future_label *tide_foresight_label(
    const struct tide_foresight *foresight, uint64_t id);
void tide_foresight_release(struct tide_foresight *foresight);

#endif
