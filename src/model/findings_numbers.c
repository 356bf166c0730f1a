/* model/findings_numbers.c - seconds and shares in the sentences of findings.
 */
#include <string.h>

#include "model/findings_parts.h"

void tide_found_seconds(struct tide_text *text, double seconds)
{
    if (seconds < 0.001)
        tide_text_addf(text, "%.0f us", seconds * 1e6);
    else if (seconds < 1)
        tide_text_addf(text, "%.*f ms", seconds < 0.01 ? 1 : 0, seconds * 1e3);
    else
        tide_text_addf(text, "%.*f s", seconds < 100 ? 1 : 0, seconds);
}

void tide_found_percent(struct tide_text *text, double share)
{
    const double percent = share * 100;
    tide_text_addf(text, "%.*f %%", percent < 1 && percent > 0 ? 1 : 0, percent);
}

bool tide_found_same_time(struct tide_text *text, double first_s, double last_s)
{
    struct tide_text first = {0}, last = {0};
    tide_found_seconds(&first, first_s);
    tide_found_seconds(&last, last_s);
    text->failed |= first.failed || last.failed;
    const bool same = first.bytes && last.bytes && strcmp(first.bytes, last.bytes) == 0;
    tide_text_release(&first);
    tide_text_release(&last);
    return same;
}

void tide_found_times(struct tide_text *text, double first_s, double last_s)
{
    const bool same = tide_found_same_time(text, first_s, last_s);
    tide_text_add(text, same ? ", made at " : ", made from ");
    tide_found_seconds(text, first_s);
    if (same)
        return;
    tide_text_add(text, " to ");
    tide_found_seconds(text, last_s);
}
