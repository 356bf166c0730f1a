/* cli/cmd_report.c - tidemark report: where did the memory go? */
#include <stddef.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/fetch_names.h"
#include "cli/memory_limit.h"
#include "cli/open_moment.h"
#include "cli/report_write.h"
#include "cli/source_roots.h"
#include "cli/suppression_file.h"
#include "model/sources.h"

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
    int done = tide_open_moment_with(&tide_cmd_report, arguments->list[0],
                                     &options->load, &moment);
    *out = moment.opened;
    if (done >= 0 || moment.at_s < 0)
        return done;
    done = tide_report_at(options, moment.at_s);
    if (done >= 0)
        tide_opened_close(out);
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

/* The same that shows what each process held by itself. */
static bool wants_process_peaks(const struct tide_report_options *options)
{
    return options->shapes[TIDE_SHAPE_PROCESSES] && !options->csv &&
           !tide_report_moment(options) && !tide_report_filters(options) &&
           options->load.select.from_s <= 0;
}

/* Find what single views need, which takes walks of their own. */
static enum tide_status prepare_views(struct tide_report_options *options,
                                      struct tide_opened *opened)
{
    const enum tide_space space = (enum tide_space)options->space;
    enum tide_status status = TIDE_OK;
    if (options->largest)
        status = tide_largest_blocks(opened->model, space, NULL, &options->largest_of);
    if (!status && wants_process_peaks(options))
        status = tide_process_peaks_find(opened->model, space, &options->process_peaks);
    if (!status && wants_told(options))
        status = tide_told_build(opened->model, &options->told);
    return status;
}

/* Get ready to show sources, if they are wanted; -1 or the exit status. */
static int begin_sources(struct tide_report_options *options,
                         const struct tide_trace *trace)
{
    if (!options->source)
        return -1;
    options->sources = tide_sources_new(trace->start_unix_ns);
    if (!options->sources)
        return tide_fail("%s", tide_status_words(TIDE_ENOMEM));
    return tide_source_roots_allow(options->sources, &options->source_roots, trace);
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
    if (!tide_report_moment(options))
        status = tide_bad_frees_find(opened->model, &options->bad_frees);
    if (flow && !status)
        status = tide_passages_build(opened->model, NULL, &options->passages);
    if (!status)
        status = flow || options->bad_frees.count
                     ? tide_model_symbolize_all(opened->model)
                     : tide_model_symbolize(opened->model);
    /* At some moment all that is live counts. */
    if (!status && !tide_report_moment(options))
        status = tide_suppressions_apply(suppressions, opened->model,
                                         (enum tide_space)options->space);
    options->suppressed = suppressions;
    return status ? status : prepare_views(options, opened);
}

/* Report on OPENED, which is given back; the exit status. */
static int report(struct tide_report_options *options, struct tide_opened *opened,
                  struct tide_suppressions *suppressions)
{
    struct tide_text text = {0};
    enum tide_status status = prepare(options, opened, suppressions);
    if (!status)
        status = options->json || options->csv
                     ? tide_report_data(opened->model, options, &text)
                     : tide_report_text(opened->model, options, &text);
    tide_opened_close(opened);
    tide_told_free(options->told);
    tide_passages_free(options->passages);
    tide_process_peaks_release(&options->process_peaks);
    free(options->largest_of);
    if (!status)
        return tide_print_text(&text);
    tide_text_release(&text);
    return tide_fail("%s", tide_failure_words(status));
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
    if (done < 0) {
        done = begin_sources(&options, opened.trace);
        if (done >= 0)
            tide_opened_close(&opened);
    }
    if (done < 0)
        done = report(&options, &opened, &suppressions);
    tide_sources_free(options.sources);
    tide_suppressions_release(&suppressions);
    tide_fetch_end(options.debuginfod);
    return done;
}

const struct tide_command tide_cmd_report = {
    .name = "report",
    .summary = "say where the memory went",
    .reads_traces = true,
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
        "  --processes      by process, and the own peak of each\n"
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
        "  --source-root DIR    with --source: also of files below DIR; more than once.\n"
        "                   To root it is only these\n"
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
        "  --max-memory SIZE\n"
        "                   take no more (default: three quarters of what is free)\n"
        "\n"
        "example: tidemark report --leaks -n 5 prog.tide\n",
    .run = run,
};
