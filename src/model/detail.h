/* model/detail.h - what is found out of single blocks, when it is asked for.
 *
 * For: model/, tests/.  A selection leaves out blocks by their size, birth or life; those
 * are counted all the same, in contexts of their own, so that the space stands as high
 * as it did.  Histograms are of powers of two: place 0 is for 0, place N for 2^(N-1) up
 * to 2^N - 1.
 *
 * How long a block lived is the time, and what was allocated meanwhile, from its birth to
 * its death; realloc ends one block and begins another.  When a block was born is looked
 * up by the number of its birth in a calendar, which knows the last 4096 births, of older
 * ones every second, and so on: a life is known to one in 2048 of the births during it.
 */
#ifndef TIDE_MODEL_DETAIL_H
#define TIDE_MODEL_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

enum {
    TIDE_CALENDAR_PAGES = 37,   /* 2^48 births */
    TIDE_CALENDAR_LINES = 4096, /* of a page; a power of two */
};

/* Which blocks count. */
struct tide_selection {
    uint64_t window_from;           /* ticks; peaks are those since then */
    uint64_t born_from, born_until; /* ticks */
    uint64_t size_least, size_most; /* bytes */
    uint64_t life_least, life_most; /* ticks; never freed: UINT64_MAX */
};

/* Everything counts. */
#define TIDE_SELECT_ALL       \
    ((struct tide_selection){ \
        .born_until = UINT64_MAX, .size_most = UINT64_MAX, .life_most = UINT64_MAX})

static inline bool tide_selects_birth(const struct tide_selection *selection,
                                      uint64_t ticks, uint64_t size)
{
    return ticks >= selection->born_from && ticks <= selection->born_until &&
           size >= selection->size_least && size <= selection->size_most;
}

static inline bool tide_selects_life(const struct tide_selection *selection,
                                     uint64_t ticks)
{
    return ticks >= selection->life_least && ticks <= selection->life_most;
}

/* A moment of the run: its time, and what the heap had allocated by then. */
struct tide_moment_of_birth {
    uint64_t ticks, bytes;
};

struct tide_detail {
    struct tide_histograms histograms;
    uint64_t allocated; /* bytes, so far */
    struct tide_moment_of_birth calendar[TIDE_CALENDAR_PAGES][TIDE_CALENDAR_LINES];
};

/* Birth NUMBER, of BYTES, comes at TICKS. */
void tide_detail_birth(struct tide_detail *detail, uint64_t number, uint64_t ticks,
                       uint64_t bytes);
/* When birth NUMBER was, when NEWEST is the last one. */
struct tide_moment_of_birth tide_detail_born(const struct tide_detail *detail,
                                             uint64_t number, uint64_t newest);

static inline unsigned tide_histogram_place(uint64_t value)
{
    return value ? 64 - (unsigned)__builtin_clzll(value) : 0;
}

/* The least value of PLACE. */
static inline uint64_t tide_histogram_least(size_t place)
{
    return place ? 1ull << (place - 1) : 0;
}

/* BYTES of one block, at the place of VALUE. */
static inline void tide_histogram_add(struct tide_histogram *histogram, uint64_t value,
                                      uint64_t bytes)
{
    const unsigned place = tide_histogram_place(value);
    histogram->calls[place]++;
    histogram->bytes[place] += bytes;
}

#endif
