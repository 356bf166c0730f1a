/* model/timeline.c - the heap over time, as a row of heights.
 *
 * Between two lanes time may step back a little; the timeline then stays where it is.
 */
#include "model/timeline.h"

#include <string.h>

void tide_timeline_begin(struct tide_timeline *timeline, uint64_t start_ticks,
                         uint64_t end_ticks)
{
    *timeline = (struct tide_timeline){.start = start_ticks};
    if (end_ticks > start_ticks)
        timeline->step = (end_ticks - start_ticks) / TIDE_TIMELINE_POINTS + 1;
}

void tide_timeline_begin_axis(struct tide_timeline *timeline, enum tide_axis axis,
                              uint64_t total, uint64_t until)
{
    *timeline = (struct tide_timeline){.axis = axis, .until = until};
    if (total)
        timeline->step = total / TIDE_TIMELINE_POINTS + 1;
}

uint64_t tide_axis_weight(enum tide_axis axis, const struct tide_event *event)
{
    if (axis == TIDE_AXIS_EVENTS)
        return event->kind <= TIDE_EVENT_MAP;
    return event->kind == TIDE_EVENT_ALLOC || event->kind == TIDE_EVENT_MOVE_END
               ? event->size
               : 0;
}

static uint32_t stretch_of(const struct tide_timeline *timeline, uint64_t ticks)
{
    if (!timeline->step || ticks < timeline->start)
        return 0;
    const uint64_t stretch = (ticks - timeline->start) / timeline->step;
    return stretch < TIDE_TIMELINE_POINTS ? (uint32_t)stretch
                                          : TIDE_TIMELINE_POINTS - 1;
}

/* Nothing happened up to STRETCH: the heap stood as it stands. */
static void go_on(struct tide_timeline *timeline, struct tide_watermark *water,
                  uint32_t stretch)
{
    water->highest = water->bytes;
    while (timeline->now < stretch)
        timeline->heights[++timeline->now] = water->bytes;
}

/* The same along another axis: an event belongs to the stretch that it begins in. */
static size_t next_along(struct tide_timeline *timeline, struct tide_watermark *water,
                         const struct tide_event *events, size_t count)
{
    go_on(timeline, water, stretch_of(timeline, timeline->position));
    const bool last = !timeline->step || timeline->now == TIDE_TIMELINE_POINTS - 1;
    const uint64_t end =
        last ? UINT64_MAX : ((uint64_t)timeline->now + 1) * timeline->step;
    const uint64_t limit = end < timeline->until ? end : timeline->until;
    size_t some = 0;
    while (some < count && timeline->position < limit) {
        timeline->position += tide_axis_weight(timeline->axis, &events[some]);
        timeline->last_ticks = events[some++].ticks;
    }
    return some;
}

size_t tide_timeline_next(struct tide_timeline *timeline, struct tide_watermark *water,
                          const struct tide_event *events, size_t count)
{
    if (timeline->axis != TIDE_AXIS_SECONDS)
        return next_along(timeline, water, events, count);
    go_on(timeline, water, stretch_of(timeline, events[0].ticks));
    const uint64_t end =
        timeline->start + ((uint64_t)timeline->now + 1) * timeline->step;
    const bool last = timeline->now == TIDE_TIMELINE_POINTS - 1;
    if (last || events[count - 1].ticks < end)
        return count;
    size_t some = 1;
    while (some < count && events[some].ticks < end)
        some++;
    return some;
}

void tide_timeline_note(struct tide_timeline *timeline,
                        const struct tide_watermark *water)
{
    if (water->highest > timeline->heights[timeline->now])
        timeline->heights[timeline->now] = water->highest;
}

uint32_t tide_timeline_end(struct tide_timeline *timeline, struct tide_watermark *water,
                           uint64_t *heights)
{
    if (!timeline->step)
        return 0;
    go_on(timeline, water, TIDE_TIMELINE_POINTS - 1);
    memcpy(heights, timeline->heights, sizeof(timeline->heights));
    return TIDE_TIMELINE_POINTS;
}
