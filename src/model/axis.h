/* model/axis.h - moments that are counted in bytes or events instead of seconds.
 *
 * For: model/, cli/, tests/.  Two runs of a program take different times and do the same:
 * counted in what they did, they lie over each other.
 */
#ifndef TIDE_MODEL_AXIS_H
#define TIDE_MODEL_AXIS_H

#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"

/* "seconds", "bytes", "events" */
const char *tide_axis_name(enum tide_axis axis);

/* How long AXIS is in MODEL, which has read all of its trace. */
uint64_t tide_axis_length(const struct tide_model *model, enum tide_axis axis);

/* The time of the event that reaches POSITION on AXIS, in seconds: to the time stamp, so
 * some events before and after it have the same.  Negative: nothing reaches it.  Walks
 * the events up to there. */
enum tide_status tide_axis_time(struct tide_trace *trace, enum tide_axis axis,
                                uint64_t position, double *out);

#endif
