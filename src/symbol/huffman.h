/* symbol/huffman.h - the codes of compressed data (RFC 1951), as tables to look up.
 *
 * For: inflate.c.  A table is indexed by the next TIDE_*_ROOT bits of the data; codes that
 * are longer continue in a part of their own behind it.
 */
#ifndef TIDE_SYMBOL_HUFFMAN_H
#define TIDE_SYMBOL_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TIDE_CODE_MOST = 15, /* bits */
    TIDE_LITERALS = 288, /* symbols: bytes, the end, lengths */
    TIDE_DISTANCES = 32,
    TIDE_LENGTHS = 19, /* symbols of the code in which the others are written */
    TIDE_LITERAL_ROOT = 11,
    TIDE_DISTANCE_ROOT = 8,
    TIDE_LENGTH_ROOT = 7,
    /* Places, with all parts that any code can need: what zlib's `enough` says. */
    TIDE_LITERAL_PLACES = 2342,
    TIDE_DISTANCE_PLACES = 402,
    TIDE_LENGTH_PLACES = 1 << TIDE_LENGTH_ROOT,
};

/* What a place means; else it is how many more bits are added to its value.  All that ends
 * a run of literals and matches has the bit of TIDE_CODE_PART. */
enum tide_code_kind {
    TIDE_CODE_PART =
        0x20, /* continued: value is where, the rest of kind how many bits */
    TIDE_CODE_LITERAL = 0x40,
    TIDE_CODE_END = 0x60,
    TIDE_CODE_WRONG = 0xa0, /* no code */
};

struct tide_code {
    uint16_t value;
    uint8_t bits; /* of the whole code, with those that are added to its value */
    uint8_t kind;
};

/* Which symbols a table is of. */
enum tide_alphabet {
    TIDE_ALPHABET_LENGTHS,
    TIDE_ALPHABET_LITERALS,
    TIDE_ALPHABET_DISTANCES,
};

/* Make TABLE, of the alphabet's size, from the LENGTHS of the codes of COUNT symbols (0:
 * it has none).  False when there is no such code. */
bool tide_huffman_build(struct tide_code *table, enum tide_alphabet alphabet,
                        const uint8_t *lengths, size_t count);

#endif
