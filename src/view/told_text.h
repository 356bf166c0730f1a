/* view/told_text.h - what a program told of itself, as text and JSON.
 *
 * For: view/, cli/, tests/.
 */
#ifndef TIDE_VIEW_TOLD_TEXT_H
#define TIDE_VIEW_TOLD_TEXT_H

#include <stddef.h>

#include "model/told.h"
#include "view/json.h"
#include "view/line.h"

/* Visits of regions, and iterations of loops: at most LIMIT regions (0: all); nothing
 * when there are none. */
void tide_view_visits(struct tide_page *page, const struct tide_told *told,
                      size_t limit);
/* How often a label was given, by size: at most LIMIT rows (0: all). */
void tide_view_label_sizes(struct tide_page *page, const struct tide_told *told,
                           size_t limit);
/* Counting windows. */
void tide_view_windows(struct tide_page *page, const struct tide_model *model,
                       size_t limit);
/* Calls by region and function, in timemory's columns. */
void tide_view_timemory(struct tide_page *page, const struct tide_told *told);

/* What the program's own pools gave out. */
void tide_view_pools(struct tide_page *page, const struct tide_model *model,
                     const struct tide_told *told);

/* The same as members of the object that is open: "visits", "label_sizes", "windows",
 * "timemory", "pools". */
void tide_json_pools(struct tide_json *json, const struct tide_model *model,
                     const struct tide_told *told);
void tide_json_visits(struct tide_json *json, const struct tide_told *told);
void tide_json_label_sizes(struct tide_json *json, const struct tide_told *told);
void tide_json_windows(struct tide_json *json, const struct tide_model *model);
void tide_json_timemory(struct tide_json *json, const struct tide_told *told);

/* --- Pieces --- */

/* The path of a region: "main/solve"; "" for row 0. */
void tide_told_path(struct tide_text *out, const struct tide_told *told, uint32_t row);
/* The function that made the blocks of STACK; NULL: not known. */
const char *tide_told_maker(const struct tide_model *model, uint32_t stack);

#endif
