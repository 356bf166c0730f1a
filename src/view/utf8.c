/* view/utf8.c - how wide characters are.
 *
 * The tables are coarse where it does no harm: a character taken for wider than it is
 * leaves a gap; one taken for narrower would break the table, so doubt means wide.
 */
#include "view/utf8.h"

#include <limits.h>
#include <string.h>

struct range {
    uint32_t first, last;
};

static const struct range COMBINING[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
    {0x0610, 0x061a}, {0x064b, 0x065f}, {0x1ab0, 0x1aff},
    {0x1dc0, 0x1dff}, {0x20d0, 0x20ff}, {0xfe20, 0xfe2f},
};

static const struct range WIDE[] = {
    {0x1100, 0x115e},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23f3},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x267f, 0x267f},
    {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},   {0x26bd, 0x26be},
    {0x26c4, 0x26c5},   {0x26ce, 0x26ce},   {0x26d4, 0x26d4},   {0x26ea, 0x26ea},
    {0x26f2, 0x26f5},   {0x26fa, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},
    {0x2728, 0x2728},   {0x274c, 0x274e},   {0x2753, 0x2757},   {0x2795, 0x2797},
    {0x27b0, 0x27bf},   {0x2b1b, 0x2b1c},   {0x2b50, 0x2b55},   {0x2e80, 0x303e},
    {0x3041, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
    {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},   {0xffe0, 0xffe6},
    {0x16fe0, 0x18cff}, {0x1aff0, 0x1b2ff}, {0x1f000, 0x1faff}, {0x20000, 0x3fffd},
};

static bool in_ranges(uint32_t character, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

int tide_utf8_columns(uint32_t character)
{
    if (character < 0x300)
        return 1;
    if (in_ranges(character, COMBINING, sizeof(COMBINING) / sizeof(COMBINING[0])))
        return 0;
    return in_ranges(character, WIDE, sizeof(WIDE) / sizeof(WIDE[0])) ? 2 : 1;
}

/* The character at TEXT: its bytes and columns; a bad byte counts as one column. */
static size_t measure(const char *text, size_t length, int *columns)
{
    uint32_t character;
    const size_t size = tide_utf8_decode(text, length, &character);
    *columns = size ? tide_utf8_columns(character) : 1;
    return size ? size : 1;
}

/* Bytes of the longest beginning that fits, and the columns it really takes. */
static size_t walk(const char *text, size_t length, int columns, int *taken)
{
    size_t at = 0;
    *taken = 0;
    while (at < length) {
        int wide;
        const size_t size = measure(text + at, length - at, &wide);
        if (*taken > columns - wide)
            break;
        *taken += wide;
        at += size;
    }
    return at;
}

int tide_columns(const char *text)
{
    int taken;
    walk(text, strlen(text), INT_MAX - 2, &taken);
    return taken;
}

size_t tide_columns_prefix(const char *text, int columns)
{
    int taken;
    return columns > 0 ? walk(text, strlen(text), columns, &taken) : 0;
}

size_t tide_columns_suffix(const char *text, int columns)
{
    const size_t length = strlen(text);
    int over = tide_columns(text) - (columns > 0 ? columns : 0);
    size_t at = 0;
    while (at < length) {
        int wide;
        const size_t size = measure(text + at, length - at, &wide);
        if (over <= 0 && wide > 0) /* never start at a mark that belongs to what went */
            break;
        over -= wide;
        at += size;
    }
    return at;
}
