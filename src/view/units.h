/* view/units.h - numbers as people read them: sizes, counts, shares, times.
 *
 * For: view/, cli/, tests/.  All results are ASCII, rounded half up, and never longer
 * than TIDE_NUMBER_MAX bytes with their final zero.
 */
#ifndef TIDE_VIEW_UNITS_H
#define TIDE_VIEW_UNITS_H

#include <stdbool.h>
#include <stdint.h>

enum { TIDE_NUMBER_MAX = 40 };

enum tide_units {
    TIDE_UNITS_IEC,   /* 1.50 MiB: powers of 1024 */
    TIDE_UNITS_SI,    /* 1.57 MB: powers of 1000 */
    TIDE_UNITS_BYTES, /* 1,572,864 B */
};

/* What --bytes and --si ask for. */
static inline enum tide_units tide_units_chosen(bool bytes, bool si)
{
    if (bytes)
        return TIDE_UNITS_BYTES;
    return si ? TIDE_UNITS_SI : TIDE_UNITS_IEC;
}

/* A number as text; a struct, so that it can be returned and used in one expression. */
struct tide_number {
    char text[TIDE_NUMBER_MAX];
};

/* Three significant digits (four from 1000 to 1023), or all of them with UNITS_BYTES. */
struct tide_number tide_number_bytes(uint64_t bytes, enum tide_units units);
/* 1,234,567 */
struct tide_number tide_number_count(uint64_t count);
/* PART of WHOLE as "12.3 %".  What is not nothing never reads "0.0 %" but "<0.1 %", and
 * what is not all never "100.0 %" but ">99.9 %".  Of nothing: "0.0 %". */
struct tide_number tide_number_share(uint64_t part, uint64_t whole);
/* "0.012 s", "12.35 s", "3,723 s"; "? s" for what is not a time. */
struct tide_number tide_number_seconds(double seconds);
/* The same, with hours and minutes from 2 minutes on: "3,723 s (1 h 2 min)". */
struct tide_number tide_number_duration(double seconds);

#endif
