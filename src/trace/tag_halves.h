/* trace/tag_halves.h - the column of tags as it is stored: two of them in a byte.
 *
 * For: writer.c, chunk_in.c, tests/.  Programs use few kinds of records, and a compressor that
 * codes byte by byte gives each a bit at least, even where a free is always followed by an
 * allocation.  Two at a time are less.
 *
 * The halves of a column: TIDE_HALF_KINDS bytes, the tags that halves from 0 on stand for; a
 * byte for every two tags, the first in its low half (the last high one may be missing, and
 * is 0); then the tags whose half is TIDE_HALF_KINDS, in their order.
 */
#ifndef TIDE_TRACE_TAG_HALVES_H
#define TIDE_TRACE_TAG_HALVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIDE_HALF_KINDS = 15 };

/* The most bytes that the halves of COUNT tags take. */
static inline size_t tide_halves_most(size_t count)
{
    return TIDE_HALF_KINDS + (count + 1) / 2 + count;
}

/* The halves of COUNT tags to OUT, which has room for the most; how many bytes they take. */
size_t tide_tags_to_halves(const uint8_t *tags, size_t count, uint8_t *out);

/* COUNT tags to OUT from LENGTH bytes of halves, which may hold anything.  False: they are
 * not the halves of so many tags. */
bool tide_tags_from_halves(const uint8_t *halves, size_t length, uint8_t *out,
                           size_t count);

#endif
