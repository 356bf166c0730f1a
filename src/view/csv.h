/* view/csv.h - write tables with commas, for spreadsheets.
 *
 * For: view/.  As RFC 4180 has it, but lines end as they do here.  Characters that a
 * terminal obeys are written as \xNN, so a line is a row.
 */
#ifndef TIDE_VIEW_CSV_H
#define TIDE_VIEW_CSV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct tide_csv {
    struct tide_text *out; /* borrowed */
    bool comma;            /* something stands before in this line */
};

/* The names of the columns, NULL-terminated: a line of its own. */
void tide_csv_head(struct tide_csv *csv, const char *const *names);
void tide_csv_end(struct tide_csv *csv);

/* The next value begins: with a comma, if it is not the first.  One without a value is
 * empty. */
void tide_csv_next(struct tide_csv *csv);
void tide_csv_uint(struct tide_csv *csv, uint64_t number);
void tide_csv_int(struct tide_csv *csv, int64_t number);
/* A number for which 0 means that it is not known. */
void tide_csv_known(struct tide_csv *csv, uint64_t number);
void tide_csv_share(struct tide_csv *csv, uint64_t part, uint64_t whole);
/* Any text, or NULL. */
void tide_csv_text(struct tide_csv *csv, const char *text);

#endif
