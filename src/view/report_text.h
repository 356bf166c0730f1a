/* view/report_text.h - the parts of `tidemark report`, as text.
 *
 * For: view/, cli/, tests/.  Each function adds one section to a page; the order is the
 * caller's.  Nothing here computes a result: all numbers come from the model.
 */
#ifndef TIDE_VIEW_REPORT_TEXT_H
#define TIDE_VIEW_REPORT_TEXT_H

#include <stddef.h>

#include "model/findings.h"
#include "model/model.h"
#include "model/report_cautions.h"
#include "model/suppress.h"
#include "view/line.h"

/* What the run was and what it used, in words.  What was left at the end is without what
 * SUPPRESSED, or NULL, has left out. */
void tide_view_overview(struct tide_page *page, const struct tide_model *model,
                        const struct tide_suppressions *suppressed);

/* What weakens all of it, one line each, the worst first; nothing when nothing does.  A
 * trace that is cut is said so above: see tide_view_warning(). */
void tide_view_cautions(struct tide_page *page, const struct tide_cautions *cautions);

/* Live heap over time as a curve; nothing when the style has no bars or the model has
 * no timeline. */
void tide_view_timeline(struct tide_page *page, const struct tide_model *model);

/* One view in one shape: heading, column names, at most LIMIT rows (0: all). */
void tide_view_tree(struct tide_page *page, const struct tide_model *model,
                    const struct tide_rows *rows, size_t limit);
void tide_view_flat(struct tide_page *page, const struct tide_model *model,
                    const struct tide_rows *rows, size_t limit);
void tide_view_stacks(struct tide_page *page, const struct tide_model *model,
                      const struct tide_rows *rows, size_t limit);

/* Rows by something else than functions; with threads, who freed whose blocks. */
void tide_view_groups(struct tide_page *page, const struct tide_model *model,
                      const struct tide_groups *groups, size_t limit);

/* The heap's blocks by size, and by how long they lived: the model has histograms. */
void tide_view_sizes(struct tide_page *page, const struct tide_model *model);
void tide_view_lifetimes(struct tide_page *page, const struct tide_model *model);

/* What tells a leak from what is only kept, below each stack. */
void tide_view_leaks(struct tide_page *page, const struct tide_model *model,
                     const struct tide_rows *rows, size_t limit);
/* What was left out of the leaks, in one line; nothing when nothing was. */
void tide_view_suppressed(struct tide_page *page,
                          const struct tide_suppressions *suppressions);

/* Which thread freed whose blocks, and where those were made; the short form is a part
 * of the threads' view, nothing when there is nothing. */
void tide_view_flows(struct tide_page *page, const struct tide_model *model,
                     size_t limit);
void tide_view_flows_short(struct tide_page *page, const struct tide_model *model);

/* The functions that allocate most over the run, by bytes or by calls: the LIMIT heaviest of
 * ROWS, which are flat rows of what was allocated. */
void tide_view_churn(struct tide_page *page, const struct tide_rows *rows,
                     size_t limit);

/* What stands out, LIMIT of it (0: all); nothing when there is nothing. */
void tide_view_findings(struct tide_page *page, const struct tide_findings *findings,
                        size_t limit);

/* How far the numbers can be trusted: one paragraph when nothing is missing and not ALL
 * that is known of it is asked for. */
void tide_view_honesty(struct tide_page *page, const struct tide_model *model,
                       bool all);

/* If the trace ends early or is damaged: say so; else nothing. */
void tide_view_warning(struct tide_page *page, const struct tide_trace *trace);

/* --- Pieces that these share --- */

/* "! words", hanging. */
void tide_view_alarm(struct tide_page *page, const char *words);

/* "blocks" or "calls", as METRIC counts. */
const char *tide_metric_counts(enum tide_metric metric);
/* "peak", "leaks", "total", "churn": as options and JSON name it. */
const char *tide_metric_name(enum tide_metric metric);
/* Does TRACE know who called whom?  Not after `run --no-stacks`. */
bool tide_view_knows_callers(const struct tide_trace *trace);
/* Were stacks recorded as deep as can be? */
bool tide_view_is_deepest(const struct tide_trace *trace);
/* What a view is of, and what 100 % is. */
struct tide_view_totals {
    enum tide_metric metric;
    enum tide_space space;
    uint64_t bytes, calls;
    uint64_t whole_bytes, whole_calls; /* without a filter */
    bool filtered;
};
struct tide_view_totals tide_totals_of_rows(const struct tide_rows *rows);
struct tide_view_totals tide_totals_of_groups(const struct tide_groups *groups);
/* The heading of a view: its title and what 100 % is. */
void tide_view_heading(struct tide_page *page, const struct tide_model *model,
                       const struct tide_view_totals *totals);
/* Which part of the run is meant: ", born after 1 s"; UNTIL: the title has no end. */
void tide_view_part_of_run(struct tide_text *out, const struct tide_model *model,
                           bool until);
/* "file.c:12" (without folders), or what COLUMNS hold of it, "…le.c:12" or ":12"; nothing
 * without FILE. */
void tide_page_place(struct tide_page *page, const char *file, uint32_t line,
                     int columns);
/* How much is not shown: "... 12 more NOUNs"; ends the line.  NOUN may be "". */
void tide_page_more(struct tide_page *page, uint64_t count, const char *noun);
/* How many of COUNT rows are shown when LIMIT are asked for (0: all).  A last one is shown
 * too: to say that there is one more takes a line as well. */
size_t tide_rows_shown(size_t count, size_t limit);
/* How many of COLUMNS a place has two columns behind the function NAME, so that one of them
 * is cut at most: the file first. */
int tide_place_beside(const char *name, const char *file, uint32_t line, int columns,
                      const struct tide_style *style);
/* How wide a place is. */
int tide_place_columns(const char *file, uint32_t line, const struct tide_style *style);

#endif
