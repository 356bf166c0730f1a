/* trace/tag_halves.c - the column of tags as it is stored: two of them in a byte. */
#include "trace/tag_halves.h"

#include <string.h>

enum { TIDE_TAG_KINDS = 256, TIDE_TELL_ALL = 4096, TIDE_TELL_STEP = 13 };

/* The tags that are there most often, the first of them most often.  A part of them tells:
 * every so many, a number that no pattern has. */
static void choose_kinds(const uint8_t *tags, size_t count,
                         uint8_t kinds[TIDE_HALF_KINDS])
{
    uint32_t counts[TIDE_TAG_KINDS] = {0};
    const size_t step = count < TIDE_TELL_ALL ? 1 : TIDE_TELL_STEP;
    for (size_t i = 0; i < count; i += step)
        counts[tags[i]]++;
    for (unsigned i = 0; i < TIDE_HALF_KINDS; i++) {
        unsigned most = 0;
        for (unsigned tag = 1; tag < TIDE_TAG_KINDS; tag++)
            if (counts[tag] > counts[most])
                most = tag;
        kinds[i] = (uint8_t)most;
        counts[most] = 0;
    }
}

size_t tide_tags_to_halves(const uint8_t *tags, size_t count, uint8_t *out)
{
    uint8_t half_of[TIDE_TAG_KINDS];
    uint8_t *const kinds = out, *const halves = kinds + TIDE_HALF_KINDS;
    uint8_t *others = halves + (count + 1) / 2;
    choose_kinds(tags, count, kinds);
    memset(half_of, TIDE_HALF_KINDS, sizeof(half_of));
    for (unsigned i = TIDE_HALF_KINDS; i-- > 0;)
        half_of[kinds[i]] = (uint8_t)i;
    for (size_t i = 0; i < count; i += 2) {
        const unsigned low = half_of[tags[i]];
        const unsigned high = i + 1 < count ? half_of[tags[i + 1]] : 0;
        halves[i / 2] = (uint8_t)(low | high << 4);
        if (__builtin_expect(low < TIDE_HALF_KINDS && high < TIDE_HALF_KINDS, 1))
            continue;
        if (low == TIDE_HALF_KINDS)
            *others++ = tags[i];
        if (high == TIDE_HALF_KINDS)
            *others++ = tags[i + 1];
    }
    return (size_t)(others - out);
}

/* Two tags that stand in one byte. */
struct pair {
    uint8_t tags[2];
};

/* What each byte stands for, where its halves are below TIDE_HALF_KINDS. */
static void fill_pairs(const uint8_t kinds[TIDE_HALF_KINDS],
                       struct pair pairs[TIDE_TAG_KINDS])
{
    for (unsigned high = 0; high < TIDE_HALF_KINDS; high++)
        for (unsigned low = 0; low < TIDE_HALF_KINDS; low++)
            pairs[high << 4 | low] = (struct pair){{kinds[low], kinds[high]}};
}

/* Does one of these bytes have a half that stands for no tag? */
static bool has_others(uint64_t bytes)
{
    const uint64_t pairs = bytes & bytes >> 1;
    return pairs & pairs >> 2 & 0x1111111111111111u;
}

/* COUNT tags of BYTE to OUT, those that have no half from *OTHER on. */
static bool spell_out(uint8_t byte, const uint8_t kinds[TIDE_HALF_KINDS],
                      const uint8_t **other, const uint8_t *end, uint8_t *out,
                      size_t count)
{
    for (size_t i = 0; i < count; i++, byte >>= 4) {
        const unsigned half = byte & 15;
        if (half == TIDE_HALF_KINDS && *other == end)
            return false;
        out[i] = half < TIDE_HALF_KINDS ? kinds[half] : *(*other)++;
    }
    return true;
}

bool tide_tags_from_halves(const uint8_t *halves, size_t length, uint8_t *out,
                           size_t count)
{
    const size_t bytes = count / 2 + count % 2;
    if (length < TIDE_HALF_KINDS || length - TIDE_HALF_KINDS < bytes)
        return false;
    const uint8_t *const kinds = halves, *const end = halves + length;
    const uint8_t *other = kinds + TIDE_HALF_KINDS + bytes;
    struct pair pairs[TIDE_TAG_KINDS];
    fill_pairs(kinds, pairs);
    halves += TIDE_HALF_KINDS;
    size_t at = 0;
    while (at < bytes) {
        uint64_t word = UINT64_MAX;
        if (count - at * 2 >= 2 * sizeof(word))
            memcpy(&word, halves + at, sizeof(word));
        if (__builtin_expect(!has_others(word), 1)) {
            for (size_t i = 0; i < sizeof(word); i++)
                memcpy(out + (at + i) * 2, &pairs[halves[at + i]], sizeof(struct pair));
            at += sizeof(word);
            continue;
        }
        const size_t here = count - at * 2 < 2 ? 1 : 2;
        if (!spell_out(halves[at], kinds, &other, end, out + at * 2, here))
            return false;
        at++;
    }
    return other == end && (count % 2 == 0 || halves[bytes - 1] < 16);
}
