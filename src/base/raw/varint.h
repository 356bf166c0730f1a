/* base/raw/varint.h - write varints into memory that is known to have room.
 *
 * For: everybody, the recorder too: nothing here allocates, locks or fails.  Reading is
 * another matter, since what is read is hostile: see trace/cursor.h.
 */
#ifndef TIDE_BASE_RAW_VARINT_H
#define TIDE_BASE_RAW_VARINT_H

#include <stdint.h>
#include <string.h>

enum { TIDE_VARINT_MAX = 10 }; /* bytes of the longest one */

/* Write VALUE at OUT; return where the next byte goes. */
static inline uint8_t *tide_put_varint(uint8_t *out, uint64_t value)
{
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

/* The same for numbers whose length nobody can foretell: without a branch on it, unless
 * they have more than 28 bits.  Up to three bytes after it may be overwritten. */
static inline uint8_t *tide_put_varint_any(uint8_t *out, uint64_t value)
{
    if (__builtin_expect(value >= 1u << 28, 0))
        return tide_put_varint(out, value);
    uint32_t v = (uint32_t)value;
    v = (v & 0x3fff) | (v & 0xfffc000) << 2;
    v = (v & 0x7f007f) | (v & 0x3f803f80) << 1;
    const unsigned unused = (unsigned)__builtin_clz(v | 1);
    const uint32_t coded = v | 0x808080u >> (unused & 24);
    memcpy(out, &coded, sizeof(coded));
    return out + sizeof(coded) - unused / 8;
}

static inline uint8_t *tide_put_u16(uint8_t *out, uint16_t value)
{
    memcpy(out, &value, sizeof(value));
    return out + sizeof(value);
}

/* Small numbers of either sign become small unsigned ones. */
static inline uint64_t tide_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t tide_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

#endif
