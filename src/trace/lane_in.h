/* trace/lane_in.h - one lane of a trace, read stretch by stretch.
 *
 * For: trace/, tests/.  A stretch is what a lane did between two time stamps.  It is
 * decoded whole, so that the SPAN event in front of it can say how much it allocates and
 * when it ends; what is longer than TIDE_STRETCH_MAX events comes in several parts.
 */
#ifndef TIDE_TRACE_LANE_IN_H
#define TIDE_TRACE_LANE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/chunk_in.h"
#include "trace/decode.h"
#include "trace/list.h"
#include "trace/trace.h"

enum { TIDE_STRETCH_MAX = 1024 };

/* What all lanes of a replay share. */
struct tide_lane_source {
    struct tide_trace *trace;         /* borrowed: learns of damaged chunks */
    struct tide_chunk_reader *reader; /* borrowed */
    struct tide_resolver *resolver;   /* borrowed */
    uint64_t lost;                    /* times a lane had to be left up to a reset */
    uint64_t cut_stacks;              /* events whose stack begins with the CUT frame */
};

/* A place to which a lane can be brought back: a chunk that starts with a reset, and how
 * far after it. */
struct tide_lane_mark {
    uint32_t chunk;                  /* of the lane */
    uint32_t stretches;              /* parts read since then */
    uint64_t ticks;                  /* of the lane when that chunk began */
    uint64_t moves[TIDE_MOVES_KEPT]; /* reallocs under way then */
    uint32_t move_count;
};

struct tide_lane_in {
    struct tide_lane_source *source; /* borrowed */
    const struct tide_lane *lane;    /* borrowed */
    struct tide_decoder decoder;
    uint8_t *raw; /* owned: the payload of the chunk being read */
    size_t raw_capacity;
    struct tide_fields fields; /* in raw */
    uint32_t next_chunk;       /* of the lane: to be loaded next */
    uint32_t next_sequence;    /* that it has if none is missing */
    bool need_reset;           /* only a chunk that starts with a reset can go on */
    bool dry;                  /* all chunks are read */
    struct tide_lane_mark mark,
        next_mark;             /* of the stretch in hand; of the one after */
    uint64_t chunk_last_ticks; /* of the chunk being read */

    /* The stretch in hand: events[0] is its SPAN. */
    struct tide_list events; /* of struct tide_event */
    uint32_t taken;          /* of events: given out */
    bool numbers;            /* it began after NUMBERS */
    uint64_t ticks;          /* its stamp */
    uint64_t end_ticks;      /* the next stamp, UINT64_MAX when there is none */
    bool usual;              /* behind its SPAN is no MAP and no EXTRA */
};

/* The lane number INDEX of the source's trace, before its first chunk.  Cheap: memory is
 * taken by tide_lane_in_next(). */
void tide_lane_in_init(struct tide_lane_in *in, struct tide_lane_source *source,
                       uint32_t index);
void tide_lane_in_release(struct tide_lane_in *in);

/* Decode the next stretch (or part of one).  *MORE is false when the lane has ended;
 * its memory is given back then. */
enum tide_status tide_lane_in_next(struct tide_lane_in *in, bool *more);

/* Bring IN, fresh from init, to MARK, with its stretch in hand. */
enum tide_status tide_lane_in_seek(struct tide_lane_in *in,
                                   const struct tide_lane_mark *mark);

static inline struct tide_event *tide_lane_in_events(const struct tide_lane_in *in)
{
    return in->events.items;
}

#endif
