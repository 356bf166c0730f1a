/* symbol/inflate.c - the beginning of something compressed, as long as it is needed.
 *
 * RFC 1950 and 1951.  zlib keeps a window of its own, of which it copies all it gives out,
 * and sums up bytes that nobody asks the sum of.  Here the output is the window.  Where
 * input and output are far from their ends, symbols are decoded by words and without any
 * test of them (run_fast); near them one at a time.
 *
 * The checksum is that of the whole and stands at the end: whoever reads less reads what
 * nobody vouches for.  When it turns out to be wrong, nobody can say where the wrong byte
 * is, so only the last step is refused; names that were read before are kept.
 */
#include "symbol/inflate.h"

#include <endian.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "symbol/huffman.h"

enum {
    TIDE_MATCH_MOST = 258,
    TIDE_EXTRA_MOST = 13,                     /* bits that are added to a value */
    TIDE_FAST_IN = 16,                        /* bytes that are left for the fast way */
    TIDE_FAST_OUT = 4 + TIDE_MATCH_MOST + 16, /* literals, a match, what is beyond it */
};

enum stage {
    TIDE_AT_HEADER, /* of all */
    TIDE_AT_BLOCK,
    TIDE_IN_STORED,
    TIDE_IN_CODES,
    TIDE_AT_CHECKSUM,
    TIDE_AT_END, /* the checksum was right */
    TIDE_BROKEN,
};

/* The next bits of the input, `count` of them; above these may be more that are right. */
struct bits {
    uint64_t word;
    unsigned count;
    const uint8_t *at, *end;
};

struct tide_inflate {
    struct bits in;
    uint8_t *begin, *out; /* borrowed: the output, and where it goes on */
    size_t capacity;
    enum stage stage;
    bool last;         /* the block is */
    bool fixed;        /* the tables are those of the fixed codes */
    uint32_t left;     /* of the bytes stored, or of the match, to be copied yet */
    uint32_t distance; /* of the match */
    struct tide_code literals[TIDE_LITERAL_PLACES];
    struct tide_code distances[TIDE_DISTANCE_PLACES];
};

struct tide_inflate *tide_inflate_open(const void *bytes, size_t size, void *out,
                                       size_t capacity)
{
    struct tide_inflate *const packed = malloc(sizeof(*packed));
    if (!packed)
        return NULL;
    packed->in = (struct bits){.at = bytes, .end = (const uint8_t *)bytes + size};
    packed->begin = packed->out = out;
    packed->capacity = capacity;
    packed->stage = TIDE_AT_HEADER;
    packed->last = false;
    packed->fixed = false;
    packed->left = 0;
    return packed;
}

void tide_inflate_close(struct tide_inflate *packed)
{
    free(packed);
}

/* --- Bits --------------------------------------------------------------------------- */

/* 56 bits at least, or all there are; never as many as a word has. */
static void fill(struct bits *in)
{
    for (; in->count < 56 && in->at < in->end; in->count += 8)
        in->word |= (uint64_t)*in->at++ << in->count;
}

/* The same where eight bytes can be read. */
static inline void fill_fast(struct bits *in)
{
    uint64_t word;
    memcpy(&word, in->at, sizeof(word));
    in->word |= le64toh(word) << in->count;
    in->at += (63 - in->count) >> 3;
    in->count |= 56;
}

static inline unsigned low(uint64_t word, unsigned bits)
{
    return (unsigned)(word & ((1u << bits) - 1));
}

static inline void skip(struct bits *in, unsigned bits)
{
    in->word >>= bits;
    in->count -= bits;
}

/* COUNT bits, 16 at most; false when there are not as many. */
static bool take(struct bits *in, unsigned count, unsigned *out)
{
    fill(in);
    if (in->count < count)
        return false;
    *out = low(in->word, count);
    skip(in, count);
    return true;
}

/* Give whole bytes back, and drop what is left of the one at hand. */
static void go_to_byte(struct bits *in)
{
    in->at -= in->count / 8;
    in->word = 0;
    in->count = 0;
}

/* The code that comes next in TABLE, whose index has ROOT bits; it is not skipped. */
static inline struct tide_code look_up(const struct tide_code *table, unsigned root,
                                       uint64_t word)
{
    const struct tide_code code = table[low(word, root)];
    if ((code.kind & ~(TIDE_CODE_PART - 1)) != TIDE_CODE_PART)
        return code;
    return table[code.value + low(word >> root, code.kind & (TIDE_CODE_PART - 1))];
}

/* The value of CODE, with the bits that are added to it: WORD begins with it. */
static inline uint32_t value_of(struct tide_code code, uint64_t word)
{
    static const uint16_t masks[TIDE_EXTRA_MOST + 1] = {
        0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 2047, 4095, 8191,
    };
    return code.value + (uint32_t)(word >> (code.bits - code.kind) & masks[code.kind]);
}

/* The same as look_up(), skipped, with all that is added to its value; false when the data
 * end before it does. */
static bool take_code(struct bits *in, const struct tide_code *table, unsigned root,
                      struct tide_code *out)
{
    fill(in);
    *out = look_up(table, root, in->word);
    if (in->count < out->bits)
        return false;
    if (out->kind < TIDE_CODE_PART)
        out->value = (uint16_t)value_of(*out, in->word);
    skip(in, out->bits);
    return true;
}

/* --- Headers ------------------------------------------------------------------------ */

static enum stage read_header(struct bits *in)
{
    unsigned method, flags;
    if (!take(in, 8, &method) || !take(in, 8, &flags))
        return TIDE_BROKEN;
    const bool deflate = (method & 15) == 8 && method >> 4 <= 7;
    const bool dictionary = flags & 0x20;
    return deflate && !dictionary && (method << 8 | flags) % 31 == 0 ? TIDE_AT_BLOCK
                                                                     : TIDE_BROKEN;
}

static enum stage read_stored(struct tide_inflate *packed)
{
    unsigned length, complement;
    struct bits *const in = &packed->in;
    go_to_byte(in);
    if (!take(in, 16, &length) || !take(in, 16, &complement) ||
        (length ^ complement) != 0xffff)
        return TIDE_BROKEN;
    go_to_byte(in);
    packed->left = length;
    return TIDE_IN_STORED;
}

/* The tables are made once for all blocks in a row that use them: such a block may have no
 * more than ten bits, and a file nothing else. */
static enum stage use_fixed_codes(struct tide_inflate *packed)
{
    uint8_t lengths[TIDE_LITERALS];
    if (packed->fixed)
        return TIDE_IN_CODES;
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    bool made = tide_huffman_build(packed->literals, TIDE_ALPHABET_LITERALS, lengths,
                                   TIDE_LITERALS);
    memset(lengths, 5, TIDE_DISTANCES);
    made = made && tide_huffman_build(packed->distances, TIDE_ALPHABET_DISTANCES,
                                      lengths, TIDE_DISTANCES);
    packed->fixed = made;
    return made ? TIDE_IN_CODES : TIDE_BROKEN;
}

/* The lengths of COUNT codes, written in the code of TABLE. */
static bool read_lengths(struct bits *in, const struct tide_code *table,
                         uint8_t *lengths, size_t count)
{
    static const struct {
        uint8_t bits, least;
    } runs[] = {{2, 3}, {3, 3}, {7, 11}};
    for (size_t at = 0; at < count;) {
        struct tide_code code;
        if (!take_code(in, table, TIDE_LENGTH_ROOT, &code) ||
            code.kind == TIDE_CODE_WRONG)
            return false;
        if (code.value < 16) {
            lengths[at++] = (uint8_t)code.value;
            continue;
        }
        unsigned more;
        if (!take(in, runs[code.value - 16].bits, &more))
            return false;
        const size_t run = more + runs[code.value - 16].least;
        if (run > count - at || (code.value == 16 && at == 0))
            return false;
        memset(lengths + at, code.value == 16 ? lengths[at - 1] : 0, run);
        at += run;
    }
    return true;
}

static enum stage read_codes(struct tide_inflate *packed)
{
    static const uint8_t order[TIDE_LENGTHS] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    struct bits *const in = &packed->in;
    struct tide_code table[TIDE_LENGTH_PLACES];
    uint8_t lengths[TIDE_LITERALS + TIDE_DISTANCES] = {0};
    unsigned literals, distances, count, length;
    if (!take(in, 5, &literals) || !take(in, 5, &distances) || !take(in, 4, &count))
        return TIDE_BROKEN;
    literals += 257;
    distances += 1;
    for (unsigned i = 0; i < count + 4; i++) {
        if (!take(in, 3, &length))
            return TIDE_BROKEN;
        lengths[order[i]] = (uint8_t)length;
    }
    if (literals > 286 || distances > 30 ||
        !tide_huffman_build(table, TIDE_ALPHABET_LENGTHS, lengths, TIDE_LENGTHS) ||
        !read_lengths(in, table, lengths, literals + distances) || lengths[256] == 0)
        return TIDE_BROKEN;
    packed->fixed = false;
    const bool made = tide_huffman_build(packed->literals, TIDE_ALPHABET_LITERALS,
                                         lengths, literals) &&
                      tide_huffman_build(packed->distances, TIDE_ALPHABET_DISTANCES,
                                         lengths + literals, distances);
    return made ? TIDE_IN_CODES : TIDE_BROKEN;
}

static enum stage begin_block(struct tide_inflate *packed)
{
    unsigned head;
    if (packed->last)
        return TIDE_AT_CHECKSUM;
    if (!take(&packed->in, 3, &head))
        return TIDE_BROKEN;
    packed->last = head & 1;
    switch (head >> 1) {
    case 0:
        return read_stored(packed);
    case 1:
        return use_fixed_codes(packed);
    case 2:
        return read_codes(packed);
    default:
        return TIDE_BROKEN;
    }
}

/* --- Contents ----------------------------------------------------------------------- */

static enum stage copy_stored(struct tide_inflate *packed, const uint8_t *target)
{
    struct bits *const in = &packed->in;
    const size_t there = (size_t)(in->end - in->at),
                 room = (size_t)(target - packed->out);
    size_t some = packed->left < room ? packed->left : room;
    if (there < some)
        some = there;
    memcpy(packed->out, in->at, some);
    packed->out += some;
    in->at += some;
    packed->left -= (uint32_t)some;
    if (packed->left == 0)
        return TIDE_AT_BLOCK;
    return packed->out == target ? TIDE_IN_STORED : TIDE_BROKEN;
}

/* Copy as much of the match as there is room for. */
static void copy_match(struct tide_inflate *packed, const uint8_t *target)
{
    for (; packed->left && packed->out < target; packed->left--, packed->out++)
        *packed->out = *(packed->out - packed->distance);
}

/* One symbol.  A literal, or a match, needs room for a byte; an end does not. */
static enum stage run_one(struct tide_inflate *packed, const uint8_t *target)
{
    struct bits *const in = &packed->in;
    struct tide_code code;
    if (!take_code(in, packed->literals, TIDE_LITERAL_ROOT, &code))
        return TIDE_BROKEN;
    if (code.kind == TIDE_CODE_END)
        return TIDE_AT_BLOCK;
    if (packed->out == target)
        return TIDE_BROKEN;
    if (code.kind == TIDE_CODE_LITERAL) {
        *packed->out++ = (uint8_t)code.value;
        return TIDE_IN_CODES;
    }
    const uint32_t length = code.value;
    if (code.kind >= TIDE_CODE_PART ||
        !take_code(in, packed->distances, TIDE_DISTANCE_ROOT, &code) ||
        code.kind >= TIDE_CODE_PART ||
        code.value > (size_t)(packed->out - packed->begin))
        return TIDE_BROKEN;
    packed->left = length;
    packed->distance = code.value;
    copy_match(packed, target);
    return TIDE_IN_CODES;
}

/* A match of LENGTH at OUT, behind which two words may be overwritten. */
static inline void copy_fast(uint8_t *out, uint32_t distance, uint32_t length)
{
    const uint8_t *from = out - distance;
    const uint8_t *const end = out + length;
    if (distance < 8) {
        while (out < end)
            *out++ = *from++;
        return;
    }
    do {
        memcpy(out, from, 8);
        memcpy(out + 8, from + 8, 8);
        out += 16;
        from += 16;
    } while (out < end);
}

/* The literals at hand, three at most; CODE is the one that comes next, and becomes the
 * first that is none of them. */
static inline uint8_t *take_literals(struct bits *in, const struct tide_code *table,
                                     struct tide_code *code, uint8_t *out)
{
    for (int i = 0; i < 3 && code->kind == TIDE_CODE_LITERAL; i++) {
        *out++ = (uint8_t)code->value;
        skip(in, code->bits);
        *code = table[low(in->word, TIDE_LITERAL_ROOT)];
    }
    return out;
}

/* Symbols, as long as input and output are far from their ends.  What is not right is left
 * to run_one(), which says what is wrong with it.  A word has room for three literals that
 * need no part, or for a match. */
static void run_fast(struct tide_inflate *packed, const uint8_t *target)
{
    const struct tide_code *const literals = packed->literals;
    const struct tide_code *const distances = packed->distances;
    struct bits in = packed->in;
    uint8_t *out = packed->out;
    while (in.end - in.at >= TIDE_FAST_IN && target - out >= TIDE_FAST_OUT) {
        fill_fast(&in);
        struct tide_code code = literals[low(in.word, TIDE_LITERAL_ROOT)];
        if (code.kind == TIDE_CODE_LITERAL) {
            out = take_literals(&in, literals, &code, out);
            fill_fast(&in);
        }
        if (code.kind & TIDE_CODE_PART)
            code = look_up(literals, TIDE_LITERAL_ROOT, in.word);
        if (code.kind == TIDE_CODE_LITERAL) {
            *out++ = (uint8_t)code.value;
            skip(&in, code.bits);
            continue;
        }
        if (code.kind & TIDE_CODE_PART)
            break;
        const uint64_t rest = in.word >> code.bits;
        const struct tide_code far = look_up(distances, TIDE_DISTANCE_ROOT, rest);
        if (far.kind & TIDE_CODE_PART)
            break;
        const uint32_t length = value_of(code, in.word), distance = value_of(far, rest);
        if (distance > (size_t)(out - packed->begin))
            break;
        in.word = rest >> far.bits;
        in.count -= code.bits + (unsigned)far.bits;
        copy_fast(out, distance, length);
        out += length;
    }
    packed->in = in;
    packed->out = out;
}

static enum stage run_codes(struct tide_inflate *packed, const uint8_t *target)
{
    if (packed->left) { /* there was no room for all of it */
        copy_match(packed, target);
        return TIDE_IN_CODES;
    }
    run_fast(packed, target);
    return run_one(packed, target);
}

static enum stage compare_checksum(struct tide_inflate *packed)
{
    struct bits *const in = &packed->in;
    uint32_t said;
    go_to_byte(in);
    if (in->end - in->at < (ptrdiff_t)sizeof(said))
        return TIDE_BROKEN;
    memcpy(&said, in->at, sizeof(said));
    const size_t size = (size_t)(packed->out - packed->begin);
    const uLong sum = adler32_z(adler32_z(0, NULL, 0), packed->begin, size);
    return sum == be32toh(said) ? TIDE_AT_END : TIDE_BROKEN;
}

/* Go on, up to TARGET at most. */
static enum stage step(struct tide_inflate *packed, const uint8_t *target)
{
    switch (packed->stage) {
    case TIDE_AT_HEADER:
        return read_header(&packed->in);
    case TIDE_AT_BLOCK:
        return begin_block(packed);
    case TIDE_IN_STORED:
        return copy_stored(packed, target);
    case TIDE_IN_CODES:
        return run_codes(packed, target);
    case TIDE_AT_CHECKSUM:
        return compare_checksum(packed);
    case TIDE_AT_END:
    case TIDE_BROKEN:
        break;
    }
    return packed->stage;
}

bool tide_inflate_until(struct tide_inflate *packed, size_t end)
{
    if (end > packed->capacity)
        return false;
    const uint8_t *const target = packed->begin + end;
    const bool whole = end == packed->capacity;
    while (packed->stage < TIDE_AT_END && (packed->out < target || whole)) {
        if (packed->out == target && packed->left)
            packed->stage = TIDE_BROKEN; /* there is more than there should be */
        else
            packed->stage = step(packed, target);
    }
    return packed->out >= target && (!whole || packed->stage == TIDE_AT_END);
}
