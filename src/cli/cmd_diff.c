/* cli/cmd_diff.c - tidemark diff: what changed from one run to another? */
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/open_moment.h"
#include "cli/options.h"
#include "cli/suppression_file.h"
#include "model/diff.h"
#include "view/diff_view.h"

enum {
    TIDE_DIFF_METRICS = 4,
    TIDE_DIFF_ROWS = 20, /* without -n */
};
#define TIDE_DIFF_ROWS_UNSET UINT64_MAX

static const char *const SPACE_WORDS[] = {"heap", "mmap", NULL};

struct diff_options {
    bool metrics[TIDE_DIFF_METRICS]; /* by enum tide_metric */
    bool flat, tree, stacks;
    bool json, csv, bytes, si, no_fold;
    const char *hide;
    const char *suppressions; /* a file, or NULL */
    bool no_suppressions;
    uint64_t rows;
    int space, color;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct diff_options asked;

static const struct tide_option TABLE[] = {
    {.name = "peak",
     .flag = &asked.metrics[TIDE_METRIC_PEAK],
     .heading = "views",
     .help = "what was live when the heap was largest (default)"},
    {.name = "leaks",
     .flag = &asked.metrics[TIDE_METRIC_LEAKS],
     .help = "what was live at the end, or at a moment (then the default)"},
    {.name = "total",
     .flag = &asked.metrics[TIDE_METRIC_TOTAL],
     .help = "everything that was allocated"},
    {.name = "churn",
     .flag = &asked.metrics[TIDE_METRIC_CHURN],
     .help = "temporary blocks: freed before their thread's next allocation"},
    {.name = "flat",
     .flag = &asked.flat,
     .heading = "shapes",
     .help = "by function, the largest change first (default)"},
    {.name = "tree", .flag = &asked.tree, .help = "by call path, callers first"},
    {.name = "stacks",
     .flag = &asked.stacks,
     .help = "by stack, innermost function first"},
    {.name = "rows",
     .letter = 'n',
     .count = &asked.rows,
     .heading = "options",
     .value = "N",
     .help = "at most N rows; 0 shows all rows and folds nothing"},
    {.name = "space",
     .choice = &asked.space,
     .words = SPACE_WORDS,
     .value = "SPACE",
     .help = "which memory: heap (default) or mmap"},
    {.name = "hide",
     .text = &asked.hide,
     .value = "P",
     .help = "leave out functions and modules that match P, and count what they "
             "allocate for their callers"},
    {.name = "no-fold",
     .flag = &asked.no_fold,
     .help = "show the inner functions of the C++ and Rust libraries and wrappers of "
             "malloc (xmalloc); by default their callers stand for them"},
    {.name = "suppressions",
     .text = &asked.suppressions,
     .value = "FILE",
     .help = "leaks that do not count with --leaks, as LeakSanitizer has them: "
             "lines of the form leak:PATTERN",
     .takes = TIDE_TAKES_FILE,
     .rare = true},
    {.name = "no-suppressions",
     .flag = &asked.no_suppressions,
     .help = "also count what libraries keep on purpose",
     .rare = true},
    {.name = "json",
     .flag = &asked.json,
     .help = "write all rows as JSON; see tidemark-diff(1)"},
    {.name = "csv",
     .flag = &asked.csv,
     .help = "write only the rows, for spreadsheets"},
    {.name = "bytes",
     .flag = &asked.bytes,
     .help = "write sizes in bytes",
     .rare = true},
    {.name = "si",
     .flag = &asked.si,
     .help = "write sizes in powers of 1000",
     .rare = true},
    TIDE_OPTION_COLOR(asked.color, true),
    {.name = NULL},
};

static int parse(int argc, char **argv, struct diff_options *options,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_diff, argc, argv, rest);
    *options = asked;
    return done;
}

/* -1, or the exit status when the options make no sense together. */
static int check(const struct diff_options *options, const struct tide_arguments *rest)
{
    const struct tide_command *const self = &tide_cmd_diff;
    int metrics = 0;
    for (int i = 0; i < TIDE_DIFF_METRICS; i++)
        metrics += options->metrics[i];
    if (metrics > 1)
        return tide_fail_usage(self,
                               "one of --peak, --leaks, --total and --churn at a time");
    if (options->flat + options->tree + options->stacks > 1)
        return tide_fail_usage(self, "one of --flat, --tree and --stacks at a time");
    if (options->bytes && options->si)
        return tide_fail_usage(self, "either --bytes or --si");
    if (options->json && options->csv)
        return tide_fail_usage(self, "either --json or --csv");
    if (rest->count != 2)
        return tide_fail_usage(self, "name two traces, the older one first");
    return -1;
}

/* Of snapshots, what is live then is what one wants to know. */
static enum tide_metric chosen_metric(const struct diff_options *options,
                                      const struct tide_opened_moment *sides)
{
    for (int metric = 0; metric < TIDE_DIFF_METRICS; metric++)
        if (options->metrics[metric])
            return (enum tide_metric)metric;
    const bool snapshot =
        sides[TIDE_SIDE_BASE].at_s >= 0 || sides[TIDE_SIDE_NEW].at_s >= 0;
    return snapshot ? TIDE_METRIC_LEAKS : TIDE_METRIC_PEAK;
}

static void show(const struct diff_options *options, struct tide_diff_view *view,
                 struct tide_text *out)
{
    const bool unset = options->rows == TIDE_DIFF_ROWS_UNSET;
    view->shape = options->tree     ? TIDE_DIFF_TREE
                  : options->stacks ? TIDE_DIFF_STACKS
                                    : TIDE_DIFF_FLAT;
    if (options->json || options->csv) {
        view->limit = unset ? 0 : (size_t)options->rows;
        if (options->json)
            tide_view_diff_json(out, view);
        else
            tide_view_diff_csv(out, view);
        return;
    }
    const enum tide_units units = tide_units_chosen(options->bytes, options->si);
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color, units);
    struct tide_page page = {.out = out, .style = &style};
    view->limit = unset ? TIDE_DIFF_ROWS : (size_t)options->rows;
    tide_view_diff(&page, view);
}

/* Find out what of both sides is suppressed.  At some moment all that is live counts: on
 * the other side too, or the two could not be compared. */
static enum tide_status suppress(struct tide_suppressions *suppressions,
                                 struct tide_diff_request *request,
                                 struct tide_diff_view *view)
{
    const bool leaks = request->metric == TIDE_METRIC_LEAKS;
    if (view->at_s[TIDE_SIDE_BASE] >= 0 || view->at_s[TIDE_SIDE_NEW] >= 0)
        return TIDE_OK;
    enum tide_status status = TIDE_OK;
    for (int side = 0; side < TIDE_SIDES && !status; side++) {
        status = tide_suppressions_apply(&suppressions[side], request->models[side],
                                         request->space);
        view->left_out[side] = &suppressions[side];
        if (!leaks)
            continue;
        request->suppressed[side] = suppressions[side].sites;
        view->suppressed[side] = &suppressions[side];
    }
    return status;
}

static enum tide_status compare(const struct diff_options *options,
                                const struct tide_arguments *rest,
                                const struct tide_opened_moment *sides,
                                struct tide_suppressions *suppressions,
                                struct tide_text *out)
{
    struct tide_diff_request request = {
        .metric = chosen_metric(options, sides),
        .space = (enum tide_space)options->space,
        .fold = !options->no_fold,
        .hide = options->hide,
    };
    struct tide_diff_view view = {0};
    struct tide_diff *diff;
    enum tide_status status = TIDE_OK;
    for (int side = 0; side < TIDE_SIDES && !status; side++) {
        request.models[side] = sides[side].opened.model;
        view.models[side] = sides[side].opened.model;
        view.names[side] = rest->list[side];
        view.at_s[side] = sides[side].at_s;
        status = tide_model_symbolize(sides[side].opened.model);
    }
    if (!status)
        status = suppress(suppressions, &request, &view);
    if (!status)
        status = tide_diff_build(&request, &diff);
    if (status)
        return status;
    view.diff = diff;
    show(options, &view, out);
    tide_diff_free(diff);
    return TIDE_OK;
}

/* Open both sides and compare them; the exit status. */
static int open_and_compare(const struct diff_options *options,
                            const struct tide_arguments *rest,
                            struct tide_suppressions *suppressions)
{
    const struct tide_model_options load = {
        .until_s = -1, .evidence = options->metrics[TIDE_METRIC_LEAKS]};
    struct tide_opened_moment sides[TIDE_SIDES] = {0};
    struct tide_text text = {0};
    int done = tide_open_moment_with(&tide_cmd_diff, rest->list[0], &load,
                                     &sides[TIDE_SIDE_BASE]);
    if (done >= 0)
        return done;
    done = tide_open_moment_with(&tide_cmd_diff, rest->list[1], &load,
                                 &sides[TIDE_SIDE_NEW]);
    if (done < 0) {
        const enum tide_status status =
            compare(options, rest, sides, suppressions, &text);
        done = status ? tide_fail("%s", tide_failure_words(status))
                      : tide_print_text(&text);
        for (int side = 0; side < TIDE_SIDES; side++)
            tide_say_other_builds(&sides[side].opened);
        tide_opened_moment_close(&sides[TIDE_SIDE_NEW]);
    }
    tide_opened_moment_close(&sides[TIDE_SIDE_BASE]);
    tide_text_release(&text);
    return done;
}

static int run(int argc, char **argv)
{
    struct diff_options options = {.rows = TIDE_DIFF_ROWS_UNSET};
    struct tide_suppressions suppressions[TIDE_SIDES] = {0};
    struct tide_arguments rest = {0};
    int done = parse(argc, argv, &options, &rest);
    if (done < 0)
        done = check(&options, &rest);
    for (int side = 0; side < TIDE_SIDES && done < 0; side++)
        done = tide_suppression_file(options.suppressions, options.no_suppressions,
                                     &suppressions[side]);
    if (done < 0)
        done = open_and_compare(&options, &rest, suppressions);
    for (int side = 0; side < TIDE_SIDES; side++)
        tide_suppressions_release(&suppressions[side]);
    return done;
}

const struct tide_command tide_cmd_diff = {
    .name = "diff",
    .summary = "say what changed from one trace to another",
    .usage = "[OPTION...] BASE NEW",
    .help =
        "Says what NEW has more and less of than BASE.  Each is a trace or a moment in\n"
        "one: TRACE@12.5s or @150ms (a time), TRACE@NAME (a tide_snapshot; NAME#3 is the\n"
        "third of that name), TRACE@event51 (a tide_event), TRACE@peak or TRACE@end.\n"
        "Stacks match by the names of functions and modules, so you can compare two\n"
        "builds.  Percentages are relative to BASE.\n",
    .example = "diff yesterday.tide today.tide",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
