/* trace/encode_columns.h - the columns of a chunk in the making.
 *
 * For: encode.c.  All columns stand in one piece of memory, each with room for the most that
 * the rows put so far can become: nothing is checked while they are put.  What is never
 * written is never touched, so room costs addresses, not memory.
 */
#ifndef TIDE_TRACE_ENCODE_COLUMNS_H
#define TIDE_TRACE_ENCODE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

enum {
    TIDE_COLUMN_SPARE =
        64, /* tide_put_varint_any() writes a little more than it puts */
    /* Whole chunks of most lanes: to move what stands there costs more than addresses. */
    TIDE_COLUMN_WORDS_LEAST = 192 * 1024,
};

struct tide_column_set {
    uint8_t *bytes;               /* owned: all of them, one after the other */
    size_t capacity;              /* words of rows that they have room for */
    uint8_t *start[TIDE_COLUMNS]; /* where each begins */
    uint8_t *out[TIDE_COLUMNS];   /* where its next byte goes */
};

/* So many bytes of COLUMN can so many words of rows become, at most. */
static inline size_t tide_column_most(unsigned column, size_t words)
{
    static const uint8_t most[TIDE_COLUMNS] = {
        [TIDE_COLUMN_TAGS] = 1,        [TIDE_COLUMN_TIMES] = 10,
        [TIDE_COLUMN_NUMBERS_LOW] = 1, [TIDE_COLUMN_NUMBERS_HIGH] = 1,
        [TIDE_COLUMN_SIZES] = 1,       [TIDE_COLUMN_SIZES_MORE] = 4,
        [TIDE_COLUMN_PLACES_HIGH] = 1, [TIDE_COLUMN_PLACES_LOW] = 1,
        [TIDE_COLUMN_BIRTHS] = 5,      [TIDE_COLUMN_DEATHS] = 10,
        [TIDE_COLUMN_AGES_LOW] = 1,    [TIDE_COLUMN_AGES_HIGH] = 1,
        [TIDE_COLUMN_STACKS] = 1,      [TIDE_COLUMN_FRAMES] = 10,
        [TIDE_COLUMN_REST] = 10,
    };
    return words * most[column] + TIDE_COLUMN_SPARE;
}

static inline void tide_column_set_clear(struct tide_column_set *set)
{
    memcpy(set->out, set->start, sizeof(set->out));
}

static inline void tide_column_set_release(struct tide_column_set *set)
{
    free(set->bytes);
    *set = (struct tide_column_set){0};
}

/* Move all columns to where each has room for what so many words of rows become.  False:
 * there is none, and SET is as it was. */
static inline bool tide_column_set_move(struct tide_column_set *set, size_t words)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        bytes += tide_column_most(i, words);
    uint8_t *const moved = malloc(bytes);
    if (!moved)
        return false;
    uint8_t *at = moved;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const size_t length = (size_t)(set->out[i] - set->start[i]);
        if (length)
            memcpy(at, set->start[i], length);
        set->start[i] = at;
        set->out[i] = at + length;
        at += tide_column_most(i, words);
    }
    free(set->bytes);
    set->bytes = moved;
    set->capacity = words;
    return true;
}

/* Room for what so many words of rows become, those that are in SET already included; for
 * more, where there is memory.  False: there is none, and SET is as it was. */
static inline bool tide_column_set_room(struct tide_column_set *set, size_t words)
{
    if (words <= set->capacity)
        return true;
    size_t wider = set->capacity > TIDE_COLUMN_WORDS_LEAST ? set->capacity
                                                           : TIDE_COLUMN_WORDS_LEAST;
    while (wider < words)
        wider *= 2;
    return tide_column_set_move(set, wider) || tide_column_set_move(set, words);
}

#endif
