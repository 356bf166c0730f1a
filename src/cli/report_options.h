/* cli/report_options.h - what `tidemark report` was asked for.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_REPORT_OPTIONS_H
#define TIDE_CLI_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/open_along.h"
#include "cli/options.h"
#include "model/bad_frees.h"
#include "model/model.h"
#include "model/passages.h"
#include "model/process_peaks.h"
#include "model/ranks.h"
#include "model/suppress.h"
#include "view/report_json.h"

enum { TIDE_METRICS = 4 };
#define TIDE_ROWS_UNSET UINT64_MAX

struct tide_report_options {
    bool views[TIDE_METRICS]; /* by enum tide_metric */
    bool shapes[TIDE_SHAPES]; /* by enum tide_shape */
    struct tide_model_options load;
    struct tide_filter filter;
    const char *focus, *hide;
    struct tide_told *told; /* owned by whoever builds it; NULL: not needed */
    bool no_fold;
    const char *suppressions;                   /* a file, or NULL */
    bool no_suppressions;                       /* without the built-in list */
    const struct tide_suppressions *suppressed; /* set later: those that were applied */
    bool implied; /* no view was asked for, but something that is the peak's */
    bool json, csv, bytes, si, source;
    const char *sort; /* a column, or NULL */
    bool verbose; /* the whole of each section, and of what there is to say of trust */
    struct tide_texts source_roots;     /* folders whose files source may show */
    bool fetch;                         /* names from servers */
    struct tide_debuginfod *debuginfod; /* owned: then */
    uint64_t rows;
    int space, color;
    bool any_space; /* --space was not given: the report may begin with another one */
    struct tide_along along;        /* axis SECONDS: load says it all */
    bool timeline;                  /* --time was given */
    bool largest;                   /* the counter MEM_MAX */
    struct tide_sources *sources;   /* owned: with source */
    struct tide_passages *passages; /* owned: of --flow, if the trace has them */
    struct tide_process_peaks process_peaks; /* owned: of --processes */
    struct tide_ranks ranks;                 /* owned: of --ranks */
    struct tide_bad_frees bad_frees;         /* of the whole run */
    uint64_t *largest_of; /* owned: then, of each stack; see model/profile.h */
};

/* Read the options of `tidemark report`; as tide_options_parse().  What was asked for
 * without saying so (the view of --live-at, say) is set. */
int tide_report_parse(int argc, char **argv, struct tide_report_options *options,
                      struct tide_arguments *rest);

/* The trace was asked for as it was at AT_S, as TRACE@WHEN: the same as with --live-at.  -1,
 * or the exit status when that contradicts what else was asked for. */
int tide_report_at(struct tide_report_options *options, double at_s);

/* Was one moment asked for, rather than the end? */
bool tide_report_moment(const struct tide_report_options *options);
/* Was something asked for that is not of a view: histograms, or who frees what? */
bool tide_report_counts(const struct tide_report_options *options);
/* Was a part of the blocks asked for: by names, or by size, age, life? */
bool tide_report_filters(const struct tide_report_options *options);
/* How many views were asked for. */
int tide_report_views(const struct tide_report_options *options);
/* The shape of METRIC. */
enum tide_shape tide_report_shape(const struct tide_report_options *options,
                                  enum tide_metric metric);
/* The rows that are to be built for METRIC in SHAPE. */
struct tide_rows_request tide_report_request(const struct tide_report_options *options,
                                             enum tide_metric metric,
                                             enum tide_shape shape);

#endif
