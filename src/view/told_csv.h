/* view/told_csv.h - what a program told of itself, as tables for spreadsheets.
 *
 * For: view/.  The columns are those of JSON (told_text.h).
 */
#ifndef TIDE_VIEW_TOLD_CSV_H
#define TIDE_VIEW_TOLD_CSV_H

#include <stddef.h>

#include "model/told.h"
#include "view/csv.h"

/* Counting windows: at most LIMIT (0: all). */
void tide_csv_windows(struct tide_csv *csv, const struct tide_model *model,
                      size_t limit);
void tide_csv_timemory(struct tide_csv *csv, const struct tide_told *told);
/* A row for each pool ("whole"), and one for each part of it. */
void tide_csv_pools(struct tide_csv *csv, const struct tide_model *model,
                    const struct tide_told *told);

#endif
