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
    uint64_t highest;        /* bytes, since whoever keeps the timeline set it, ... */
    uint64_t highest_before; /* ... but for this, from before mmap changed */
    uint64_t together;       /* of mmap: with the heap, at least, at one time */
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

static inline void tide_water_raise(uint64_t *most, uint64_t value)
{
    *most = value > *most ? value : *most;
}

/* MAPPED, and SHARED memory beside it, have stood as they do since this was called last, and
 * are about to change.  What they and HEAP held together must not depend on where runs of events end: hence not usable in
 * between, whose highest nobody notes. */
static inline void tide_water_meet(struct tide_watermark *heap,
                                   struct tide_watermark *mapped, uint64_t shared)
{
    tide_water_raise(&mapped->together, heap->highest + mapped->bytes + shared);
    tide_water_raise(&mapped->together, heap->usable + mapped->bytes + shared);
    tide_water_raise(&heap->highest_before, heap->highest);
    heap->highest = heap->bytes;
}

/* A stretch of the timeline ends: HEAP's highest is that of all of it. */
static inline void tide_water_rest(struct tide_watermark *heap,
                                   struct tide_watermark *mapped, uint64_t shared)
{
    tide_water_raise(&mapped->together, heap->highest + mapped->bytes + shared);
    tide_water_raise(&heap->highest, heap->highest_before);
    heap->highest_before = 0;
}

#endif
