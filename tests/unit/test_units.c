/* tests/unit/test_units.c - numbers as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dice.h"
#include "view/units.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (MIB * KIB)

static void assert_size(uint64_t bytes, const char *words)
{
    assert_string_equal(tide_number_bytes(bytes, TIDE_UNITS_IEC).text, words);
}

static void says_sizes_in_powers_of_1024(void **state)
{
    (void)state;
    assert_size(0, "0 B");
    assert_size(1, "1 B");
    assert_size(1023, "1023 B");
    assert_size(1024, "1.00 KiB");
    assert_size(1536, "1.50 KiB");
    assert_size(10 * KIB, "10.0 KiB");
    assert_size(100 * KIB, "100 KiB");
    assert_size(1023 * KIB, "1023 KiB");
    assert_size(MIB, "1.00 MiB");
    assert_size(3 * GIB / 2, "1.50 GiB");
    assert_size(UINT64_C(1) << 40, "1.00 TiB");
    assert_size(UINT64_C(1) << 50, "1.00 PiB");
    assert_size(UINT64_C(1) << 60, "1.00 EiB");
}

static void rounds_into_the_next_unit_at_the_borders(void **state)
{
    (void)state;
    assert_size(MIB - 1, "1.00 MiB"); /* never "1024 KiB" */
    assert_size(1023 * KIB + 511, "1023 KiB");
    assert_size(1023 * KIB + 512, "1.00 MiB");
    assert_size(GIB - 1, "1.00 GiB");
    assert_size((UINT64_C(1) << 60) - 1, "1.00 EiB");
    assert_size(10 * KIB - 5, "10.0 KiB");   /* 9.995 */
    assert_size(10 * KIB - 6, "9.99 KiB");   /* 9.9941 */
    assert_size(100 * KIB - 51, "100 KiB");  /* 99.9502 */
    assert_size(100 * KIB - 52, "99.9 KiB"); /* 99.9492 */
    assert_size(UINT64_MAX, "16.0 EiB");
    assert_size(UINT64_MAX / 2, "8.00 EiB");
}

static void says_sizes_in_powers_of_1000_when_asked(void **state)
{
    (void)state;
    assert_string_equal(tide_number_bytes(999, TIDE_UNITS_SI).text, "999 B");
    assert_string_equal(tide_number_bytes(1000, TIDE_UNITS_SI).text, "1.00 kB");
    assert_string_equal(tide_number_bytes(999499, TIDE_UNITS_SI).text, "999 kB");
    assert_string_equal(tide_number_bytes(999500, TIDE_UNITS_SI).text, "1.00 MB");
    assert_string_equal(tide_number_bytes(UINT64_MAX, TIDE_UNITS_SI).text, "18.4 EB");
}

static void says_every_byte_when_asked(void **state)
{
    (void)state;
    assert_string_equal(tide_number_bytes(0, TIDE_UNITS_BYTES).text, "0 B");
    assert_string_equal(tide_number_bytes(1572864, TIDE_UNITS_BYTES).text,
                        "1,572,864 B");
    assert_string_equal(tide_number_bytes(UINT64_MAX, TIDE_UNITS_BYTES).text,
                        "18,446,744,073,709,551,615 B");
}

static void is_never_off_by_more_than_half_of_the_last_digit(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct dice dice = {7};
    for (int i = 0; i < 20000; i++) {
        const uint64_t bytes = dice_number(&dice);
        const struct tide_number number = tide_number_bytes(bytes, TIDE_UNITS_IEC);
        char *unit;
        double value = strtod(number.text, &unit);
        const bool scaled = strcmp(unit + 1, "B") != 0;
        for (size_t u = 0; scaled; u++) {
            assert_true(u < sizeof(NAMES) / sizeof(NAMES[0]));
            value *= 1024;
            if (strcmp(unit + 1, NAMES[u]) == 0)
                break;
        }
        /* 9.995 reads 10.0: half of 0.01 below 10, of 0.1 below 100, of 1 above. */
        const double error = fabs(value - (double)bytes) / (double)(bytes ? bytes : 1);
        assert_true(error <= 0.00503);
        assert_true(strlen(number.text) <= 8);
    }
}

static void groups_counts_by_thousands(void **state)
{
    (void)state;
    assert_string_equal(tide_number_count(0).text, "0");
    assert_string_equal(tide_number_count(999).text, "999");
    assert_string_equal(tide_number_count(1000).text, "1,000");
    assert_string_equal(tide_number_count(123456).text, "123,456");
    assert_string_equal(tide_number_count(UINT64_MAX).text,
                        "18,446,744,073,709,551,615");
}

static void never_says_nothing_or_all_of_a_part(void **state)
{
    (void)state;
    assert_string_equal(tide_number_share(0, 100).text, "0.0 %");
    assert_string_equal(tide_number_share(1, 1000000).text, "<0.1 %");
    assert_string_equal(tide_number_share(1, 1000).text, "0.1 %");
    assert_string_equal(tide_number_share(1, 3).text, "33.3 %");
    assert_string_equal(tide_number_share(9994, 10000).text, "99.9 %");
    assert_string_equal(tide_number_share(999999, 1000000).text, ">99.9 %");
    assert_string_equal(tide_number_share(1000000, 1000000).text, "100.0 %");
    assert_string_equal(tide_number_share(UINT64_MAX, UINT64_MAX).text, "100.0 %");
    assert_string_equal(tide_number_share(5, 0).text, "0.0 %");
}

static void says_times_with_four_digits(void **state)
{
    (void)state;
    assert_string_equal(tide_number_seconds(0).text, "0.000 s");
    assert_string_equal(tide_number_seconds(0.0124).text, "0.012 s");
    assert_string_equal(tide_number_seconds(9.9994).text, "9.999 s");
    assert_string_equal(tide_number_seconds(9.9996).text, "10.00 s");
    assert_string_equal(tide_number_seconds(99.996).text, "100.0 s");
    assert_string_equal(tide_number_seconds(999.96).text, "1,000 s");
    assert_string_equal(tide_number_seconds(86400).text, "86,400 s");
    assert_string_equal(tide_number_seconds(-1).text, "? s");
    assert_string_equal(tide_number_seconds((double)NAN).text, "? s");
    assert_string_equal(tide_number_seconds((double)INFINITY).text, "? s");
}

static void says_long_durations_in_hours_and_minutes_too(void **state)
{
    (void)state;
    assert_string_equal(tide_number_duration(119.5).text, "119.5 s");
    assert_string_equal(tide_number_duration(125).text, "125.0 s (2 min 5 s)");
    assert_string_equal(tide_number_duration(3723).text, "3,723 s (1 h 2 min)");
    assert_string_equal(tide_number_duration(200000).text, "200,000 s (2 d 7 h)");
    assert_string_equal(tide_number_duration((double)NAN).text, "? s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_sizes_in_powers_of_1024),
        cmocka_unit_test(rounds_into_the_next_unit_at_the_borders),
        cmocka_unit_test(says_sizes_in_powers_of_1000_when_asked),
        cmocka_unit_test(says_every_byte_when_asked),
        cmocka_unit_test(is_never_off_by_more_than_half_of_the_last_digit),
        cmocka_unit_test(groups_counts_by_thousands),
        cmocka_unit_test(never_says_nothing_or_all_of_a_part),
        cmocka_unit_test(says_times_with_four_digits),
        cmocka_unit_test(says_long_durations_in_hours_and_minutes_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
