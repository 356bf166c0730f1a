/* cli/cmd_report.c - tidemark report: where did the memory go? */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/fetch_names.h"
#include "cli/open_moment.h"
#include "cli/report_options.h"
#include "cli/suppression_file.h"
#include "model/sources.h"
#include "view/gprof.h"
#include "view/passage_text.h"
#include "view/report_json.h"
#include "view/report_text.h"
#include "view/told_text.h"

enum {
    TIDE_ROWS_TREE = 30, /* without -n */
    TIDE_ROWS_FLAT = 20,
    TIDE_ROWS_STACKS = 10,
    TIDE_ROWS_FIRST_TREE = 12, /* the same when all sections are shown */
    TIDE_ROWS_FIRST_STACKS = 5,
};

/* The rows of SHAPE that are shown when -n does not say; FIRST: among all sections. */
static size_t limit_of(const struct tide_report_options *options, enum tide_shape shape,
                       bool first)
{
    if (options->rows != TIDE_ROWS_UNSET)
        return (size_t)options->rows;
    if (shape == TIDE_SHAPE_FLAT || tide_shape_groups(shape))
        return TIDE_ROWS_FLAT;
    if (shape == TIDE_SHAPE_GPROF)
        return 0;
    if (shape == TIDE_SHAPE_STACKS)
        return first ? TIDE_ROWS_FIRST_STACKS : TIDE_ROWS_STACKS;
    return first ? TIDE_ROWS_FIRST_TREE : TIDE_ROWS_TREE;
}

/* --- What a view is made of --------------------------------------------------------- */

/* Owned. */
struct parts {
    struct tide_rows *rows, *callees;
    struct tide_groups *groups;
    struct tide_profile profile;
    bool evidence; /* show when what leaks was born */
};

static void release(struct parts *parts)
{
    tide_rows_free(parts->rows);
    tide_rows_free(parts->callees);
    tide_groups_free(parts->groups);
    tide_profile_release(&parts->profile);
}

/* Build what the view of METRIC shows in SHAPE. */
static enum tide_status build(const struct tide_model *model,
                              const struct tide_report_options *options,
                              enum tide_metric metric, enum tide_shape shape,
                              struct parts *out)
{
    struct tide_rows_request request = tide_report_request(options, metric, shape);
    enum tide_status status = TIDE_OK;
    *out = (struct parts){0};
    if (tide_shape_groups(shape)) {
        const enum tide_group_by by = (enum tide_group_by)(shape - TIDE_SHAPE_THREADS);
        status = tide_groups_ask(model, &request, by, &out->groups);
    } else if (!tide_shape_counts(shape) && !tide_shape_told(shape)) {
        status = tide_rows_ask(model, &request, &out->rows);
    }
    if (!status && shape == TIDE_SHAPE_SANDWICH) {
        request.part = TIDE_TREE_CALLEES;
        status = tide_rows_ask(model, &request, &out->callees);
    }
    if (!status && shape == TIDE_SHAPE_GPROF)
        status =
            tide_profile_build(model, out->rows, options->largest_of, &out->profile);
    if (status)
        release(out);
    return status;
}

/* --- Text -------------------------------------------------------------------------- */

static void add_shape(struct tide_page *page, const struct tide_model *model,
                      const struct parts *parts, enum tide_shape shape, size_t limit)
{
    if (shape == TIDE_SHAPE_SIZES)
        tide_view_sizes(page, model);
    else if (shape == TIDE_SHAPE_LIFETIMES)
        tide_view_lifetimes(page, model);
    else if (shape == TIDE_SHAPE_WINDOWS)
        tide_view_windows(page, model, limit);
    else if (parts->groups)
        tide_view_groups(page, model, parts->groups, limit);
    else if (shape == TIDE_SHAPE_GPROF)
        tide_view_gprof(page, model, &parts->profile, limit);
    else if (shape == TIDE_SHAPE_FLAT)
        tide_view_flat(page, model, parts->rows, limit);
    else if (shape == TIDE_SHAPE_STACKS && parts->evidence)
        tide_view_leaks(page, model, parts->rows, limit);
    else if (shape == TIDE_SHAPE_STACKS)
        tide_view_stacks(page, model, parts->rows, limit);
    else if (!tide_shape_told(shape))
        tide_view_tree(page, model, parts->rows, limit);
    if (parts->callees && parts->callees->tree_count > 1) {
        tide_page_skip(page);
        tide_view_tree(page, model, parts->callees, limit);
    }
    tide_page_skip(page);
}

/* What the program told, below the rows. */
static void add_told(struct tide_page *page, const struct tide_model *model,
                     const struct tide_told *told, enum tide_shape shape, size_t limit)
{
    const size_t before = page->out->length;
    if (shape == TIDE_SHAPE_REGIONS)
        tide_view_visits(page, told, limit);
    else if (shape == TIDE_SHAPE_LABELS)
        tide_view_label_sizes(page, told, limit);
    else if (shape == TIDE_SHAPE_TIMEMORY)
        tide_view_timemory(page, told);
    else if (shape == TIDE_SHAPE_POOLS)
        tide_view_pools(page, model, told);
    if (page->out->length > before)
        tide_page_skip(page);
}

static void add_flow(struct tide_page *page, const struct tide_model *model,
                     const struct tide_report_options *options, size_t limit)
{
    tide_view_flows(page, model, limit);
    tide_page_skip(page);
    tide_view_passages(page, model, options->passages, limit, !options->no_fold);
    tide_page_skip(page);
}

static enum tide_status add_view(struct tide_page *page, const struct tide_model *model,
                                 const struct tide_report_options *options,
                                 enum tide_metric metric, bool first)
{
    const enum tide_shape shape = tide_report_shape(options, metric);
    struct parts parts;
    const enum tide_status status = build(model, options, metric, shape, &parts);
    if (status)
        return status;
    const size_t limit = limit_of(options, shape, first);
    parts.evidence = metric == TIDE_METRIC_LEAKS && !first;
    if (shape == TIDE_SHAPE_FLOW)
        add_flow(page, model, options, limit);
    else if (!tide_shape_told(shape) || shape == TIDE_SHAPE_WINDOWS)
        add_shape(page, model, &parts, shape, limit);
    if (options->told)
        add_told(page, model, options->told, shape, limit);
    release(&parts);
    if (metric == TIDE_METRIC_LEAKS && shape != TIDE_SHAPE_GPROF &&
        options->suppressed->blocks > 0) {
        tide_view_suppressed(page, options->suppressed);
        tide_page_skip(page);
    }
    return TIDE_OK;
}

/* --space chooses among findings too, but for its default. */
static enum tide_status build_findings(const struct tide_model *model,
                                       const struct tide_report_options *options,
                                       struct tide_findings *out)
{
    const struct tide_findings_scope scope = {
        .suppressed = options->suppressed->sites,
        .mapped = options->space == TIDE_IN_MMAP,
    };
    return tide_findings_build(model, &scope, out);
}

/* All sections. */
static enum tide_status add_everything(struct tide_page *page,
                                       const struct tide_model *model,
                                       const struct tide_report_options *options)
{
    struct tide_findings findings;
    enum tide_status status = build_findings(model, options, &findings);
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
                                  const struct tide_report_options *options)
{
    enum tide_status status = TIDE_OK;
    if (tide_report_counts(options))
        return add_view(page, model, options, TIDE_METRIC_TOTAL, false);
    for (int metric = 0; metric < TIDE_METRICS && !status; metric++) {
        if (options->views[metric])
            status = add_view(page, model, options, (enum tide_metric)metric, false);
    }
    return status;
}

static enum tide_status report_text(const struct tide_model *model,
                                    const struct tide_report_options *options,
                                    struct tide_text *out)
{
    const enum tide_units units = tide_units_chosen(options->bytes, options->si);
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color, units);
    struct tide_page page = {.out = out, .style = &style, .sources = options->sources};
    tide_view_warning(&page, model->trace);
    if (out->length > 0)
        tide_page_skip(&page);
    const bool some = tide_report_views(options) > 0 || tide_report_counts(options);
    const enum tide_status status =
        some ? add_views(&page, model, options) : add_everything(&page, model, options);
    tide_view_honesty(&page, model);
    tide_view_warning(&page, model->trace);
    return status;
}

/* --- JSON and CSV ------------------------------------------------------------------ */

static enum tide_metric chosen_metric(const struct tide_report_options *options)
{
    for (int metric = 0; metric < TIDE_METRICS; metric++)
        if (options->views[metric])
            return (enum tide_metric)metric;
    return TIDE_METRIC_PEAK;
}

/* Print what there is when it is much. */
static void spill(struct tide_text *text)
{
    enum { TIDE_SPILL_BYTES = 1 << 20 };
    if (text->length < TIDE_SPILL_BYTES)
        return;
    (void)fwrite(text->bytes, 1, text->length, stdout); /* main looks at ferror */
    tide_text_clear(text);
}

/* Is it of all blocks and the whole run?  Of a part nothing can be found, as in the
 * text. */
static bool is_whole(const struct tide_model *model,
                     const struct tide_report_options *options)
{
    return !tide_report_filters(options) && !tide_report_moment(options) &&
           !model->stopped && model->until_s < 0 && model->from_s <= 0;
}

static enum tide_status report_data(const struct tide_model *model,
                                    const struct tide_report_options *options,
                                    struct tide_text *out)
{
    const enum tide_metric metric = chosen_metric(options);
    const enum tide_shape shape = tide_report_shape(options, metric);
    struct tide_findings findings = {0};
    struct parts parts;
    enum tide_status status = build(model, options, metric, shape, &parts);
    if (status)
        return status;
    if (options->json && is_whole(model, options))
        status = build_findings(model, options, &findings);
    const struct tide_report_json report = {
        .model = model,
        .rows = parts.rows,
        .callees = parts.callees,
        .groups = parts.groups,
        .profile = shape == TIDE_SHAPE_GPROF ? &parts.profile : NULL,
        .findings = &findings,
        .suppressions = options->suppressed,
        .shape = shape,
        .limit = options->rows == TIDE_ROWS_UNSET ? 0 : (size_t)options->rows,
        .sources = options->sources,
        .timeline = options->timeline,
        .spill = spill,
        .told = options->told,
        .passages = options->passages,
        .fold = !options->no_fold,
    };
    if (!status && options->json)
        tide_view_report_json(out, &report);
    else if (!status)
        tide_view_report_csv(out, &report);
    tide_findings_release(&findings);
    release(&parts);
    return status;
}

/* Open what ARGUMENTS name, a trace or one of its moments; -1 or the exit status. */
static int open_wanted(struct tide_report_options *options,
                       const struct tide_arguments *arguments, struct tide_opened *out)
{
    struct tide_opened_moment moment;
    if (options->along.axis != TIDE_AXIS_SECONDS)
        return tide_open_along(&tide_cmd_report, arguments, &options->load,
                               &options->along, out);
    if (arguments->count != 1 || options->load.until_s >= 0)
        return tide_open_trace_with(&tide_cmd_report, arguments, &options->load, out);
    const int done = tide_open_moment_with(&tide_cmd_report, arguments->list[0],
                                           &options->load, &moment);
    *out = moment.opened;
    const bool free =
        (tide_report_views(options) == 0 && !tide_report_counts(options)) ||
        options->implied;
    if (done < 0 && moment.at_s >= 0 && free) {
        options->views[TIDE_METRIC_PEAK] = false;
        options->views[TIDE_METRIC_LEAKS] = true;
    }
    return done;
}

/* Does any process of TRACE have an MPI rank? */
static bool has_ranks(const struct tide_trace *trace)
{
    for (size_t i = 0; i < trace->process_count; i++)
        if (trace->processes[i].ranked)
            return true;
    return false;
}

/* A report of the whole run that shows what the program told of itself. */
static bool wants_told(const struct tide_report_options *options)
{
    const bool *const shapes = options->shapes;
    return shapes[TIDE_SHAPE_TIMEMORY] || shapes[TIDE_SHAPE_POOLS] ||
           ((shapes[TIDE_SHAPE_REGIONS] || shapes[TIDE_SHAPE_LABELS]) &&
            !options->csv && !tide_report_moment(options) &&
            options->load.select.from_s <= 0);
}

/* Find all that the report needs beside the model. */
static enum tide_status prepare(struct tide_report_options *options,
                                struct tide_opened *opened,
                                struct tide_suppressions *suppressions)
{
    opened->model->debuginfod = options->debuginfod;
    const bool flow =
        options->shapes[TIDE_SHAPE_FLOW] && tide_passages_recorded(opened->trace);
    enum tide_status status = TIDE_OK;
    if (flow)
        status = tide_passages_build(opened->model, NULL, &options->passages);
    if (!status)
        status = flow ? tide_model_symbolize_all(opened->model)
                      : tide_model_symbolize(opened->model);
    /* At some moment all that is live counts. */
    if (!status && !tide_report_moment(options))
        status = tide_suppressions_apply(suppressions, opened->model);
    options->suppressed = suppressions;
    if (!status && options->largest)
        status = tide_largest_blocks(opened->model, (enum tide_space)options->space,
                                     NULL, &options->largest_of);
    if (!status && wants_told(options))
        status = tide_told_build(opened->model, &options->told);
    if (!status && options->source) {
        options->sources = tide_sources_new(opened->trace->start_unix_ns);
        status = options->sources ? TIDE_OK : TIDE_ENOMEM;
    }
    return status;
}

/* Report on OPENED, which is given back; the exit status. */
static int report(struct tide_report_options *options, struct tide_opened *opened,
                  struct tide_suppressions *suppressions)
{
    struct tide_text text = {0};
    enum tide_status status = prepare(options, opened, suppressions);
    if (!status)
        status = options->json || options->csv
                     ? report_data(opened->model, options, &text)
                     : report_text(opened->model, options, &text);
    tide_opened_close(opened);
    tide_told_free(options->told);
    tide_passages_free(options->passages);
    tide_sources_free(options->sources);
    free(options->largest_of);
    if (!status)
        return tide_print_text(&text);
    tide_text_release(&text);
    return tide_fail("%s", tide_status_words(status));
}

static int run(int argc, char **argv)
{
    struct tide_report_options options;
    struct tide_arguments rest = {0};
    struct tide_suppressions suppressions = {0};
    struct tide_opened opened;
    int done = tide_report_parse(argc, argv, &options, &rest);
    if (done < 0)
        done = tide_suppression_file(options.suppressions, options.no_suppressions,
                                     &suppressions);
    if (done < 0 && options.fetch)
        done = tide_fetch_begin(&options.debuginfod);
    if (done < 0)
        done = open_wanted(&options, &rest, &opened);
    if (done < 0 && options.filter.rank && !has_ranks(opened.trace)) {
        done = tide_fail("%s: no process of it has an MPI rank", opened.path);
        tide_opened_close(&opened);
    }
    if (done < 0)
        done = report(&options, &opened, &suppressions);
    tide_suppressions_release(&suppressions);
    tide_fetch_end(options.debuginfod);
    return done;
}

const struct tide_command tide_cmd_report = {
    .name = "report",
    .summary = "say where the memory went",
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Without TRACE the newest of this folder is taken.  Without a view: an overview,\n"
        "the peak, what was live at the end, and findings.  TRACE@WHEN is what was live\n"
        "then: at a time (12.5s), an event (event51) or a snapshot by its name.\n"
        "\n"
        "views\n"
        "  --peak           what was live when the heap stood highest\n"
        "  --leaks          what was live at the end\n"
        "  --total          everything that was allocated\n"
        "  --churn          temporary blocks: freed before their thread's next one\n"
        "  --live-at T      what was live T seconds after the start; see --time\n"
        "  --between T1 T2  what was made after T1 and live at T2; with another view:\n"
        "                   that view of blocks made between T1 and T2\n"
        "  --time AXIS      count T, T1, T2 and the curve in seconds (default), in bytes\n"
        "                   (allocated so far) or in events, so that two runs compare\n"
        "\n"
        "shapes\n"
        "  --tree           by call path, callers first (peak and total without a shape)\n"
        "  --stacks         by stack, innermost first (leaks and churn without a shape)\n"
        "  --flat           by function\n"
        "  --bottom-up      by call path, the allocating function first\n"
        "  --callers F      who calls function F for it\n"
        "  --sandwich F     who calls function F, and what F calls\n"
        "  --gprof          by function with callers and callees, as igprof-analyse does\n"
        "  --counter C      the same of MEM_LIVE_PEAK (as --peak), MEM_LIVE (--leaks),\n"
        "                   MEM_TOTAL, MEM_CHURN or MEM_MAX, the largest single blocks\n"
        "  --threads        by thread, and who freed whose blocks\n"
        "  --processes      by process\n"
        "  --regions        by region of the program\n"
        "  --labels         by the names of blocks\n"
        "  --modules        by program and library\n"
        "  --lines          by source line\n"
        "  --sizes          all blocks of the heap by size\n"
        "  --windows        counting windows: tide_start() to tide_stop()\n"
        "  --pools          what the program's own pools gave out, and what it lies in\n"
        "  --timemory       calls by region and function, in timemory's columns\n"
        "  --lifetimes      all blocks of the heap by how long they lived\n"
        "  --flow           blocks freed by another thread than the one that made them;\n"
        "                   after run --free-stacks also where they were made and freed\n"
        "\n"
        "filters (P: part of a name, or a pattern with * and ?; P|Q: either)\n"
        "  --function P     stacks with such a function\n"
        "  --module P       stacks with a function of such a program or library\n"
        "  --file P         stacks with a function of such a source file\n"
        "  --region P       blocks made in such a region (main/solve)\n"
        "  --label P        blocks with such a name\n"
        "  --thread P       blocks made by such a thread, by name or number\n"
        "  --process P      blocks made by such a process, by program or number\n"
        "  --rank N         blocks made by processes of that MPI rank; 0|3: of either\n"
        "  --size RANGE     blocks of so many bytes: 1K..64K, 1M.. or ..100\n"
        "  --age RANGE      blocks so many seconds old at the end or at --live-at\n"
        "  --lifetime RANGE blocks that lived so many seconds\n"
        "\n"
        "options\n"
        "  -n, --rows N     at most N rows; 0: all, with nothing folded\n"
        "  --space SPACE    heap (default) or mmap\n"
        "  --source         with --stacks, --flat or --lines: source lines around it\n"
        "  --hide P         such functions and modules count as their callers\n"
        "  --no-fold        so do not those of the C++ and Rust libraries\n"
        "  --debuginfod     ask the servers of DEBUGINFOD_URLS for what has no names here\n"
        "  --suppressions FILE  leaks that do not count, as LeakSanitizer has them:\n"
        "                   a line leak:PATTERN each\n"
        "  --no-suppressions    what libraries keep on purpose counts as well\n"
        "  --json           for programs: all rows of one view, see tidemark-report(1)\n"
        "  --csv            the rows alone, for spreadsheets\n"
        "  --bytes          sizes in bytes\n"
        "  --si             sizes in powers of 1000\n"
        "  --color WHEN     auto (default), always or never\n"
        "\n"
        "example: tidemark report --leaks -n 5 prog.tide\n",
    .run = run,
};
