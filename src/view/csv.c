/* view/csv.c - write tables with commas. */
#include "view/csv.h"

#include <inttypes.h>
#include <string.h>

void tide_csv_next(struct tide_csv *csv)
{
    if (csv->comma)
        tide_text_add(csv->out, ",");
    csv->comma = true;
}

void tide_csv_end(struct tide_csv *csv)
{
    tide_text_add(csv->out, "\n");
    csv->comma = false;
}

void tide_csv_uint(struct tide_csv *csv, uint64_t number)
{
    tide_csv_next(csv);
    tide_text_addf(csv->out, "%" PRIu64, number);
}

void tide_csv_int(struct tide_csv *csv, int64_t number)
{
    tide_csv_next(csv);
    tide_text_addf(csv->out, "%" PRId64, number);
}

void tide_csv_share(struct tide_csv *csv, uint64_t part, uint64_t whole)
{
    tide_csv_next(csv);
    tide_text_addf(csv->out, "%.6f", whole ? (double)part / (double)whole : 0.0);
}

void tide_csv_known(struct tide_csv *csv, uint64_t number)
{
    if (number)
        tide_csv_uint(csv, number);
    else
        tide_csv_next(csv);
}

/* TEXT is safe; quotes are doubled. */
static void add_quoted(struct tide_csv *csv, const char *text)
{
    tide_text_add(csv->out, "\"");
    for (const char *at = text; *at; at++) {
        if (*at == '"')
            tide_text_add(csv->out, "\"");
        tide_text_add_bytes(csv->out, at, 1);
    }
    tide_text_add(csv->out, "\"");
}

void tide_csv_text(struct tide_csv *csv, const char *text)
{
    struct tide_text safe = {0};
    tide_csv_next(csv);
    tide_text_add_safe(&safe, text);
    if (safe.bytes && strpbrk(safe.bytes, ",\" "))
        add_quoted(csv, safe.bytes);
    else
        tide_text_add(csv->out, safe.bytes ? safe.bytes : "");
    csv->out->failed = csv->out->failed || safe.failed;
    tide_text_release(&safe);
}

void tide_csv_head(struct tide_csv *csv, const char *const *names)
{
    for (; *names; names++)
        tide_csv_text(csv, *names);
    tide_csv_end(csv);
}
