/* model/peak.c - how far the true peak may lie from the one that was found.
 */
#include "model/peak.h"

/* Of values that may have wrapped. */
static int64_t minus(int64_t one, int64_t other)
{
    return (int64_t)((uint64_t)one - (uint64_t)other);
}

void tide_stretch_begin(struct tide_stretch *stretch,
                        const struct tide_watermark *water)
{
    *stretch = (struct tide_stretch){
        .until = UINT64_MAX, /* before its first stamp nothing is known */
        .mark_at = water->peaks,
        .near_at = UINT64_MAX,
        .far_at = UINT64_MAX,
    };
}

/* How much too high, when everything since the last peak counts. */
static uint64_t doubt(const struct tide_stretch *stretch,
                      const struct tide_watermark *water)
{
    struct tide_stretch touched = *stretch;
    tide_stretch_touch(&touched, water);
    const int64_t loss = minus(touched.mark, touched.mark_lowest);
    return (uint64_t)(touched.mark_rise > loss ? touched.mark_rise : loss);
}

uint64_t tide_stretch_near(const struct tide_stretch *stretch,
                           const struct tide_watermark *water)
{
    return stretch->near_at == water->peaks ? stretch->near : doubt(stretch, water);
}

uint64_t tide_stretch_far(const struct tide_stretch *stretch,
                          const struct tide_watermark *water)
{
    return stretch->far_at == water->peaks ? stretch->far : doubt(stretch, water);
}

void tide_stretch_settle(struct tide_stretch *stretch,
                         const struct tide_watermark *water, uint64_t ticks)
{
    tide_stretch_touch(stretch, water);
    /* Not at an equal stamp: the moment in question may lie after it. */
    if (ticks > water->peak_now) {
        stretch->near = tide_stretch_near(stretch, water);
        stretch->near_at = water->peaks;
    }
    if (ticks > water->peak_until) {
        stretch->far = tide_stretch_far(stretch, water);
        stretch->far_at = water->peaks;
    }
}

void tide_stretch_next(struct tide_stretch *stretch, struct tide_span span)
{
    /* A stretch that has no length lies between two others that touch it. */
    if (stretch->from != span.from || stretch->lowest < stretch->tied_lowest)
        stretch->tied_lowest = stretch->lowest;
    stretch->highest_before = tide_stretch_highest(stretch);
    stretch->from = span.from;
    stretch->until = span.until > span.from ? span.until : span.from;
    stretch->lowest = stretch->balance;
    stretch->highest = stretch->balance;
    stretch->most = (int64_t)((uint64_t)stretch->balance + span.promised);
}

void tide_stretch_empty(struct tide_stretch *stretch, uint64_t ticks, bool foreign)
{
    if (foreign && stretch->mark_lowest > 0)
        stretch->mark_lowest = 0;
    stretch->balance = 0;
    tide_stretch_next(stretch, (struct tide_span){.from = ticks, .until = UINT64_MAX});
}
