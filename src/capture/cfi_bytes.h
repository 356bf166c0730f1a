/* capture/cfi_bytes.h - read the numbers of .eh_frame.
 *
 * For: cfi_row.c.  Reading past the end gives 0 and sets `bad`, once and for all.
 */
#ifndef TIDE_CAPTURE_CFI_BYTES_H
#define TIDE_CAPTURE_CFI_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tide_cfi_bytes {
    const uint8_t *at, *end;
    uintptr_t elsewhere; /* to be added to a place here, to have the program's */
    bool bad;
};

static inline uint64_t tide_read_uleb(struct tide_cfi_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; in->at < in->end && shift < 64; shift += 7) {
        const uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128))
            return value;
    }
    in->bad = true;
    return 0;
}

static inline int64_t tide_read_sleb(struct tide_cfi_bytes *in)
{
    uint64_t value = 0;
    for (unsigned shift = 0; in->at < in->end && shift < 64;) {
        const uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 127) << shift;
        shift += 7;
        if (byte & 128)
            continue;
        if (shift < 64 && (byte & 64))
            value |= ~0ull << shift;
        return (int64_t)value;
    }
    in->bad = true;
    return 0;
}

static inline uint64_t tide_read_fixed(struct tide_cfi_bytes *in, unsigned bytes)
{
    uint64_t value = 0;
    if ((uint64_t)(in->end - in->at) < bytes) {
        in->bad = true;
        return 0;
    }
    memcpy(&value, in->at, bytes);
    in->at += bytes;
    return value;
}

static inline void tide_skip_text(struct tide_cfi_bytes *in)
{
    while (in->at < in->end && *in->at)
        in->at++;
    if (in->at < in->end)
        in->at++;
    else
        in->bad = true;
}

/* A pointer in one of the encodings of .eh_frame; DATA is the base of datarel. */
static inline uintptr_t tide_read_encoded(struct tide_cfi_bytes *in, uint8_t encoding,
                                          uintptr_t data)
{
    const uintptr_t here = (uintptr_t)in->at + in->elsewhere;
    uint64_t value;
    switch (encoding & 15) {
    case 0x00: /* absptr */
    case 0x04: /* udata8 */
    case 0x0c: /* sdata8 */
        value = tide_read_fixed(in, 8);
        break;
    case 0x02: /* udata2 */
        value = tide_read_fixed(in, 2);
        break;
    case 0x03: /* udata4 */
        value = tide_read_fixed(in, 4);
        break;
    case 0x0a: /* sdata2 */
        value = (uint64_t)(int16_t)tide_read_fixed(in, 2);
        break;
    case 0x0b: /* sdata4 */
        value = (uint64_t)(int32_t)tide_read_fixed(in, 4);
        break;
    case 0x01: /* uleb128 */
        value = tide_read_uleb(in);
        break;
    default:
        in->bad = true;
        return 0;
    }
    switch (encoding & 0x70) {
    case 0x00:
        return value;
    case 0x10: /* pcrel */
        return here + value;
    case 0x30: /* datarel */
        return data + value;
    default:
        in->bad = true;
        return 0;
    }
}

#endif
