/* trace/row_hand.h - rows, taken word by word from memory that may hold anything.
 *
 * For: encode.c.
 */
#ifndef TIDE_TRACE_ROW_HAND_H
#define TIDE_TRACE_ROW_HAND_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/row.h"

/* The row at hand. */
struct tide_row_hand {
    const uint64_t *at, *end;
};

static inline bool tide_row_has(const struct tide_row_hand *row, uint64_t words)
{
    return (uint64_t)(row->end - row->at) >= words;
}

/* Is all of the stack there, as MODE gives it? */
static inline bool tide_row_stack_fits(const struct tide_row_hand *row, unsigned mode,
                                       uint64_t entry)
{
    if (mode == TIDE_STACK_ENTRY)
        return entry < TIDE_RECENTS;
    if (mode == TIDE_STACK_LEAF)
        return tide_row_has(row, 1);
    return mode == TIDE_STACK_DELTA && tide_row_has(row, 1) &&
           tide_row_has(row, 1 + (*row->at >> 32));
}

#endif
