/* model/envelope.c - the most that all lanes together can have held at one moment.
 *
 * Invariant: moments before `first` are in `sum`; no lane's open stretch began before
 * `first`; last - first < TIDE_MOMENTS.
 */
#include "model/envelope.h"

#include <stdlib.h>

enum tide_status tide_envelope_init(struct tide_envelope *envelope)
{
    *envelope = (struct tide_envelope){
        .moments = calloc(TIDE_MOMENTS, sizeof(*envelope->moments)),
    };
    return envelope->moments ? TIDE_OK : TIDE_ENOMEM;
}

void tide_envelope_release(struct tide_envelope *envelope)
{
    free(envelope->moments);
    *envelope = (struct tide_envelope){0};
}

static struct tide_stretch *stretch_of(struct tide_stretches all, uint32_t lane)
{
    void *const place = (char *)all.first + all.apart_bytes * lane;
    return place;
}

/* From BEFORE to AFTER at MOMENT. */
static void step(struct tide_envelope *envelope, uint64_t moment, int64_t before,
                 int64_t after)
{
    struct tide_moment *const at = &envelope->moments[moment % TIDE_MOMENTS];
    const uint64_t change = (uint64_t)after - (uint64_t)before;
    if (after > before)
        at->rise = (int64_t)((uint64_t)at->rise + change);
    else
        at->fall = (int64_t)((uint64_t)at->fall + change);
}

/* Sum up all moments before UNTIL. */
static void sum_up(struct tide_envelope *envelope, uint64_t until)
{
    for (; envelope->first < until; envelope->first++) {
        struct tide_moment *const at =
            &envelope->moments[envelope->first % TIDE_MOMENTS];
        envelope->sum = (int64_t)((uint64_t)envelope->sum + (uint64_t)at->rise);
        if (envelope->sum > envelope->highest)
            envelope->highest = envelope->sum;
        envelope->sum = (int64_t)((uint64_t)envelope->sum + (uint64_t)at->fall);
        *at = (struct tide_moment){0, 0};
    }
}

/* --- Lanes by the moment their stretch began, oldest first --- */

static void unlink_lane(struct tide_envelope *envelope, struct tide_stretches all,
                        struct tide_stretch *stretch)
{
    if (stretch->older)
        stretch_of(all, stretch->older - 1)->newer = stretch->newer;
    else
        envelope->oldest = stretch->newer;
    if (stretch->newer)
        stretch_of(all, stretch->newer - 1)->older = stretch->older;
    else
        envelope->newest = stretch->older;
    stretch->open = false;
}

static void link_lane(struct tide_envelope *envelope, struct tide_stretches all,
                      uint32_t lane)
{
    struct tide_stretch *const stretch = stretch_of(all, lane);
    stretch->open = true;
    stretch->moment = envelope->last;
    stretch->newer = 0;
    stretch->older = envelope->newest;
    if (envelope->newest)
        stretch_of(all, envelope->newest - 1)->newer = lane + 1;
    else
        envelope->oldest = lane + 1;
    envelope->newest = lane + 1;
}

/* The moment that the oldest open stretch began at. */
static uint64_t oldest_moment(const struct tide_envelope *envelope,
                              struct tide_stretches all)
{
    return envelope->oldest ? stretch_of(all, envelope->oldest - 1)->moment
                            : envelope->last;
}

/* There must be room for one more moment: give up waiting for the oldest stretches. */
static void make_room(struct tide_envelope *envelope, struct tide_stretches all)
{
    while (envelope->last + 1 - envelope->first >= TIDE_MOMENTS) {
        if (envelope->oldest && oldest_moment(envelope, all) == envelope->first) {
            const uint32_t lane = envelope->oldest - 1;
            struct tide_stretch *const stretch = stretch_of(all, lane);
            step(envelope, stretch->moment, stretch->height, stretch->most);
            stretch->height = stretch->most;
            unlink_lane(envelope, all, stretch);
            link_lane(envelope, all, lane);
        }
        sum_up(envelope, oldest_moment(envelope, all));
    }
}

/* Time goes on to TICKS. */
static void go_on(struct tide_envelope *envelope, struct tide_stretches all,
                  uint64_t ticks)
{
    if (ticks <= envelope->ticks)
        return;
    make_room(envelope, all);
    envelope->last++;
    envelope->ticks = ticks;
}

/* --- The steps of a lane --- */

void tide_envelope_close(struct tide_envelope *envelope, struct tide_stretches all,
                         uint32_t lane)
{
    struct tide_stretch *const stretch = stretch_of(all, lane);
    if (!stretch->open)
        return;
    step(envelope, stretch->moment, stretch->height, stretch->highest);
    stretch->height = stretch->highest;
    unlink_lane(envelope, all, stretch);
}

void tide_envelope_open(struct tide_envelope *envelope, struct tide_stretches all,
                        uint32_t lane)
{
    go_on(envelope, all, stretch_of(all, lane)->from);
    link_lane(envelope, all, lane);
    sum_up(envelope, oldest_moment(envelope, all));
}

int64_t tide_envelope_leave(struct tide_stretches all, uint32_t lane)
{
    struct tide_stretch *const stretch = stretch_of(all, lane);
    const int64_t height = stretch->height;
    stretch->height = 0;
    return height;
}

void tide_envelope_drop(struct tide_envelope *envelope, struct tide_stretches all,
                        int64_t height, uint64_t ticks)
{
    go_on(envelope, all, ticks);
    step(envelope, envelope->last, height, 0);
}

uint64_t tide_envelope_finish(struct tide_envelope *envelope, struct tide_stretches all)
{
    while (envelope->oldest)
        tide_envelope_close(envelope, all, envelope->oldest - 1);
    sum_up(envelope, envelope->last + 1);
    return envelope->highest > 0 ? (uint64_t)envelope->highest : 0;
}
