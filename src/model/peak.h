/* model/peak.h - how far the true peak may lie from the one that was found.
 *
 * For: model/, tests/.  docs/internals/peak.md holds the argument; in short:
 *
 * The order inside a lane is exact.  Of the order between lanes we know the time stamps
 * (a lane's stretch is what happened between two of them) and the order on each slot.
 * A lane's balance is what it allocated less what it freed; the balances of all lanes
 * add up to the heap.  At any true moment each lane is somewhere in its stretch of that
 * moment, so
 *
 *   - the heap never held more than the sum of the highest balances of the stretches of
 *     one moment: the envelope;
 *   - when the peak was found, every lane stood in the stretch it was truly in at the
 *     latest time seen by then.  So its balance was too high by no more than it had risen
 *     in it from its lowest, or was still to lose in it: its share `near`;
 *   - or take the true moment of the event that made the peak.  Its own lane stood
 *     exactly where it was found; each other one was at most so much too high as it had
 *     risen in its stretch, or was to lose before that lane's stretch was over: `far`;
 *   - and where a lane is all there is of its process, its balance is what that process
 *     held: the heap once was as high as the highest of these.
 *
 * A lane remembers its place at the last peak as a key does (see key.h): it saves it
 * when it first moves on.
 */
#ifndef TIDE_MODEL_PEAK_H
#define TIDE_MODEL_PEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/water.h"

/* Where a lane is.  Balances are signed: a lane may free what others allocated.  All
 * zeros is not ready for use: see tide_stretch_begin(). */
struct tide_stretch {
    int64_t balance;
    int64_t lowest, highest; /* balance, in the stretch so far */
    int64_t most;            /* balance that the stretch cannot exceed */
    uint64_t from, until;    /* ticks */
    int64_t tied_lowest;     /* lowest, in the stretches before that touch `from` */
    int64_t highest_before;  /* balance, in any stretch before */

    uint64_t mark_at;    /* count of peaks for which the marks are right */
    int64_t mark;        /* balance at that peak */
    int64_t mark_rise;   /* how far that was above the lowest of the stretch */
    int64_t mark_lowest; /* the lowest balance since */

    uint64_t near_at, near; /* near, and the count of peaks for which it is right */
    uint64_t far_at, far;

    /* For the envelope. */
    bool open;             /* in the list of lanes by the moment their stretch began */
    uint32_t older, newer; /* its neighbours there, index + 1 */
    uint64_t moment;       /* at which the stretch began */
    int64_t height;        /* of the stretch before */
};

/* The stretch that a SPAN event opens. */
struct tide_span {
    uint64_t from, until; /* ticks */
    uint64_t promised;    /* bytes it allocates in all */
};

/* A lane appears. */
void tide_stretch_begin(struct tide_stretch *stretch,
                        const struct tide_watermark *water);

/* Before the lane leaves its stretch at TICKS. */
void tide_stretch_settle(struct tide_stretch *stretch,
                         const struct tide_watermark *water, uint64_t ticks);
/* The lane, settled, goes into the stretch SPAN. */
void tide_stretch_next(struct tide_stretch *stretch, struct tide_span span);
/* The lane, settled, loses all it holds at TICKS, when its process ended.  FOREIGN: the
 * last peak was made by another process, which may not have come to it before. */
void tide_stretch_empty(struct tide_stretch *stretch, uint64_t ticks, bool foreign);

/* How much too high the lane may have stood at the last peak, by either way. */
uint64_t tide_stretch_near(const struct tide_stretch *stretch,
                           const struct tide_watermark *water);
uint64_t tide_stretch_far(const struct tide_stretch *stretch,
                          const struct tide_watermark *water);

/* The highest balance that the lane ever had. */
static inline int64_t tide_stretch_highest(const struct tide_stretch *stretch)
{
    return stretch->highest > stretch->highest_before ? stretch->highest
                                                      : stretch->highest_before;
}

/* The lowest balance from where the lane was at the time of the last peak, when that
 * found it in the stretch it is in. */
static inline int64_t tide_stretch_floor(const struct tide_stretch *stretch,
                                         const struct tide_watermark *water)
{
    const bool tied = stretch->from == water->peak_now;
    return tied && stretch->tied_lowest < stretch->lowest ? stretch->tied_lowest
                                                          : stretch->lowest;
}

/* Before the lane allocates or frees. */
static inline void tide_stretch_touch(struct tide_stretch *stretch,
                                      const struct tide_watermark *water)
{
    if (stretch->mark_at == water->peaks)
        return;
    stretch->mark_at = water->peaks;
    stretch->mark = stretch->balance;
    stretch->mark_rise = stretch->balance - tide_stretch_floor(stretch, water);
    stretch->mark_lowest = stretch->balance;
}

/* The lane allocates BYTES.  Sums wrap when sizes are impossible. */
static inline void tide_stretch_rise(struct tide_stretch *stretch, uint64_t bytes)
{
    const int64_t balance = (int64_t)((uint64_t)stretch->balance + bytes);
    stretch->balance = balance;
    stretch->highest = balance > stretch->highest ? balance : stretch->highest;
}

/* The lane frees BYTES. */
static inline void tide_stretch_fall(struct tide_stretch *stretch, uint64_t bytes)
{
    const int64_t balance = (int64_t)((uint64_t)stretch->balance - bytes);
    stretch->balance = balance;
    stretch->lowest = balance < stretch->lowest ? balance : stretch->lowest;
    stretch->mark_lowest =
        balance < stretch->mark_lowest ? balance : stretch->mark_lowest;
}

#endif
