/* view/diff_view.h - `tidemark diff`, as text and as JSON.
 *
 * For: view/, cli/, tests/.  Nothing here computes a result: all numbers come from the
 * model (model/diff.h).
 */
#ifndef TIDE_VIEW_DIFF_VIEW_H
#define TIDE_VIEW_DIFF_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "model/diff.h"
#include "model/suppress.h"
#include "view/json.h"
#include "view/line.h"

#define TIDE_DIFF_SCHEMA "tidemark.diff/1"

enum tide_diff_shape {
    TIDE_DIFF_FLAT,
    TIDE_DIFF_TREE,
    TIDE_DIFF_STACKS,
};

struct tide_diff_view {
    const struct tide_diff *diff;
    const struct tide_model *models[TIDE_SIDES];
    const char *names[TIDE_SIDES]; /* as they were given: "run.tide@event51" */
    double at_s[TIDE_SIDES];       /* of a snapshot; negative: the end of the run */
    /* What was left out of the leaks; NULL: it is not of leaks at the end. */
    const struct tide_suppressions *suppressed[TIDE_SIDES];
    const struct tide_suppressions *left_out[TIDE_SIDES]; /* of what is live; or NULL */
    enum tide_diff_shape shape;
    size_t limit; /* rows at most, those that changed most; 0: all */
};

void tide_view_diff(struct tide_page *page, const struct tide_diff_view *view);
void tide_view_diff_json(struct tide_text *out, const struct tide_diff_view *view);
void tide_view_diff_csv(struct tide_text *out, const struct tide_diff_view *view);

/* --- Pieces: diff_columns.c --- */

/* "+1.50 MiB", "-3 B", "0 B" */
struct tide_number tide_number_signed_bytes(int64_t bytes, enum tide_units units);
/* "+1,234", "-3", "0" */
struct tide_number tide_number_signed_count(int64_t count);
/* Of bytes, relative to BASE: "+12.3 %", "new" when BASE has nothing, "gone" when NEW has
 * nothing, ">999 %" for what is that or more. */
struct tide_number tide_number_change(const struct tide_change *change);
/* "same", "changed", "new", "gone": as JSON names it. */
const char *tide_change_word(const struct tide_change *change);

/* The columns of numbers at the left of every table of differences. */
struct tide_diff_columns {
    int bytes, inclusive, count; /* widths; inclusive 0: no such column */
    const char *count_name;
};
struct tide_diff_columns tide_diff_columns_for(const struct tide_diff *diff);
/* Make room for these numbers; INCLUSIVE may be NULL. */
void tide_diff_columns_measure(struct tide_diff_columns *columns,
                               const struct tide_style *style,
                               const struct tide_change *change,
                               const struct tide_change *inclusive);
int tide_diff_columns_end(const struct tide_diff_columns *columns);
void tide_diff_columns_head(struct tide_page *page,
                            const struct tide_diff_columns *columns, const char *words);
/* FAINT: a line that only sums up. */
void tide_diff_columns_line(struct tide_page *page,
                            const struct tide_diff_columns *columns,
                            const struct tide_change *change,
                            const struct tide_change *inclusive, bool faint);

/* Does either side know who called whom? */
bool tide_diff_knows_callers(const struct tide_diff_view *view);
/* The heading of the table: what is compared, and by how much it differs in all. */
void tide_diff_heading(struct tide_page *page, const struct tide_diff_view *view);
/* "function  file.c:12" in COLUMNS of the line. */
void tide_diff_function_words(struct tide_page *page, const char *name,
                              const char *file, uint32_t line, int columns);

/* --- Shapes --- */

void tide_view_diff_tree(struct tide_page *page, const struct tide_diff_view *view);
void tide_view_diff_stacks(struct tide_page *page, const struct tide_diff_view *view);

#endif
