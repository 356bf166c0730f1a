/* trace/encode_stamp.h - which time stamps of a lane are worth their bytes.
 *
 * For: encode.c.
 */
#ifndef TIDE_TRACE_ENCODE_STAMP_H
#define TIDE_TRACE_ENCODE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/encode.h"
#include "trace/row_hand.h"

/* A lane stamps the time every KiB, or 128 events at most, and readers take up to 1024
 * between two stamps for one stretch. */
enum { TIDE_STAMPS_LEFT_OUT = 6 };

/* Is there nothing but a long rest behind the stamp at ROW?  Then it says when that began. */
static inline bool tide_stamp_begins_rest(uint64_t stamp_ticks,
                                          const struct tide_row_hand *row)
{
    const uint64_t *const next = row->at + 2;
    return row->end - next >= 2 && TIDE_TAG_OP(TIDE_ROW_TAG(*next)) == TIDE_OP_TIME &&
           next[1] - row->at[1] >= stamp_ticks;
}

/* May the stamp at ROW be left out, being less than STAMP_TICKS after the last one?  Not where
 * threads have to be put in order by their stamps, nor beside what a program says itself: that
 * is timed as well as can be. */
static inline bool tide_stamp_is_spare(uint64_t stamp_ticks,
                                       const struct tide_encoder_lane *lane,
                                       const struct tide_row_hand *row)
{
    const uint64_t *const next = row->at + 2;
    return row->at[1] - lane->ticks < stamp_ticks && !lane->numbers && !lane->told &&
           lane->left_out < TIDE_STAMPS_LEFT_OUT && next < row->end &&
           TIDE_TAG_OP(TIDE_ROW_TAG(*next)) != TIDE_OP_EXTRA &&
           !tide_stamp_begins_rest(stamp_ticks, row);
}

#endif
