/* symbol/huffman.c - the codes of compressed data (RFC 1951), as tables to look up.
 */
#include "symbol/huffman.h"

#include <limits.h>
#include <string.h>

static const uint16_t LENGTH_BASES[] = {3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                        15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                        67, 83, 99, 115, 131, 163, 195, 227, 258};
static const uint8_t LENGTH_EXTRAS[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                        2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
static const uint16_t DISTANCE_BASES[] = {
    1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
static const uint8_t DISTANCE_EXTRAS[] = {0, 0, 0,  0,  1,  1,  2,  2,  3,  3,
                                          4, 4, 5,  5,  6,  6,  7,  7,  8,  8,
                                          9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
enum {
    TIDE_LENGTH_SYMBOLS = sizeof(LENGTH_EXTRAS),
    TIDE_DISTANCE_SYMBOLS = sizeof(DISTANCE_EXTRAS),
    TIDE_END_SYMBOL = 256,
};

static const unsigned ROOTS[] = {TIDE_LENGTH_ROOT, TIDE_LITERAL_ROOT,
                                 TIDE_DISTANCE_ROOT};
static const unsigned PLACES[] = {TIDE_LENGTH_PLACES, TIDE_LITERAL_PLACES,
                                  TIDE_DISTANCE_PLACES};

static struct tide_code code_of(enum tide_alphabet alphabet, unsigned symbol,
                                unsigned bits)
{
    struct tide_code code = {
        .value = (uint16_t)symbol, .bits = (uint8_t)bits, .kind = TIDE_CODE_LITERAL};
    if (alphabet == TIDE_ALPHABET_DISTANCES) {
        const bool known = symbol < TIDE_DISTANCE_SYMBOLS;
        code.kind = known ? DISTANCE_EXTRAS[symbol] : TIDE_CODE_WRONG;
        code.value = known ? DISTANCE_BASES[symbol] : 0;
    } else if (symbol == TIDE_END_SYMBOL) {
        code.kind = TIDE_CODE_END;
    } else if (symbol > TIDE_END_SYMBOL) {
        const unsigned length = symbol - TIDE_END_SYMBOL - 1;
        const bool known = length < TIDE_LENGTH_SYMBOLS;
        code.kind = known ? LENGTH_EXTRAS[length] : TIDE_CODE_WRONG;
        code.value = known ? LENGTH_BASES[length] : 0;
    }
    if (code.kind < TIDE_CODE_PART)
        code.bits = (uint8_t)(bits + code.kind);
    return code;
}

static unsigned reversed(unsigned code, unsigned bits)
{
    unsigned out = 0;
    for (; bits; bits--, code >>= 1)
        out = out << 1 | (code & 1);
    return out;
}

/* How many codes of each length; false when there are too many, or fewer than would be
 * needed to give every string of bits a meaning: a single one, or none, may stand for
 * itself, and *COMPLETE is false. */
static bool count_lengths(const uint8_t *lengths, size_t count, uint16_t *counts,
                          bool *complete)
{
    memset(counts, 0, (TIDE_CODE_MOST + 1) * sizeof(*counts));
    for (size_t i = 0; i < count; i++)
        counts[lengths[i]]++;
    const bool single = count - counts[0] == counts[1] && counts[1] <= 1;
    counts[0] = 0;
    int left = 1;
    for (unsigned bits = 1; bits <= TIDE_CODE_MOST; bits++) {
        left = left * 2 - counts[bits];
        if (left < 0)
            return false;
    }
    *complete = left == 0;
    return *complete || single;
}

/* The symbols that have a code, in the order of their codes. */
static void sort_symbols(const uint8_t *lengths, size_t count, const uint16_t *counts,
                         uint16_t *sorted)
{
    uint16_t next[TIDE_CODE_MOST + 2] = {0};
    for (unsigned bits = 1; bits <= TIDE_CODE_MOST; bits++)
        next[bits + 1] = (uint16_t)(next[bits] + counts[bits]);
    for (size_t symbol = 0; symbol < count; symbol++)
        if (lengths[symbol])
            sorted[next[lengths[symbol]]++] = (uint16_t)symbol;
}

/* A table in the making. */
struct build {
    struct tide_code *table;
    unsigned root, used, places;
    unsigned prefix; /* of the part that was begun last */
    uint16_t
        counts[TIDE_CODE_MOST + 1]; /* codes of each length that are still to come */
};

/* How many bits the part needs in which the next code, of BITS, is the first. */
static unsigned part_bits(const struct build *build, unsigned bits)
{
    unsigned part = bits - build->root;
    int left = 1 << part;
    while (build->root + part < TIDE_CODE_MOST) {
        left -= build->counts[build->root + part];
        if (left <= 0)
            break;
        part++;
        left *= 2;
    }
    return part;
}

/* Enter CODE, of BITS, at all places whose index ends with PATTERN; false without room. */
static bool enter(struct build *build, unsigned pattern, unsigned bits,
                  struct tide_code code)
{
    struct tide_code *to = build->table;
    unsigned size = 1u << build->root, step = 1u << bits;
    if (bits > build->root) {
        const unsigned prefix = pattern & (size - 1);
        struct tide_code *const first = &to[prefix];
        if (prefix != build->prefix) {
            const unsigned part = part_bits(build, bits);
            if (build->used + (1u << part) > build->places)
                return false;
            *first = (struct tide_code){.value = (uint16_t)build->used,
                                        .kind = (uint8_t)(TIDE_CODE_PART | part)};
            build->used += 1u << part;
            build->prefix = prefix;
        }
        to += first->value;
        size = 1u << (first->kind & (TIDE_CODE_PART - 1));
        step = 1u << (bits - build->root);
        pattern >>= build->root;
    }
    for (; pattern < size; pattern += step)
        to[pattern] = code;
    return true;
}

bool tide_huffman_build(struct tide_code *table, enum tide_alphabet alphabet,
                        const uint8_t *lengths, size_t count)
{
    struct build build = {.table = table,
                          .root = ROOTS[alphabet],
                          .used = 1u << ROOTS[alphabet],
                          .places = PLACES[alphabet],
                          .prefix = UINT_MAX};
    uint16_t sorted[TIDE_LITERALS];
    bool complete;
    if (!count_lengths(lengths, count, build.counts, &complete) ||
        (!complete && alphabet == TIDE_ALPHABET_LENGTHS))
        return false;
    sort_symbols(lengths, count, build.counts, sorted);
    for (size_t i = 0; !complete && i < build.places; i++)
        table[i] = (struct tide_code){.bits = 1, .kind = TIDE_CODE_WRONG};
    const uint16_t *symbol = sorted;
    unsigned next = 0; /* code */
    for (unsigned bits = 1; bits <= TIDE_CODE_MOST; bits++, next *= 2) {
        for (; build.counts[bits]; build.counts[bits]--, symbol++)
            if (!enter(&build, reversed(next++, bits), bits,
                       code_of(alphabet, *symbol, bits)))
                return false;
    }
    return true;
}
