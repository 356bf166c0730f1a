/* base/raw/characters.c - characters in bytes: is it one, may it be shown?
 *
 * Coarse where it does no harm: what nobody misses in a name counts as hidden.
 */
#include "base/raw/characters.h"

struct range {
    uint32_t first, last;
};

static const struct range HIDDEN[] = {
    {0x0000, 0x001f},    {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x034f, 0x034f},
    {0x061c, 0x061c},    {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
    {0x200b, 0x200f},    {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
    {0xd800, 0xf8ff},    {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
    {0xfff0, 0xfffb},    {0xfffe, 0xffff},   {0x13430, 0x1345f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a},  {0x1fffe, 0x1ffff}, {0x2fffe, 0x2ffff}, {0x3fffe, 0x3ffff},
    {0x40000, 0x10ffff},
};

size_t tide_utf8_decode(const char *bytes, size_t length, uint32_t *character)
{
    static const uint32_t SMALLEST[] = {0, 0, 0x80, 0x800, 0x10000};
    if (length == 0)
        return 0;
    const unsigned char *const in = (const unsigned char *)bytes;
    if (in[0] < 0x80) {
        *character = in[0];
        return 1;
    }
    const size_t size = in[0] >= 0xf0 ? 4 : in[0] >= 0xe0 ? 3 : 2;
    if (in[0] < 0xc2 || in[0] > 0xf4 || size > length)
        return 0;
    uint32_t value = in[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (in[i] & 0x3f);
    }
    if (value < SMALLEST[size] || value > 0x10ffff ||
        (value >= 0xd800 && value < 0xe000))
        return 0;
    *character = value;
    return size;
}

bool tide_utf8_shown(uint32_t character)
{
    for (size_t i = 0; i < sizeof(HIDDEN) / sizeof(HIDDEN[0]); i++)
        if (character >= HIDDEN[i].first && character <= HIDDEN[i].last)
            return false;
    return true;
}
