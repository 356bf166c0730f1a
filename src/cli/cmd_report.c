/* cli/cmd_report.c - tidemark report: where did the memory go? */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "view/report_json.h"
#include "view/report_text.h"

enum {
    TIDE_METRICS = 4,
    TIDE_ROWS_TREE = 30, /* without -n */
    TIDE_ROWS_FLAT = 20,
    TIDE_ROWS_STACKS = 10,
    TIDE_ROWS_FIRST_TREE = 12, /* the same when all sections are shown */
    TIDE_ROWS_FIRST_STACKS = 5,
};
#define TIDE_ROWS_UNSET UINT64_MAX

static const char *const COLOR_WORDS[] = {"auto", "always", "never", NULL};
static const char *const SPACE_WORDS[] = {"heap", "mmap", NULL};

struct report_options {
    bool views[TIDE_METRICS]; /* by enum tide_metric */
    bool flat, tree, stacks;
    bool json, bytes, si;
    uint64_t rows;
    int space, color;
};

static int parse(int argc, char **argv, struct report_options *options,
                 struct tide_arguments *rest)
{
    const struct tide_option table[] = {
        {.name = "peak", .flag = &options->views[TIDE_METRIC_PEAK]},
        {.name = "leaks", .flag = &options->views[TIDE_METRIC_LEAKS]},
        {.name = "total", .flag = &options->views[TIDE_METRIC_TOTAL]},
        {.name = "churn", .flag = &options->views[TIDE_METRIC_CHURN]},
        {.name = "tree", .flag = &options->tree},
        {.name = "flat", .flag = &options->flat},
        {.name = "stacks", .flag = &options->stacks},
        {.name = "rows", .letter = 'n', .count = &options->rows},
        {.name = "space", .choice = &options->space, .words = SPACE_WORDS},
        {.name = "json", .flag = &options->json},
        {.name = "bytes", .flag = &options->bytes},
        {.name = "si", .flag = &options->si},
        {.name = "color", .choice = &options->color, .words = COLOR_WORDS},
        {.name = NULL},
    };
    return tide_options_parse(&tide_cmd_report, table, argc, argv, rest);
}

static int count_views(const struct report_options *options)
{
    int count = 0;
    for (int i = 0; i < TIDE_METRICS; i++)
        count += options->views[i];
    return count;
}

/* -1, or the exit status when the options contradict each other. */
static int check(const struct report_options *options)
{
    if (options->flat + options->tree + options->stacks > 1)
        return tide_fail_usage(&tide_cmd_report,
                               "one of --tree, --flat and --stacks at a time");
    if (options->bytes && options->si)
        return tide_fail_usage(&tide_cmd_report, "either --bytes or --si");
    if (options->json && count_views(options) > 1)
        return tide_fail_usage(&tide_cmd_report, "--json holds one view at a time");
    return -1;
}

static enum tide_shape shape_of(const struct report_options *options,
                                enum tide_metric metric)
{
    if (options->flat)
        return TIDE_SHAPE_FLAT;
    if (options->stacks)
        return TIDE_SHAPE_STACKS;
    if (options->tree)
        return TIDE_SHAPE_TREE;
    const bool by_stack = metric == TIDE_METRIC_LEAKS || metric == TIDE_METRIC_CHURN;
    return by_stack ? TIDE_SHAPE_STACKS : TIDE_SHAPE_TREE;
}

/* The rows of SHAPE that are shown when -n does not say; FIRST: among all sections. */
static size_t limit_of(const struct report_options *options, enum tide_shape shape,
                       bool first)
{
    if (options->rows != TIDE_ROWS_UNSET)
        return (size_t)options->rows;
    if (shape == TIDE_SHAPE_TREE)
        return first ? TIDE_ROWS_FIRST_TREE : TIDE_ROWS_TREE;
    if (shape == TIDE_SHAPE_STACKS)
        return first ? TIDE_ROWS_FIRST_STACKS : TIDE_ROWS_STACKS;
    return TIDE_ROWS_FLAT;
}

/* --- Text -------------------------------------------------------------------------- */

static enum tide_status add_view(struct tide_page *page, const struct tide_model *model,
                                 const struct report_options *options,
                                 enum tide_metric metric, bool first)
{
    const enum tide_shape shape = shape_of(options, metric);
    const size_t limit = limit_of(options, shape, first);
    struct tide_rows *rows;
    const enum tide_status status =
        tide_rows_build(model, metric, (enum tide_space)options->space, &rows);
    if (status)
        return status;
    if (shape == TIDE_SHAPE_FLAT)
        tide_view_flat(page, model, rows, limit);
    else if (shape == TIDE_SHAPE_STACKS)
        tide_view_stacks(page, model, rows, limit);
    else
        tide_view_tree(page, model, rows, limit);
    tide_page_skip(page);
    tide_rows_free(rows);
    return TIDE_OK;
}

/* All sections. */
static enum tide_status add_everything(struct tide_page *page,
                                       const struct tide_model *model,
                                       const struct report_options *options)
{
    struct tide_findings findings;
    enum tide_status status = tide_findings_build(model, &findings);
    if (status)
        return status;
    tide_view_overview(page, model);
    tide_page_skip(page);
    const size_t before = page->out->length;
    tide_view_timeline(page, model);
    if (page->out->length > before)
        tide_page_skip(page);
    status = add_view(page, model, options, TIDE_METRIC_PEAK, true);
    if (!status)
        status = add_view(page, model, options, TIDE_METRIC_LEAKS, true);
    tide_view_findings(page, &findings);
    if (findings.count > 0)
        tide_page_skip(page);
    tide_findings_release(&findings);
    return status;
}

static enum tide_status add_views(struct tide_page *page,
                                  const struct tide_model *model,
                                  const struct report_options *options)
{
    for (int metric = 0; metric < TIDE_METRICS; metric++) {
        if (!options->views[metric])
            continue;
        const enum tide_status status =
            add_view(page, model, options, (enum tide_metric)metric, false);
        if (status)
            return status;
    }
    return TIDE_OK;
}

static enum tide_status report_text(const struct tide_model *model,
                                    const struct report_options *options,
                                    struct tide_text *out)
{
    const enum tide_units units = options->bytes ? TIDE_UNITS_BYTES
                                  : options->si  ? TIDE_UNITS_SI
                                                 : TIDE_UNITS_IEC;
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color, units);
    struct tide_page page = {.out = out, .style = &style};
    tide_view_warning(&page, model->trace);
    if (out->length > 0)
        tide_page_skip(&page);
    const enum tide_status status = count_views(options) > 0
                                        ? add_views(&page, model, options)
                                        : add_everything(&page, model, options);
    tide_view_honesty(&page, model);
    tide_view_warning(&page, model->trace);
    return status;
}

/* --- JSON -------------------------------------------------------------------------- */

static enum tide_metric chosen_metric(const struct report_options *options)
{
    for (int metric = 0; metric < TIDE_METRICS; metric++)
        if (options->views[metric])
            return (enum tide_metric)metric;
    return TIDE_METRIC_PEAK;
}

static enum tide_status report_json(const struct tide_model *model,
                                    const struct report_options *options,
                                    struct tide_text *out)
{
    const enum tide_metric metric = chosen_metric(options);
    struct tide_findings findings;
    struct tide_rows *rows;
    enum tide_status status = tide_findings_build(model, &findings);
    if (status)
        return status;
    status = tide_rows_build(model, metric, (enum tide_space)options->space, &rows);
    if (!status) {
        const struct tide_report_json report = {
            .model = model,
            .rows = rows,
            .findings = &findings,
            .shape = shape_of(options, metric),
            .limit = options->rows == TIDE_ROWS_UNSET ? 0 : (size_t)options->rows,
        };
        tide_view_report_json(out, &report);
        tide_rows_free(rows);
    }
    tide_findings_release(&findings);
    return status;
}

static int run(int argc, char **argv)
{
    struct report_options options = {.rows = TIDE_ROWS_UNSET};
    struct tide_arguments rest = {0};
    struct tide_opened opened;
    struct tide_text text = {0};
    int done = parse(argc, argv, &options, &rest);
    if (done < 0)
        done = check(&options);
    if (done < 0)
        done = tide_open_trace(&tide_cmd_report, &rest, &opened);
    if (done >= 0)
        return done;
    const bool shaped = options.flat || options.tree || options.stacks;
    if (shaped && count_views(&options) == 0)
        options.views[TIDE_METRIC_PEAK] = true;

    enum tide_status status = tide_model_symbolize(opened.model);
    if (!status)
        status = options.json ? report_json(opened.model, &options, &text)
                              : report_text(opened.model, &options, &text);
    tide_opened_close(&opened);
    if (!status)
        return tide_print_text(&text);
    tide_text_release(&text);
    return tide_fail("%s", tide_status_words(status));
}

const struct tide_command tide_cmd_report = {
    .name = "report",
    .summary = "say where the memory went",
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Without TRACE the newest of this folder is taken.  Without a view: an overview,\n"
        "the peak, what was live at the end, and findings.\n"
        "\n"
        "views\n"
        "  --peak           what was live when the heap stood highest\n"
        "  --leaks          what was live at the end\n"
        "  --total          everything that was allocated\n"
        "  --churn          temporary blocks: freed before their thread's next one\n"
        "\n"
        "shapes\n"
        "  --tree           by call path, callers first (peak and total without a shape)\n"
        "  --stacks         by stack, innermost first (leaks and churn without a shape)\n"
        "  --flat           by function\n"
        "\n"
        "options\n"
        "  -n, --rows N     at most N rows; 0: all, with nothing folded\n"
        "  --space SPACE    heap (default) or mmap\n"
        "  --json           for programs: all rows of one view, see tidemark-report(1)\n"
        "  --bytes          sizes in bytes\n"
        "  --si             sizes in powers of 1000\n"
        "  --color WHEN     auto (default), always or never\n"
        "\n"
        "example: tidemark report --leaks -n 5 prog.tide\n",
    .run = run,
};
