/* model/growth.h - does the heap grow through the run?
 *
 * For: view/, cli/, tests/.  Judged by the height that it never falls below again before it
 * stands highest: that rises in most parts of the run when memory grows, and in one or two
 * when a program builds what it needs.
 */
#ifndef TIDE_MODEL_GROWTH_H
#define TIDE_MODEL_GROWTH_H

#include "model/model.h"

struct tide_growth {
    bool grows;
    uint64_t from_bytes, to_bytes; /* of the heap, where it began to grow and ended */
    double from_s, to_s;
    double bytes_per_second; /* 0: too short a run for a rate */
};

/* By the timeline of MODEL, which must be along time. */
struct tide_growth tide_growth_of(const struct tide_model *model);

#endif
