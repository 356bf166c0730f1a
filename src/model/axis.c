/* model/axis.c - moments that are counted in bytes or events instead of seconds. */
#include "model/axis.h"

#include <stddef.h>

#include "model/timeline.h"

enum { TIDE_AXIS_RUN = 512 }; /* events asked of the replay at once, at most */

const char *tide_axis_name(enum tide_axis axis)
{
    static const char *const NAMES[] = {
        [TIDE_AXIS_SECONDS] = "seconds",
        [TIDE_AXIS_BYTES] = "bytes",
        [TIDE_AXIS_EVENTS] = "events",
    };
    return NAMES[axis];
}

uint64_t tide_axis_length(const struct tide_model *model, enum tide_axis axis)
{
    if (axis == TIDE_AXIS_BYTES)
        return model->summary[TIDE_IN_HEAP].allocated_bytes;
    return axis == TIDE_AXIS_EVENTS ? model->honesty.events : 0;
}

enum tide_status tide_axis_time(struct tide_trace *trace, enum tide_axis axis,
                                uint64_t position, double *out)
{
    struct tide_stacks stacks;
    struct tide_replay *replay = NULL;
    uint64_t at = 0;
    size_t count = 1;
    *out = position ? -1 : 0;
    enum tide_status status = tide_stacks_init(&stacks);
    if (status)
        return status;
    status = tide_replay_open(trace, &stacks, &replay);
    while (!status && count && at < position) {
        const struct tide_event *events;
        status = tide_replay_run(replay, TIDE_AXIS_RUN, &events, &count);
        for (size_t i = 0; i < count && !status && at < position; i++) {
            at += tide_axis_weight(axis, &events[i]);
            if (at >= position)
                *out = tide_trace_seconds(trace, events[i].ticks);
        }
    }
    tide_replay_close(replay);
    tide_stacks_release(&stacks);
    return status;
}
