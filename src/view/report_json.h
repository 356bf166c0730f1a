/* view/report_json.h - `tidemark report --json`: a contract with scripts and pages.
 *
 * For: view/, cli/, tests/.  Keys are only ever added; a change of meaning is a new
 * schema number.  docs/man/tidemark-report.1 lists them.
 */
#ifndef TIDE_VIEW_REPORT_JSON_H
#define TIDE_VIEW_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "model/findings.h"
#include "model/model.h"
#include "model/passages.h"
#include "model/process_peaks.h"
#include "model/profile.h"
#include "model/ranks.h"
#include "model/report_cautions.h"
#include "model/suppress.h"
#include "model/told.h"
#include "view/json.h"

#define TIDE_REPORT_SCHEMA "tidemark.report/1"

enum tide_shape {
    TIDE_SHAPE_TREE,
    TIDE_SHAPE_FLAT,
    TIDE_SHAPE_STACKS,
    TIDE_SHAPE_BOTTOM_UP,
    TIDE_SHAPE_CALLERS,
    TIDE_SHAPE_SANDWICH,
    TIDE_SHAPE_GPROF,
    TIDE_SHAPE_THREADS, /* from here on groups, in the order of enum tide_group_by */
    TIDE_SHAPE_PROCESSES,
    TIDE_SHAPE_REGIONS,
    TIDE_SHAPE_LABELS,
    TIDE_SHAPE_MODULES,
    TIDE_SHAPE_LINES,
    TIDE_SHAPE_SIZES, /* from here on histograms */
    TIDE_SHAPE_LIFETIMES,
    TIDE_SHAPE_FLOW,    /* which thread freed whose blocks */
    TIDE_SHAPE_WINDOWS, /* from here on what the program told, and no blocks */
    TIDE_SHAPE_TIMEMORY,
    TIDE_SHAPE_POOLS,
    TIDE_SHAPE_RANKS, /* of the launcher, not of the program */
    TIDE_SHAPES,
};
/* "tree", "bottom_up": as JSON names it. */
const char *tide_shape_name(enum tide_shape shape);

static inline bool tide_shape_groups(enum tide_shape shape)
{
    return shape >= TIDE_SHAPE_THREADS && shape < TIDE_SHAPE_SIZES;
}

/* Is it of all blocks, without rows? */
static inline bool tide_shape_counts(enum tide_shape shape)
{
    return shape >= TIDE_SHAPE_SIZES && shape < TIDE_SHAPE_WINDOWS;
}

static inline bool tide_shape_told(enum tide_shape shape)
{
    return shape >= TIDE_SHAPE_WINDOWS;
}

/* A view in one shape.  What the shape has no use for may be NULL. */
struct tide_report_json {
    const struct tide_model *model;
    const struct tide_rows *rows;
    const struct tide_rows *callees; /* of a sandwich, whose callers are rows */
    const struct tide_groups *groups;
    const struct tide_profile *profile; /* of rows */
    const struct tide_findings *findings;
    const struct tide_cautions *cautions;         /* NULL: none are shown */
    const struct tide_suppressions *suppressions; /* that were applied */
    enum tide_shape shape;
    size_t limit;  /* rows at most, the largest; 0: all */
    bool timeline; /* show it */
    /* Called between rows with what there is so far, which it may take away: all rows of
     * a million stacks are gigabytes.  May be NULL. */
    void (*spill)(struct tide_text *out);
    struct tide_sources *sources;         /* NULL: lines of source are not shown */
    const struct tide_told *told;         /* of regions, labels, timemory */
    const struct tide_passages *passages; /* of flow; NULL: the trace knows none */
    const struct tide_process_peaks *process_peaks; /* NULL or empty: not asked for */
    bool fold;                                      /* their stacks */
    const struct tide_ranks *ranks;                 /* of ranks */
};

void tide_view_report_json(struct tide_text *out,
                           const struct tide_report_json *report);

/* The same as lines of values with commas between them, the first of them names: for
 * spreadsheets.  Trees have a column depth, and come in the order they are printed in. */
void tide_view_report_csv(struct tide_text *out, const struct tide_report_json *report);

/* --- Pieces --- */

/* A row of REPORT is complete in OUT. */
static inline void tide_report_row_done(const struct tide_report_json *report,
                                        struct tide_text *out)
{
    if (report->spill && !out->failed)
        report->spill(out);
}

/* Members that rows of several shapes have. */
void tide_json_values(struct tide_json *json, const struct tide_rows *rows,
                      uint64_t bytes, uint64_t calls);
void tide_json_function(struct tide_json *json, const struct tide_function *function);
void tide_json_place(struct tide_json *json, const char *file, uint32_t line);

/* Rows of groups and histograms, as members of the array that is open. */
void tide_json_groups(struct tide_json *json, const struct tide_report_json *report);
void tide_json_sizes(struct tide_json *json, const struct tide_histograms *all);
void tide_json_lifetimes(struct tide_json *json, const struct tide_histograms *all);

/* What became of the survivors of SITE, as a member of the row that is open; nothing
 * when nothing is known. */
void tide_json_leak(struct tide_json *json, const struct tide_model *model,
                    uint32_t site);
/* The functions that only hand on what they are asked for: model/wrappers.h. */
void tide_json_wrappers(struct tide_json *json, const struct tide_model *model);
void tide_json_suppressed(struct tide_json *json,
                          const struct tide_suppressions *suppressions);
void tide_json_flows(struct tide_json *json, const struct tide_model *model,
                     size_t limit);
/* The member "flows" of a report by thread: null when its rows are a part of what flows
 * are of. */
void tide_json_thread_flows(struct tide_json *json,
                            const struct tide_report_json *report);

/* --- What `info` writes in the same words --- */

/* The keys of the contract's summary that every space has. */
void tide_json_summary(struct tide_json *json, const struct tide_summary *summary);
/* What was live at the end and is not HIDDEN, which may be NULL. */
void tide_json_left(struct tide_json *json, const struct tide_summary *summary,
                    const struct tide_suppressions *hidden);
void tide_json_honesty(struct tide_json *json, const struct tide_model *model);
/* KEY: an array of the words of ARGV (NULL-terminated, or NULL). */
void tide_json_words(struct tide_json *json, const char *key, const char *const *argv);

#endif
