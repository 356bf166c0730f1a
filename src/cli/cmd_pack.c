/* cli/cmd_pack.c - tidemark pack: make a trace readable where the program is not. */
#include <string.h>

#include "cli/command.h"
#include "cli/fetch_names.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "cli/pack_trace.h"

/* What was asked for: in a place that does not change, for the table. */
static struct {
    const char *out;
    bool quiet, fetch;
} asked;

static const struct tide_option TABLE[] = {
    {.name = "output",
     .letter = 'o',
     .text = &asked.out,
     .value = "OUT",
     .help = "write OUT and leave TRACE as it is",
     .takes = TIDE_TAKES_FILE},
    {.name = "debuginfod",
     .flag = &asked.fetch,
     .help = "ask the servers of DEBUGINFOD_URLS for missing names"},
    {.name = "quiet",
     .letter = 'q',
     .flag = &asked.quiet,
     .help = "do not say how many names were found"},
    {.name = NULL},
};

static int run(int argc, char **argv)
{
    asked.out = NULL;
    asked.quiet = asked.fetch = false;
    struct tide_debuginfod *debuginfod = NULL;
    struct tide_arguments rest = {0};
    struct tide_opened opened;
    int done = tide_options_parse(&tide_cmd_pack, argc, argv, &rest);
    if (done < 0 && !asked.out && rest.count == 1 && strcmp(rest.list[0], "-") == 0)
        done =
            tide_fail_usage(&tide_cmd_pack, "a trace from standard input needs -o OUT");
    if (done < 0 && asked.fetch)
        done = tide_fetch_begin(&debuginfod);
    if (done < 0)
        done = tide_open_trace(&tide_cmd_pack, &rest, &opened);
    if (done < 0) {
        opened.model->debuginfod = debuginfod;
        done = tide_pack_trace(&opened, asked.out, !asked.quiet);
        tide_opened_close(&opened);
    }
    tide_fetch_end(debuginfod);
    return done;
}

const struct tide_command tide_cmd_pack = {
    .name = "pack",
    .summary = "put the names of functions and lines into a trace",
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Puts the names of functions and lines into TRACE, or into the newest trace in\n"
        "this folder, so that you can read it where the program and its libraries are\n"
        "missing or have changed.\n",
    .example = "pack prog.tide && scp prog.tide elsewhere:",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
