/* view/units.c - numbers as people read them: sizes, counts, shares, times.
 *
 * Sizes are rounded with integers: at the borders (1 MiB - 1, 2^64 - 1) a floating point
 * rounding prints "1024 KiB" or worse.
 */
#include "view/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const IEC_NAMES[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
static const char *const SI_NAMES[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

static struct tide_number number(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static struct tide_number number(const char *format, ...)
{
    struct tide_number result;
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(result.text, sizeof(result.text), format, arguments);
    va_end(arguments);
    return result;
}

struct tide_number tide_number_count(uint64_t count)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    struct tide_number result;
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            result.text[used++] = ',';
        result.text[used++] = digits[i];
    }
    result.text[used] = '\0';
    return result;
}

/* VALUE / UNIT in parts of 1 / SCALE, rounded half up. */
static uint64_t scaled(uint64_t value, uint64_t unit, uint64_t base, uint64_t scale)
{
    const uint64_t whole = value / unit;
    uint64_t rest = value % unit;
    while (unit > (UINT64_C(1) << 53)) { /* rest * scale must fit; 2^-43 is not seen */
        unit /= base;
        rest /= base;
    }
    return whole * scale + (rest * scale + unit / 2) / unit;
}

static struct tide_number with_unit(uint64_t value, uint64_t base,
                                    const char *const *names)
{
    uint64_t unit = 1;
    unsigned power = 0;
    while (value / unit >= base) {
        unit *= base;
        power++;
    }
    if (power == 0)
        return number("%" PRIu64 " %s", value, names[0]);
    if (scaled(value, unit, base, 1) >= base) { /* 1023.6 KiB is 1.00 MiB */
        unit *= base;
        power++;
    }
    const uint64_t hundredths = scaled(value, unit, base, 100);
    if (hundredths < 1000)
        return number("%" PRIu64 ".%02" PRIu64 " %s", hundredths / 100,
                      hundredths % 100, names[power]);
    const uint64_t tenths = scaled(value, unit, base, 10);
    if (tenths < 1000)
        return number("%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10,
                      names[power]);
    return number("%" PRIu64 " %s", scaled(value, unit, base, 1), names[power]);
}

struct tide_number tide_number_bytes(uint64_t bytes, enum tide_units units)
{
    switch (units) {
    case TIDE_UNITS_SI:
        return with_unit(bytes, 1000, SI_NAMES);
    case TIDE_UNITS_BYTES:
        return number("%s B", tide_number_count(bytes).text);
    case TIDE_UNITS_IEC:
    default:
        return with_unit(bytes, 1024, IEC_NAMES);
    }
}

struct tide_number tide_number_share(uint64_t part, uint64_t whole)
{
    if (part == 0 || whole == 0)
        return number("0.0 %%");
    const double percent = 100.0 * (double)part / (double)whole;
    if (percent < 0.05)
        return number("<0.1 %%");
    if (part < whole && percent >= 99.95)
        return number(">99.9 %%");
    return number("%.1f %%", percent);
}

struct tide_number tide_number_seconds(double seconds)
{
    if (!(seconds >= 0 && seconds < 1e18)) /* also what is not a number */
        return number("? s");
    if (seconds < 9.9995)
        return number("%.3f s", seconds);
    if (seconds < 99.995)
        return number("%.2f s", seconds);
    if (seconds < 999.95)
        return number("%.1f s", seconds);
    return number("%s s", tide_number_count((uint64_t)(seconds + 0.5)).text);
}

struct tide_number tide_number_duration(double seconds)
{
    const struct tide_number plain = tide_number_seconds(seconds);
    if (!(seconds >= 120 && seconds < 1e12))
        return plain;
    const uint64_t minutes = (uint64_t)(seconds / 60);
    if (minutes < 60)
        return number("%.16s (%" PRIu64 " min %u s)", plain.text, minutes,
                      (unsigned)(seconds - 60.0 * (double)minutes));
    if (minutes < UINT64_C(48) * 60)
        return number("%.16s (%" PRIu64 " h %u min)", plain.text, minutes / 60,
                      (unsigned)(minutes % 60));
    return number("%.16s (%" PRIu64 " d %u h)", plain.text,
                  minutes / (UINT64_C(24) * 60), (unsigned)(minutes / 60 % 24));
}
