/* trace/replay_state.h - internal: what is inside a replay.
 *
 * For: replay.c and replay_state.c only.
 */
#ifndef TIDE_TRACE_REPLAY_STATE_H
#define TIDE_TRACE_REPLAY_STATE_H

#include "trace/chunk_in.h"
#include "trace/lane_in.h"
#include "trace/merge.h"
#include "trace/resolve.h"
#include "trace/trace.h"

struct tide_replay {
    struct tide_chunk_reader reader;
    struct tide_resolver resolver;
    struct tide_lane_source source;
    struct tide_merge merge;
    struct tide_replay_counts counts;
};

#endif
