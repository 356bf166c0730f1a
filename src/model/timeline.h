/* model/timeline.h - the heap over time, as a row of heights.
 *
 * For: model/, tests/.  The run is divided into stretches of equal length; each knows the
 * highest that the heap stood in it, exactly: nothing is missed between two points.
 */
#ifndef TIDE_MODEL_TIMELINE_H
#define TIDE_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"
#include "model/water.h"
#include "trace/event.h"

struct tide_timeline {
    uint64_t start, step; /* ticks; step 0: the run has no length */
    enum tide_axis axis;  /* not SECONDS: start and step are of this axis */
    uint64_t position;    /* on it, behind the events that were given last */
    uint64_t until;       /* where it is full */
    uint64_t last_ticks;  /* of these events */
    uint32_t now;         /* the stretch that events fall into */
    uint64_t heights[TIDE_TIMELINE_POINTS];
};

/* How far EVENT goes along AXIS. */
uint64_t tide_axis_weight(enum tide_axis axis, const struct tide_event *event);

void tide_timeline_begin(struct tide_timeline *timeline, uint64_t start_ticks,
                         uint64_t end_ticks);

/* Along another AXIS, of length TOTAL; full at UNTIL. */
void tide_timeline_begin_axis(struct tide_timeline *timeline, enum tide_axis axis,
                              uint64_t total, uint64_t until);
/* No further event belongs to it. */
static inline bool tide_timeline_full(const struct tide_timeline *timeline)
{
    return timeline->axis != TIDE_AXIS_SECONDS && timeline->position >= timeline->until;
}

/* How many of the COUNT events (one at least, all of one lane) fall into one stretch,
 * which begins with what WATER holds. */
size_t tide_timeline_next(struct tide_timeline *timeline, struct tide_watermark *water,
                          const struct tide_event *events, size_t count);
/* These were entered. */
void tide_timeline_note(struct tide_timeline *timeline,
                        const struct tide_watermark *water);

/* The run ends as WATER stands.  Copy the heights out; how many there are, 0 when the run
 * has no length. */
uint32_t tide_timeline_end(struct tide_timeline *timeline, struct tide_watermark *water,
                           uint64_t *heights);

#endif
