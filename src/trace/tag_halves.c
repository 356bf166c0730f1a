/* trace/tag_halves.c - the column of tags as it is stored: two of them in a byte. */
#include "trace/tag_halves.h"

#include <string.h>

enum {
    TIDE_TAG_KINDS = 256,
    TIDE_TELL_ALL = 4096,
    TIDE_TELL_STEP = 13,
    TIDE_PAIRS_AT_ONCE = 8,
};

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

/* Does one of TIDE_PAIRS_AT_ONCE bytes have a half that stands for no tag? */
static bool has_others(const uint8_t *halves)
{
    uint64_t bytes;
    memcpy(&bytes, halves, sizeof(bytes));
    const uint64_t pairs = bytes & bytes >> 1;
    return pairs & pairs >> 2 & 0x1111111111111111u;
}

static void put_pairs(const struct pair pairs[TIDE_TAG_KINDS], const uint8_t *halves,
                      uint8_t *out)
{
    for (unsigned i = 0; i < TIDE_PAIRS_AT_ONCE; i++)
        memcpy(out + 2 * i, &pairs[halves[i]], sizeof(struct pair));
}

/* Tags that have no half, and where they end. */
struct others {
    const uint8_t *at, *end;
};

/* The tags of BYTE to OUT, two unless fewer are LEFT; false: there are not as many others as it
 * asks for. */
static bool spell_out(uint8_t byte, const uint8_t kinds[TIDE_HALF_KINDS],
                      struct others *others, uint8_t *out, size_t left)
{
    for (size_t i = 0; i < 2 && i < left; i++, byte >>= 4) {
        const unsigned half = byte & 15;
        if (half == TIDE_HALF_KINDS && others->at == others->end)
            return false;
        out[i] = half < TIDE_HALF_KINDS ? kinds[half] : *others->at++;
    }
    return true;
}

bool tide_tags_from_halves(const uint8_t *halves, size_t length, uint8_t *out,
                           size_t count)
{
    const size_t bytes = count / 2 + count % 2;
    if (length < TIDE_HALF_KINDS || length - TIDE_HALF_KINDS < bytes)
        return false;
    const uint8_t *const kinds = halves;
    struct others others = {kinds + TIDE_HALF_KINDS + bytes, halves + length};
    struct pair pairs[TIDE_TAG_KINDS];
    fill_pairs(kinds, pairs);
    halves += TIDE_HALF_KINDS;
    for (size_t at = 0; at < bytes; at++) {
        const size_t left = count - at * 2;
        if (left >= TIDE_PAIRS_AT_ONCE * 2 && !has_others(halves + at)) {
            put_pairs(pairs, halves + at, out + at * 2);
            at += TIDE_PAIRS_AT_ONCE - 1;
        } else if (!spell_out(halves[at], kinds, &others, out + at * 2, left)) {
            return false;
        }
    }
    return others.at == others.end && (count % 2 == 0 || halves[bytes - 1] < 16);
}
