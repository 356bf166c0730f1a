/* model/tags.h - compare one byte with many.
 *
 * For: live.c.  Where the machine can do it in one go, it does.
 */
#ifndef TIDE_MODEL_TAGS_H
#define TIDE_MODEL_TAGS_H

#include <stdint.h>
#include <string.h>

enum { TIDE_TAGS_AT_ONCE = 32 };

#ifdef __SSE2__

#    include <emmintrin.h>

/* Bit i of the result: tags[i] is TAG.  All TIDE_TAGS_AT_ONCE of them are read. */
static inline uint32_t tide_tags_equal(const uint8_t *tags, uint8_t tag)
{
    const __m128i wanted = _mm_set1_epi8((char)tag);
    __m128i low, high;
    memcpy(&low, tags, sizeof(low));
    memcpy(&high, tags + sizeof(low), sizeof(high));
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(low, wanted)) |
           (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(high, wanted)) << 16;
}

#else

static inline uint32_t tide_tags_equal(const uint8_t *tags, uint8_t tag)
{
    uint32_t equal = 0;
    for (unsigned i = 0; i < TIDE_TAGS_AT_ONCE; i++)
        equal |= (uint32_t)(tags[i] == tag) << i;
    return equal;
}

#endif

#endif
