/* collect/lanes.h - the consumer's end of one lane: take bytes out, cut them in chunks.
 *
 * For: collect/, tests/.  Used by the drain thread.
 *
 * Positions count the bytes that a lane's owner ever wrote.  What lies in [start, end)
 * has been taken from the ring and is not in the file yet; what lies in [start, coded) has
 * become part of a chunk already, at the lane's desk:
 *
 *     in the file | start ... coded ... reset ... fresh ... end | in the ring
 *
 * fresh is the end before the latest take, so it is a head that the owner published and
 * a chunk may end there; so may it at end and at any reset.  Nowhere else: the collector
 * does not decode, hence knows no other record boundary.
 *
 * Invariant: between two takes (after cutting) end - start <= TIDE_ROWS_MAX, and one
 * take adds at most TIDE_ROWS_MAX (a ring is not larger).  So some cut always makes a
 * chunk that is small enough.
 */
#ifndef TIDE_COLLECT_LANES_H
#define TIDE_COLLECT_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/segment.h"
#include "trace/encode.h"
#include "trace/ring.h"

struct tide_target; /* see collect/targets.h */
struct tide_desk;   /* see collect/desks.h */

enum { TIDE_CUTS_KEPT = 16 };

struct tide_lane_copy {
    uint64_t header; /* offset of the shared header in the segment */

    /* As of its adoption: what the owner writes there later is not looked at. */
    struct tide_target *owner; /* NULL: a lane of nobody */
    uint32_t use;              /* enum tide_lane_use */
    uint32_t number;
    const char *broken; /* what was wrong with it; NULL: nothing.  It is only emptied
                           from then on, so that its owner never waits */

    /* The ring, checked. */
    uint64_t ring_at; /* offset in the segment */
    uint32_t ring_bytes;
    uint32_t ring_changes;
    bool ring_known;
    uint64_t ring_next; /* offset in the ring of position `end` */

    uint64_t start, coded, fresh, end;
    uint8_t *bytes; /* owned: [coded, end) */
    size_t capacity;

    uint32_t resets_seen;
    uint32_t cut_count;
    uint64_t cuts[TIDE_CUTS_KEPT]; /* resets above start, rising; may be above end */

    uint32_t sequence;
    struct tide_encoder_lane coding; /* of its events */
    struct tide_desk *desk;          /* where they are coded; NULL: nowhere yet */
    bool from_reset;                 /* the chunk that has been begun starts with one */
    bool in_round;                   /* it may be a hand's: see round.c */
    uint64_t first_ticks;            /* not later than the record at start */
    uint64_t fresh_ticks;            /* not later than the record at fresh */
    uint64_t before_ticks;           /* not earlier than the last record before fresh */
    uint64_t last_ticks;             /* not earlier than the last record before end */
    uint64_t born_ns;                /* the byte at start is not older */
    uint64_t fresh_ns;               /* the byte at fresh is not older */
    uint64_t asked_ns; /* when a reset was asked for last; 0: not since start */
    uint64_t tick_ns;  /* when a time stamp was asked for last */
};

/* When the lanes were looked at: what is found now was published since the last look.
 * A record is stamped a little before it is published, so ticks are as good as that. */
struct tide_looks {
    uint64_t last_ticks, last_ns;
    uint64_t now_ticks, now_ns;
};

/* A lane whose header stands at HEADER; NULL without memory. */
struct tide_lane_copy *tide_lane_new(uint64_t header);
void tide_lane_free(struct tide_lane_copy *lane);

/* The lane is OWNER's from here on; it has no record from before FIRST_TICKS. */
void tide_lane_adopt(struct tide_lane_copy *lane, const struct tide_lane_shared *shared,
                     struct tide_target *owner, uint64_t first_ticks);

/* Take everything that the owner has published, and wake him if he waits for that.
 * Returns the bytes taken.  A lane that makes no sense becomes broken. */
size_t tide_lane_take(struct tide_lane_copy *lane, const struct tide_share *share,
                      const struct tide_looks *looks);
/* The same amid other work, if it is time for that: what is taken counts as part of the
 * latest take. */
size_t tide_lane_relieve(struct tide_lane_copy *lane, const struct tide_share *share,
                         const struct tide_looks *looks);

enum tide_cut_wish {
    TIDE_CUT_LARGE, /* only if there is enough for a good chunk */
    TIDE_CUT_RESET, /* as TIDE_CUT_LARGE, and also up to the newest reset */
    TIDE_CUT_ALL,
};

/* Where the next chunk shall end; lane->start when none is due. */
uint64_t tide_lane_cut(const struct tide_lane_copy *lane, enum tide_cut_wish wish);
/* [coded, UP_TO) is part of the chunk that has been begun. */
void tide_lane_code(struct tide_lane_copy *lane, uint64_t up_to);
/* [start, CUT) is in the file: forget it. */
void tide_lane_drop(struct tide_lane_copy *lane, uint64_t cut);
/* Give back the memory that what is pending does not need. */
void tide_lane_rest(struct tide_lane_copy *lane);

/* Does [coded, end) begin with a reset?  If so, *TICKS is its time. */
bool tide_lane_at_reset(const struct tide_lane_copy *lane, uint64_t *ticks);

/* Ask the owner to look up: BITS of enum tide_attention. */
void tide_lane_ask(const struct tide_lane_copy *lane, const struct tide_share *share,
                   uint32_t bits);

/* The owner is gone and everything of his is in the file: the next may have it. */
void tide_lane_give_back(struct tide_lane_copy *lane, const struct tide_share *share);

#endif
