/* view/rank_text.h - what each MPI rank held by itself, as text, JSON and a table.
 *
 * For: cli/, view/.
 */
#ifndef TIDE_VIEW_RANK_TEXT_H
#define TIDE_VIEW_RANK_TEXT_H

#include "model/ranks.h"
#include "view/csv.h"
#include "view/json.h"
#include "view/line.h"

/* Of a JSON object with the ranks of several traces. */
#define TIDE_RANKS_SCHEMA "tidemark.ranks/1"

/* A row for each of at most LIMIT ranks (0: all), and who differs most. */
void tide_view_ranks(struct tide_page *page, const struct tide_ranks *ranks,
                     size_t limit);
void tide_json_ranks(struct tide_json *json, const struct tide_ranks *ranks,
                     size_t limit);
void tide_csv_ranks(struct tide_csv *csv, const struct tide_ranks *ranks, size_t limit);

#endif
