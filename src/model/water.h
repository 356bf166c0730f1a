/* model/water.h - how high a space stands, and stood.
 *
 * For: model/, tests/.  Sums are of unsigned 64-bit words and may wrap when a trace
 * claims impossible sizes; nothing is indexed by them.
 */
#ifndef TIDE_MODEL_WATER_H
#define TIDE_MODEL_WATER_H

#include <stdbool.h>
#include <stdint.h>

/* One space over all processes. */
struct tide_watermark {
    uint64_t bytes, blocks, usable; /* standing now */
    uint64_t births;                /* blocks made so far: the newest one's number */
    uint64_t peaks;                 /* how often it reached a new height */
    uint64_t peak_bytes, peak_blocks, peak_ticks;
    uint64_t peak_births; /* births at the peak: blocks with such numbers stood then,
                             if they stand now */
    uint64_t peak_usable;
    uint64_t highest;           /* bytes, since whoever keeps the timeline set it */
    uint64_t peak_with_realloc; /* moments inside a realloc only */
    /* For model/peak.h. */
    uint64_t now;        /* the latest time stamp seen, of any lane */
    uint64_t peak_now;   /* the same, at the peak */
    uint64_t peak_until; /* at the latest, the peak's event had come then ... */
    uint32_t peak_lane;  /* ... in this lane */
};

/* After a change that may have been a rise; true when it made a new peak. */
static inline bool tide_water_check(struct tide_watermark *water, uint64_t ticks)
{
    if (water->usable > water->peak_usable)
        water->peak_usable = water->usable;
    if (water->bytes > water->highest)
        water->highest = water->bytes;
    if (water->bytes <= water->peak_bytes)
        return false;
    water->peaks++;
    water->peak_bytes = water->bytes;
    water->peak_blocks = water->blocks;
    water->peak_births = water->births;
    water->peak_ticks = ticks;
    water->peak_now = water->now;
    return true;
}

#endif
