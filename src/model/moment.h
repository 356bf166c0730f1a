/* model/moment.h - the moments of a run that its program named.
 *
 * For: model/, cli/, tests/.  A moment is the place of a mark in the walk through a
 * trace: what its thread did before has an earlier time, what it did after has not.
 */
#ifndef TIDE_MODEL_MOMENT_H
#define TIDE_MODEL_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/text.h"
#include "model/model.h"

struct tide_moment {
    bool found;
    uint64_t count; /* how many marks of that name there are */
    uint64_t ticks; /* of the first of them, or of the one that was asked for */
    double until_s; /* what to load a model with, so that it stops just before */
    double at_s;
    struct tide_text known; /* owned: if not found, names that there are */
};

/* Find the mark NAME in TRACE: a snapshot of that name, "event51" or "event 51" for the
 * program's event 51; "NAME#3" is the third of that name.  Walks all events. */
enum tide_status tide_moment_find(struct tide_trace *trace, const char *name,
                                  const struct tide_progress *progress,
                                  struct tide_moment *out);
void tide_moment_release(struct tide_moment *moment);

#endif
