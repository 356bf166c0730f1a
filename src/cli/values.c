/* cli/values.c - sizes and times as people write them. */
#include "cli/values.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What UNIT multiplies a size by; 0 when it is no unit. */
static uint64_t size_of_unit(const char *unit)
{
    static const char letters[] = "KMGT";
    if (*unit == '\0' || strcmp(unit, "B") == 0)
        return 1;
    const char upper = (char)(*unit >= 'a' && *unit <= 'z' ? *unit - 'a' + 'A' : *unit);
    const char *const place = strchr(letters, upper);
    if (!place)
        return 0;
    const bool decimal = strcmp(unit + 1, "B") == 0;
    if (unit[1] != '\0' && !decimal && strcmp(unit + 1, "iB") != 0)
        return 0;
    uint64_t factor = 1;
    for (const char *at = letters; at <= place; at++)
        factor *= decimal ? 1000 : 1024;
    return factor;
}

static bool starts_number(const char *text)
{
    text += *text == '.';
    return *text >= '0' && *text <= '9';
}

/* VALUE has a fraction. */
static bool read_part(const char *value, uint64_t *out)
{
    char *unit;
    const double number = strtod(value, &unit);
    const double size = number * (double)size_of_unit(unit);
    if (*unit == '\0' || *unit == 'B' || !(size < 0x1p63) || size_of_unit(unit) == 0)
        return false;
    *out = (uint64_t)size;
    return true;
}

bool tide_read_bytes(const char *text, uint64_t *out)
{
    char *unit;
    if (!starts_number(text))
        return false;
    errno = 0;
    const unsigned long long number = strtoull(text, &unit, 10);
    if (*unit == '.')
        return read_part(text, out);
    const uint64_t factor = size_of_unit(unit);
    if (errno || factor == 0 || number > UINT64_MAX / factor)
        return false;
    *out = number * factor;
    return true;
}

bool tide_read_seconds(const char *text, double *out)
{
    static const struct {
        const char *unit;
        double seconds;
    } UNITS[] = {{"", 1},      {"s", 1},    {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"min", 60}, {"h", 3600}};
    char *unit;
    if (!starts_number(text))
        return false;
    const double number = strtod(text, &unit);
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        if (strcmp(unit, UNITS[i].unit) == 0 && isfinite(number)) {
            *out = number * UNITS[i].seconds;
            return true;
        }
    }
    return false;
}
