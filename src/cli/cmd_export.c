/* cli/cmd_export.c - tidemark export: a trace in other tools' formats. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/export_file.h"
#include "cli/memory_limit.h"
#include "cli/open_trace.h"
#include "cli/options.h"
#include "cli/run_query.h"
#include "view/export.h"
#include "view/progress.h"
#include "view/units.h"

enum {
    TIDE_EXPORT_BINARY = 1,  /* not for a terminal */
    TIDE_EXPORT_GZIP = 2,    /* compressed */
    TIDE_EXPORT_SPACE = 4,   /* holds one space */
    TIDE_EXPORT_METRIC = 8,  /* holds one metric */
    TIDE_EXPORT_BLOCKS = 16, /* holds blocks */
    TIDE_EXPORT_FILE = 32,   /* written by name, not in one stream */
    TIDE_EXPORT_QUERY = 64,  /* the answer of a query */
    TIDE_EXPORT_NAMED = 128, /* compressed when the file is called *.gz */
    TIDE_EXPORT_PID = 256,   /* may be of one process */
};

/* Larger outputs than both are written with --force only. */
enum {
    TIDE_EXPORT_LARGE = 1 << 30,
    TIDE_EXPORT_TIMES = 1000, /* the size of the trace */
};

/* FORMATS and FORMAT_WORDS go together. */
static const struct format {
    unsigned traits;
    enum tide_status (*write)(struct tide_out *out, const struct tide_export *what);
} FORMATS[] = {
    {TIDE_EXPORT_BINARY | TIDE_EXPORT_GZIP | TIDE_EXPORT_SPACE, tide_export_pprof},
    {TIDE_EXPORT_SPACE | TIDE_EXPORT_METRIC, tide_export_folded},
    {TIDE_EXPORT_SPACE, tide_export_speedscope},
    {0, tide_export_chrome},
    {0, tide_export_chrome},
    {TIDE_EXPORT_SPACE, tide_export_callgrind},
    {TIDE_EXPORT_BLOCKS | TIDE_EXPORT_FILE, NULL},
    {TIDE_EXPORT_BLOCKS, tide_export_csv},
    {TIDE_EXPORT_BLOCKS, tide_export_tsv},
    {TIDE_EXPORT_BLOCKS, tide_export_ndjson},
    {TIDE_EXPORT_QUERY, NULL},
    {TIDE_EXPORT_QUERY, NULL},
    {TIDE_EXPORT_NAMED | TIDE_EXPORT_PID, tide_export_igprof},
};
static const char *const FORMAT_WORDS[] = {
    "pprof", "folded", "speedscope", "chrome", "perfetto",   "callgrind", "sqlite",
    "csv",   "tsv",    "ndjson",     "cali",   "json-split", "igprof",    NULL};
_Static_assert(sizeof(FORMATS) / sizeof(FORMATS[0]) + 1 ==
                   sizeof(FORMAT_WORDS) / sizeof(FORMAT_WORDS[0]),
               "each word has a format");

static const char *const SPACE_WORDS[] = {"heap", "mmap", NULL};

enum { TIDE_EXPORT_METRICS = 4 };

struct export_options {
    int format, space;                 /* -1: not given */
    bool metrics[TIDE_EXPORT_METRICS]; /* by enum tide_metric */
    bool all, force;
    uint64_t pid; /* 0: not given */
    const char *output;
};

/* What was asked for so far: in a place that does not change, for the table. */
static struct export_options asked;

static const struct tide_option TABLE[] = {
    {.name = "to",
     .choice = &asked.format,
     .words = FORMAT_WORDS,
     .value = "FORMAT",
     .help = "one of the formats above"},
    {.name = "output",
     .letter = 'o',
     .text = &asked.output,
     .value = "FILE",
     .help = "write FILE; - (default) is standard output, not for sqlite",
     .takes = TIDE_TAKES_FILE},
    {.name = "space",
     .choice = &asked.space,
     .words = SPACE_WORDS,
     .value = "SPACE",
     .help = "which memory: heap (default) or mmap; for pprof, folded, "
             "speedscope and callgrind"},
    {.name = "peak",
     .flag = &asked.metrics[TIDE_METRIC_PEAK],
     .help = "with folded, what was live when the heap was largest (default)"},
    {.name = "leaks",
     .flag = &asked.metrics[TIDE_METRIC_LEAKS],
     .help = "with folded, what was live at the end"},
    {.name = "total",
     .flag = &asked.metrics[TIDE_METRIC_TOTAL],
     .help = "with folded, everything that was allocated"},
    {.name = "churn",
     .flag = &asked.metrics[TIDE_METRIC_CHURN],
     .help = "with folded, temporary blocks"},
    {.name = "all",
     .flag = &asked.all,
     .help = "write all blocks of the run, not only those live at the end; for "
             "csv, tsv, ndjson and sqlite"},
    {.name = "pid",
     .count = &asked.pid,
     .value = "PID",
     .help = "write what this process of the run did, not all of them; for igprof"},
    {.name = "force",
     .flag = &asked.force,
     .help = "write the file even if it is more than a thousand times larger than "
             "the trace"},
    {.name = NULL},
};

static int parse(int argc, char **argv, struct export_options *options,
                 struct tide_arguments *rest)
{
    asked = *options;
    const int done = tide_options_parse(&tide_cmd_export, argc, argv, rest);
    *options = asked;
    return done;
}

static int count_metrics(const struct export_options *options)
{
    int count = 0;
    for (int i = 0; i < TIDE_EXPORT_METRICS; i++)
        count += options->metrics[i];
    return count;
}

static bool to_stdout(const struct export_options *options)
{
    return !options->output || strcmp(options->output, "-") == 0;
}

/* -1, or the exit status when the options make no sense together. */
static int check(const struct export_options *options)
{
    const struct tide_command *const self = &tide_cmd_export;
    if (options->format < 0)
        return tide_fail_usage(self, "which format? --to pprof, for example");
    const unsigned traits = FORMATS[options->format].traits;
    const char *const format = FORMAT_WORDS[options->format];
    if (options->space >= 0 && !(traits & TIDE_EXPORT_SPACE))
        return tide_fail_usage(self, "%s holds all spaces: no --space", format);
    if (count_metrics(options) > 0 && !(traits & TIDE_EXPORT_METRIC))
        return tide_fail_usage(self,
                               "--peak, --leaks, --total and --churn are for "
                               "folded; %s holds all of them",
                               format);
    if (count_metrics(options) > 1)
        return tide_fail_usage(self,
                               "one of --peak, --leaks, --total and --churn at a time");
    if (options->all && !(traits & TIDE_EXPORT_BLOCKS))
        return tide_fail_usage(self, "--all is for blocks: csv, tsv, ndjson, sqlite");
    if (options->pid && !(traits & TIDE_EXPORT_PID))
        return tide_fail_usage(self, "--pid is for igprof");
    if ((traits & TIDE_EXPORT_FILE) && to_stdout(options))
        return tide_fail_usage(self, "%s needs a file: -o FILE", format);
    if ((traits & TIDE_EXPORT_BINARY) && to_stdout(options) && isatty(STDOUT_FILENO))
        return tide_fail_usage(self, "%s is not for a terminal: -o FILE", format);
    return -1;
}

static enum tide_metric chosen_metric(const struct export_options *options)
{
    for (int metric = 0; metric < TIDE_EXPORT_METRICS; metric++)
        if (options->metrics[metric])
            return (enum tide_metric)metric;
    return TIDE_METRIC_PEAK;
}

/* What Caliper's own tools would have recorded: its trace, and hatchet's profile. */
static const char CALI_QUERY[] =
    "SELECT region,mem.alloc,mem.free,event.set#pthread.id,"
    "event.set#event,alloc.uid,alloc.address,alloc.total_size,mem.active,"
    "alloc.region.highwatermark,thread AS pthread.id,process,time.offset.ns "
    "FORMAT cali";
static const char SPLIT_QUERY[] =
    "SELECT count() AS Allocs,sum(size) AS Bytes UNIT B,max(size) AS \"Max size\" UNIT "
    "B,inclusive_count() AS \"Allocs (inc)\",inclusive_sum(size) AS \"Bytes (inc)\" UNIT "
    "B,region GROUP BY region WHERE mem.alloc,kind FORMAT json-split";

static bool is_query(const struct export_options *options)
{
    return FORMATS[options->format].traits & TIDE_EXPORT_QUERY;
}

/* --- Write --------------------------------------------------------------------------- */

/* A stack takes a few bytes of a trace, and a line of a thousand names in some formats: a
 * trace may be made to fill a disk.  0: no limit. */
static uint64_t most_bytes(const struct export_options *options,
                           const struct tide_trace *trace)
{
    const uint64_t most = trace->file_bytes > UINT64_MAX / TIDE_EXPORT_TIMES
                              ? 0
                              : trace->file_bytes * TIDE_EXPORT_TIMES;
    if (options->force)
        return 0;
    return most && most < TIDE_EXPORT_LARGE ? TIDE_EXPORT_LARGE : most;
}

static int fail_file(const struct tide_export_file *file, const struct tide_out *out)
{
    if (out->error == EFBIG && out->most)
        return tide_fail(
            "%s: more than %s would be written, more than %d times the size "
            "of the trace; --force writes all of it",
            file->name, tide_number_bytes(out->most, TIDE_UNITS_IEC).text,
            TIDE_EXPORT_TIMES);
    return tide_fail("%s: %s", file->name,
                     out->error == ENOMEM ? tide_failure_words(TIDE_ENOMEM)
                                          : strerrordesc_np(out->error));
}

/* Into a file of its own making.  -1 or the exit status. */
static int write_tables(const struct tide_export_file *file,
                        const struct tide_export *what)
{
    struct tide_text why = {0};
    int result = -1;
    if (!file->path)
        return tide_fail("%s: not a file; sqlite needs one", file->name);
    const enum tide_status status = tide_export_sqlite(file->path, what, &why);
    if (status)
        result =
            tide_fail("%s: %s", file->name,
                      why.length && status != TIDE_ENOMEM ? why.bytes
                                                          : tide_failure_words(status));
    tide_text_release(&why);
    return result;
}

static bool is_compressed(const struct format *format, const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    const bool named = length > 3 && strcmp(name + length - 3, ".gz") == 0;
    return (format->traits & TIDE_EXPORT_GZIP) ||
           ((format->traits & TIDE_EXPORT_NAMED) && named);
}

/* In one stream.  -1 or the exit status. */
static int write_stream(const struct tide_export_file *file,
                        const struct export_options *options,
                        const struct tide_export *what)
{
    const struct format *const format = &FORMATS[options->format];
    struct tide_out out;
    enum tide_status status = TIDE_OK;
    if (is_compressed(format, options->output))
        status = tide_out_begin_gzip(&out, file->fd);
    else
        tide_out_begin(&out, file->fd);
    out.most = most_bytes(options, what->model->trace);
    if (!status)
        status = format->write(&out, what);
    const enum tide_status written = tide_out_end(&out);
    if (out.error)
        return fail_file(file, &out);
    if (!status)
        status = written;
    return status ? tide_fail("%s: %s", file->name, tide_failure_words(status)) : -1;
}

/* Export OPENED to FILE.  -1 or the exit status. */
static int write_file(const struct tide_export_file *file,
                      const struct export_options *options,
                      const struct tide_opened *opened)
{
    const struct format *const format = &FORMATS[options->format];
    struct tide_progress_bar bar;
    tide_progress_bar_init(&bar, STDERR_FILENO, "writing");
    const struct tide_export what = {
        .model = opened->model,
        .space = options->space < 0 ? TIDE_IN_HEAP : (enum tide_space)options->space,
        .metric = chosen_metric(options),
        .all = options->all,
        .pid = (uint32_t)options->pid,
        .progress = {.step = tide_progress_bar_step, .user = &bar},
    };
    const int result = format->traits & TIDE_EXPORT_FILE
                           ? write_tables(file, &what)
                           : write_stream(file, options, &what);
    tide_progress_bar_end(&bar);
    return result;
}

/* Would NAME overwrite the trace? */
static bool is_trace(const char *name, const struct tide_trace *trace)
{
    struct stat one, other;
    return name && stat(name, &one) == 0 && fstat(trace->fd, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static bool has_process(const struct tide_trace *trace, uint64_t pid)
{
    bool found = false;
    for (size_t i = 0; i < trace->process_count; i++)
        found |= trace->processes[i].pid == pid;
    return found;
}

/* -1 or the exit status. */
static int answer_to(const struct tide_export_file *file,
                     const struct export_options *options,
                     const struct tide_arguments *rest)
{
    const bool cali = strcmp(FORMAT_WORDS[options->format], "cali") == 0;
    const char *const text = cali ? CALI_QUERY : SPLIT_QUERY;
    const struct tide_query_request request = {
        .text = text,
        .length = strlen(text),
        .traces = rest->list,
        .trace_count = rest->count,
        .fd = file->fd,
        .show_users = cali,
    };
    struct tide_opened opened;
    if (rest->count > 1)
        return tide_fail_usage(&tide_cmd_export, "one trace at a time");
    int result = tide_open_trace_only(rest->count ? rest->list[0] : NULL, &opened);
    if (result >= 0)
        return result;
    if (is_trace(options->output, opened.trace))
        result = tide_fail("%s: this is the trace itself", file->name);
    tide_opened_close(&opened);
    if (result < 0)
        result = tide_run_query(&request);
    return result ? result : -1;
}

/* Load what REST names and export it to FILE.  -1 or the exit status. */
static int export_to(const struct tide_export_file *file,
                     const struct export_options *options,
                     const struct tide_arguments *rest)
{
    struct tide_opened opened;
    if (is_query(options))
        return answer_to(file, options, rest);
    const int done = tide_open_trace(&tide_cmd_export, rest, &opened);
    if (done >= 0)
        return done;
    tide_say_what_is_missing(&opened);
    const enum tide_status status = tide_model_symbolize(opened.model);
    int result;
    if (status)
        result = tide_fail("%s", tide_failure_words(status));
    else if (is_trace(options->output, opened.trace))
        result = tide_fail("%s: this is the trace itself", file->name);
    else if (options->pid && !has_process(opened.trace, options->pid))
        result = tide_fail("%s: no process in it has the pid %" PRIu64, opened.path,
                           options->pid);
    else
        result = write_file(file, options, &opened);
    tide_say_other_builds(&opened);
    tide_opened_close(&opened);
    return result;
}

static int run(int argc, char **argv)
{
    struct export_options options = {.format = -1, .space = -1};
    struct tide_arguments rest = {0};
    struct tide_export_file file;
    int done = parse(argc, argv, &options, &rest);
    if (done < 0)
        done = check(&options);
    if (done >= 0)
        return done;
    int error = tide_export_file_open(&file, options.output);
    if (error)
        return tide_fail("%s: %s", options.output, tide_export_file_words(error));
    done = export_to(&file, &options, &rest);
    if (done >= 0) {
        tide_export_file_discard(&file);
        return done;
    }
    error = tide_export_file_keep(&file);
    return error ? tide_fail("%s: %s", options.output, strerrordesc_np(error)) : 0;
}

const struct tide_command tide_cmd_export = {
    .name = "export",
    .summary = "convert a trace for other tools",
    .usage = "--to FORMAT [OPTION...] [TRACE]",
    .help =
        "Converts TRACE, or the newest trace in this folder, to the format of another\n"
        "tool; - is standard input.\n"
        "\n"
        "formats\n"
        "  pprof             profile.proto, compressed: pprof, Grafana, Parca, Perfetto\n"
        "  folded            a line per stack: flamegraph.pl, inferno\n"
        "  speedscope        JSON: speedscope\n"
        "  chrome, perfetto  JSON, the run over time: chrome://tracing, ui.perfetto.dev\n"
        "  callgrind         a graph of calls: KCachegrind, callgrind_annotate\n"
        "  sqlite            a database: sites, stacks, frames, blocks\n"
        "  csv, tsv, ndjson  a line per block\n"
        "  cali              Caliper's trace: cali-query, caliperreader\n"
        "  json-split        Caliper's profile by region: hatchet\n"
        "  igprof            a tree of calls with live blocks: igprof-analyse\n",
    .example = "export --to pprof -o prog.pb.gz prog.tide",
    .takes = TIDE_TAKES_TRACE,
    .options = TABLE,
    .more_options = tide_memory_options,
    .run = run,
};
