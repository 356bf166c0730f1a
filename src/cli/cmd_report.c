/* cli/cmd_report.c - tidemark report: where did the memory go? */
#include <stddef.h>
#include <stdlib.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/fetch_names.h"
#include "cli/memory_limit.h"
#include "cli/near_filter.h"
#include "cli/near_function.h"
#include "cli/open_moment.h"
#include "cli/report_ranks.h"
#include "cli/report_table.h"
#include "cli/report_write.h"
#include "cli/source_roots.h"
#include "cli/suppression_file.h"
#include "model/sources.h"
#include "view/timemory_units.h"

/* A moment after the end is none, as with TRACE@WHEN; -1 or the exit status. */
static int check_moment(struct tide_opened *opened)
{
    const double at_s = tide_report_asked.live_at;
    const double end_s = opened->model->duration_s;
    if (at_s < 0 || at_s <= tide_end_of_nanosecond(end_s))
        return -1;
    const int done =
        tide_fail("%s: the run ended at %.3f s, before %gs", opened->path, end_s, at_s);
    tide_opened_close(opened);
    return done;
}

/* Open what ARGUMENTS name, a trace or one of its moments; -1 or the exit status. */
static int open_wanted(struct tide_report_options *options,
                       const struct tide_arguments *arguments, struct tide_opened *out)
{
    struct tide_opened_moment moment;
    if (options->along.axis != TIDE_AXIS_SECONDS)
        return tide_open_along(&tide_cmd_report, arguments, &options->load,
                               &options->along, out);
    int done = -1;
    if (arguments->count != 1 || options->load.until_s >= 0) {
        done = tide_open_trace_with(&tide_cmd_report, arguments, &options->load, out);
        return done < 0 ? check_moment(out) : done;
    }
    done = tide_open_moment_with(&tide_cmd_report, arguments->list[0], &options->load,
                                 &moment);
    *out = moment.opened;
    if (done >= 0 || moment.at_s < 0)
        return done;
    done = tide_report_at(options, moment.at_s);
    if (done >= 0)
        tide_opened_close(out);
    return done;
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

/* The units that timemory's variable asks for; NULL: it does not. */
static const char *memory_units(void)
{
    // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets variables
    const char *const value = getenv("TIMEMORY_MEMORY_UNITS");
    const char *const wish = value ? value : getenv("MEMORY_UNITS");
    // NOLINTEND(concurrency-mt-unsafe)
    return wish && *wish ? wish : NULL;
}

/* -1, or the exit status when the variable makes no sense. */
static int check_memory_units(const struct tide_report_options *options)
{
    struct tide_timemory_unit unit;
    const char *const wish = memory_units();
    if (!options->shapes[TIDE_SHAPE_TIMEMORY] || !wish ||
        tide_timemory_unit(wish, &unit))
        return -1;
    tide_fail("MEMORY_UNITS: '%s' is no unit; there are " TIDE_TIMEMORY_UNIT_NAMES,
              wish);
    return 2;
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
        status = tide_process_peaks_find(opened->model, space, options->suppressed,
                                         &options->process_peaks);
    if (!status && options->shapes[TIDE_SHAPE_RANKS])
        status = tide_ranks_find(opened->model, options->suppressed, &options->ranks);
    if (!status && wants_told(options))
        status = tide_told_build(opened->model, &options->told);
    if (!status && wants_told(options) && memory_units())
        options->told->memory_units = memory_units();
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

/* Rows of what a program does not mark have no names: say how it would. */
static void say_unmarked(const struct tide_report_options *options)
{
    const struct tide_told *const told = options->told;
    if (told && options->shapes[TIDE_SHAPE_REGIONS] &&
        told->region_count < 2) /* one is none */
        (void)tide_fail("the program marks no regions; docs/api.md says how it can");
    if (told && options->shapes[TIDE_SHAPE_LABELS] && told->label_count == 0)
        (void)tide_fail("the program labels no blocks; docs/api.md says how it can");
}

/* Report on OPENED, which is given back; the exit status. */
static int report(struct tide_report_options *options, struct tide_opened *opened,
                  struct tide_suppressions *suppressions)
{
    struct tide_text text = {0};
    enum tide_status status = prepare(options, opened, suppressions);
    if (!status)
        status = tide_say_near_function(opened->model, options->filter.function);
    if (!status)
        status = tide_say_near_function(opened->model, options->focus);
    if (!status)
        status = tide_say_near_filter(opened->model, &options->filter);
    if (!status)
        say_unmarked(options);
    if (!status)
        status = options->json || options->csv
                     ? tide_report_data(opened->model, options, &text)
                     : tide_report_text(opened->model, options, &text);
    tide_opened_close(opened);
    tide_told_free(options->told);
    tide_passages_free(options->passages);
    tide_process_peaks_release(&options->process_peaks);
    tide_ranks_release(&options->ranks);
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
        done = check_memory_units(&options);
    if (done < 0)
        done = tide_suppression_file(options.suppressions, options.no_suppressions,
                                     &suppressions);
    if (done < 0 && options.shapes[TIDE_SHAPE_RANKS] && rest.count > 1) {
        tide_suppressions_release(&suppressions);
        return tide_report_ranks(&options, &rest);
    }
    if (done < 0 && options.fetch)
        done = tide_fetch_begin(&options.debuginfod);
    if (done < 0)
        done = open_wanted(&options, &rest, &opened);
    if (done < 0 && (options.filter.rank || options.shapes[TIDE_SHAPE_RANKS]) &&
        !tide_ranks_known(opened.trace)) {
        done = tide_fail("%s: no process in it has an MPI rank", opened.path);
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
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Reads TRACE, or the newest trace in this folder; - is standard input.  It shows\n"
        "an overview, the peak, churn, what was live at the end, and what to change\n"
        "first.  TRACE@WHEN is what was live at a time (12.5s), at a tide_event (event51)\n"
        "or at a tide_snapshot (its name).\n",
    .example = "report --leaks -n 5 prog.tide",
    .takes = TIDE_TAKES_TRACE,
    .options = tide_report_table,
    .more_options = tide_memory_options,
    .run = run,
};
