/* view/check_view.h - `tidemark check`: verdicts for people and for CI.
 *
 * For: view/, cli/, tests/.  Nothing here computes a result: see model/budget.h.
 */
#ifndef TIDE_VIEW_CHECK_VIEW_H
#define TIDE_VIEW_CHECK_VIEW_H

#include "base/text.h"
#include "model/budget.h"
#include "view/line.h"

#define TIDE_CHECK_SCHEMA "tidemark.check/1"

struct tide_check_view {
    const struct tide_verdicts *checks;
    const struct tide_model *model;
    const char *baseline; /* path of its trace; NULL: none */
};

void tide_view_check(struct tide_page *page, const struct tide_check_view *view);
void tide_view_check_json(struct tide_text *out, const struct tide_check_view *view);
/* JUnit's XML, as CI servers read it: a testcase per limit. */
void tide_view_check_junit(struct tide_text *out, const struct tide_check_view *view);
/* A table for a merge request. */
void tide_view_check_markdown(struct tide_text *out,
                              const struct tide_check_view *view);

/* --- Pieces --- */

/* "peak", "change in peak", "calls in solve": not made safe. */
void tide_check_title(struct tide_text *out, const struct tide_verdict *check);
/* "9.23 MiB", "from 12 calls to 14 calls": what was measured; "at most ...": what is allowed. */
void tide_check_measured(struct tide_text *out, const struct tide_verdict *check,
                         enum tide_units units);
void tide_check_limit(struct tide_text *out, const struct tide_verdict *check,
                      enum tide_units units);
/* What else there is to say, as it is; nothing when there is nothing. */
void tide_check_note(struct tide_text *out, const struct tide_verdict *check,
                     enum tide_units units);
/* " (note) (12.3 KiB more suppressed)"; nothing when nothing is to be said. */
void tide_check_remarks(struct tide_text *out, const struct tide_verdict *check,
                        enum tide_units units);

#endif
