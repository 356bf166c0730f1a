/* cli/cmd_info.c - tidemark info: what a trace holds. */
#include <stddef.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "model/other_builds.h"
#include "view/info.h"

struct info_options {
    bool json, modules, verbose, bytes, si;
    int color;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct info_options asked;

static const struct tide_option TABLE[] = {
    {.name = "modules",
     .flag = &asked.modules,
     .help = "list the loaded files with their build-ids"},
    {.name = "verbose",
     .letter = 'v',
     .flag = &asked.verbose,
     .help = "list the loaded files and every process"},
    TIDE_OPTION_JSON(asked.json, "info"),
    {.name = "bytes", .flag = &asked.bytes, .help = "write sizes in bytes"},
    {.name = "si", .flag = &asked.si, .help = "write sizes in powers of 1000"},
    TIDE_OPTION_COLOR(asked.color, false),
    {.name = NULL},
};

static int parse(int argc, char **argv, struct info_options *options,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_info, argc, argv, rest);
    *options = asked;
    if (done < 0 && options->bytes && options->si)
        return tide_fail_usage(&tide_cmd_info, "either --bytes or --si");
    return done;
}

static void info_text(const struct tide_model *model,
                      const struct info_options *options, struct tide_text *out)
{
    const enum tide_units units = tide_units_chosen(options->bytes, options->si);
    const struct tide_style style =
        tide_style_detect(STDOUT_FILENO, (enum tide_color)options->color, units);
    const struct tide_info_options shown = {
        .modules = options->modules || options->verbose, .all = options->verbose};
    struct tide_page page = {.out = out, .style = &style};
    tide_view_info(&page, model, shown);
}

static int run(int argc, char **argv)
{
    struct info_options options = {0};
    struct tide_arguments rest = {0};
    struct tide_opened opened;
    struct tide_text text = {0};
    int done = parse(argc, argv, &options, &rest);
    if (done < 0)
        done = tide_open_trace_counted(&tide_cmd_info, &rest, &opened);
    if (done >= 0)
        return done;
    if (options.json)
        tide_view_info_json(&text, opened.model);
    else
        info_text(opened.model, &options, &text);
    done = tide_print_text(&text);
    tide_find_other_builds(opened.trace);
    tide_say_other_builds(&opened);
    tide_opened_close(&opened);
    return done;
}

const struct tide_command tide_cmd_info = {
    .name = "info",
    .summary = "say what a trace holds",
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Says what was recorded in TRACE, or in the newest trace in this folder, with\n"
        "which options and which version, how large the trace is and what is missing in\n"
        "it; - is standard input.\n",
    .example = "info --modules prog.tide",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
