/* model/amounts.c - sizes and counts in the sentences of findings and cautions. */
#include "model/amounts.h"

#include <inttypes.h>
#include <stdio.h>

void tide_add_bytes(struct tide_text *text, double bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        tide_text_addf(text, "%.0f byte%s", bytes,
                       bytes >= 0.5 && bytes < 1.5 ? "" : "s");
        return;
    }
    double amount = bytes / 1024;
    size_t unit = 0;
    while (amount >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1024;
        unit++;
    }
    tide_text_addf(text, "%.1f %s", amount, units[unit]);
}

void tide_add_number(struct tide_text *text, uint64_t count)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            tide_text_add(text, ",");
        tide_text_add_bytes(text, &digits[i], 1);
    }
}

void tide_add_count(struct tide_text *text, uint64_t count, const char *thing)
{
    tide_add_number(text, count);
    tide_text_addf(text, " %s%s", thing, count == 1 ? "" : "s");
}
