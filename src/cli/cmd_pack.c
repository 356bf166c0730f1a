/* cli/cmd_pack.c - tidemark pack: make a trace readable where the program is not. */
#include "cli/command.h"
#include "cli/fetch_names.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "cli/pack_trace.h"

static int run(int argc, char **argv)
{
    const char *out = NULL;
    bool quiet = false, fetch = false;
    struct tide_debuginfod *debuginfod = NULL;
    struct tide_arguments rest = {0};
    struct tide_opened opened;
    const struct tide_option table[] = {
        {.name = "output", .letter = 'o', .text = &out},
        {.name = "quiet", .letter = 'q', .flag = &quiet},
        {.name = "debuginfod", .flag = &fetch},
        {.name = NULL},
    };
    int done = tide_options_parse(&tide_cmd_pack, table, argc, argv, &rest);
    if (done < 0 && fetch)
        done = tide_fetch_begin(&debuginfod);
    if (done < 0)
        done = tide_open_trace(&tide_cmd_pack, &rest, &opened);
    if (done < 0) {
        opened.model->debuginfod = debuginfod;
        done = tide_pack_trace(&opened, out, !quiet);
        tide_opened_close(&opened);
    }
    tide_fetch_end(debuginfod);
    return done;
}

const struct tide_command tide_cmd_pack = {
    .name = "pack",
    .summary = "put the names of functions and lines into a trace",
    .reads_traces = true,
    .usage = "[OPTION...] [TRACE]",
    .help =
        "Afterwards the trace can be read where the program and its libraries are not,\n"
        "or not any more.  Without TRACE the newest of this folder is taken.\n"
        "\n"
        "options\n"
        "  -o, --output OUT  write OUT and leave TRACE as it is\n"
        "  --debuginfod      ask the servers of DEBUGINFOD_URLS for missing names\n"
        "  -q, --quiet       do not say how many names were found\n"
        "  --max-memory SIZE\n"
        "                    take no more (default: three quarters of what is free)\n"
        "\n"
        "example: tidemark pack prog.tide && scp prog.tide elsewhere:\n",
    .run = run,
};
