/* trace/row.h - what stands in the ring of a lane: rows of words.
 *
 * For: capture/ (writes rows), trace/encode.c (turns them into records of a file), tests/.
 * Rows are made to be written in a few stores; what makes a file small is found out by the
 * collector, on another core.  A row says what format.h's record of the same operation
 * says, with plain addresses; the rows of one machine are never read on another.
 *
 * All words are 64 bits.  The first one holds a tag in bits 48-55 (operation, NUMBERED,
 * stack mode and so on, as in format.h) and a detail in bits 56-63.
 *
 *   op          below the tag, detail        then
 *   ALLOC       address, kind                size | slack << 32 | entry << 48
 *   MOVE_END    the same
 *   FREE        address, stack mode          entry, when STACKED
 *   MOVE_BEGIN  the same
 *   MOVE_BACK   -
 *   TIME        -                            ticks (absolute)
 *   SYNC        flags, also ROW_UNORDERED    ticks, epoch, tid
 *   MAP         entry, call                  address, length, argument 1, argument 2
 *   EXTRA       kind, count of values        so many values
 *
 * After these: WIDE (births and deaths: something does not fit, and counts for nothing
 * where it stands): address, and of births size, usable, align_log2; NUMBERED: the number;
 * then the stack, by mode: ENTRY nothing, DELTA pop | push << 32 and so many words, LEAF one
 * word. */
#ifndef TIDE_TRACE_ROW_H
#define TIDE_TRACE_ROW_H

#include <stdint.h>

#include "trace/format.h"

#define TIDE_ROW_TAG_SHIFT    48
#define TIDE_ROW_DETAIL_SHIFT 56
#define TIDE_ROW_SLACK_SHIFT  32
#define TIDE_ROW_ENTRY_SHIFT  48
#define TIDE_ROW_ADDRESS_MASK ((1ull << TIDE_ROW_TAG_SHIFT) - 1)
#define TIDE_ROW_SIZES_MASK   ((1ull << TIDE_ROW_ENTRY_SHIFT) - 1) /* size and slack */
#define TIDE_ROW_WIDE         0x80u /* in the tag of a birth or a death */

#define TIDE_ROW_TAG(word)    ((unsigned)((word) >> TIDE_ROW_TAG_SHIFT) & 0xffu)
#define TIDE_ROW_DETAIL(word) ((unsigned)((word) >> TIDE_ROW_DETAIL_SHIFT))
#define TIDE_ROW_HEAD(tag, detail, below)                        \
    ((uint64_t)(below) | (uint64_t)(tag) << TIDE_ROW_TAG_SHIFT | \
     (uint64_t)(detail) << TIDE_ROW_DETAIL_SHIFT)

/* In the flags of a SYNC, for the collector alone: there are threads, and none takes numbers.
 * Stamps are all that is known of their order. */
#define TIDE_ROW_UNORDERED 2u

/* How a row gives its stack: NEXT and RECENT of format.h are one here. */
#define TIDE_STACK_ENTRY TIDE_STACK_RECENT

/* The rows that go into one chunk, in bytes; and how often a lane resets. */
#define TIDE_ROWS_MAX   (4096u * 1024u)
#define TIDE_SYNC_BYTES (2048u * 1024u)

#endif
