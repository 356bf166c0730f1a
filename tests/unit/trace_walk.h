/* unit/trace_walk.h - read a whole trace into memory, for tests that look at it. */
#ifndef TIDE_UNIT_TRACE_WALK_H
#define TIDE_UNIT_TRACE_WALK_H

#include <stdbool.h>

#include "trace/trace.h"

struct tide_walked {
    struct tide_trace *trace;
    struct tide_stacks stacks;
    struct tide_event *events; /* owned */
    size_t count;
    struct tide_replay_counts counts;
};

/* Open FD, which belongs to the walk, and read everything, BATCH events at a time.  The
 * status of whatever failed first; OUT is to be released in any case. */
enum tide_status tide_walk(int fd, size_t batch, struct tide_walked *out);
void tide_walk_release(struct tide_walked *walked);

/* Do A and B say the same? */
bool tide_walk_same(const struct tide_event *a, const struct tide_event *b);

/* The events of KIND (enum tide_event_kind), how many there are. */
size_t tide_walk_count(const struct tide_walked *walked, unsigned kind);

#endif
