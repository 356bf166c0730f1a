/* collect/desks.h - where rows become chunks: one lane at each desk.
 *
 * For: collect/, tests/.  Used by the drain thread.
 *
 * A lane comes to a desk with its first rows and stays, so that its next chunk goes on where
 * the last one ended, until another lane needs the desk: the one that was there longest ago
 * leaves, and what it has begun there must be written before.  A desk takes 0.7 MiB, and
 * what the columns of a chunk take.
 */
#ifndef TIDE_COLLECT_DESKS_H
#define TIDE_COLLECT_DESKS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/encode.h"

struct tide_lane_copy;

enum { TIDE_DESKS = 8 };

struct tide_desk {
    struct tide_encoder *encoder; /* owned */
    struct tide_lane_copy *lane;  /* borrowed: who sits there; NULL: nobody */
    uint64_t used;                /* when, in uses of all desks */
};

struct tide_desks {
    struct tide_desk all[TIDE_DESKS];
    uint32_t count; /* that have been set up */
    uint64_t uses;
    uint64_t stamp_ticks; /* for the encoders */
};

void tide_desks_release(struct tide_desks *desks);

/* The desk that LANE has or may have: its own, a free one, or the one used longest ago,
 * whose lane has to leave first.  NULL without memory. */
struct tide_desk *tide_desk_for(struct tide_desks *desks,
                                const struct tide_lane_copy *lane);
/* Does LANE get a desk without anybody leaving? */
bool tide_desk_is_free(const struct tide_desks *desks,
                       const struct tide_lane_copy *lane);
/* LANE sits down at DESK, where nobody else sits. */
void tide_desk_take(struct tide_desks *desks, struct tide_desk *desk,
                    struct tide_lane_copy *lane);
/* LANE needs its desk no more, if it has any. */
void tide_desk_leave(struct tide_lane_copy *lane);

#endif
