/* cli/report_options.c - what `tidemark report` was asked for. */
#include "cli/report_options.h"

#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open_moment.h"
#include "cli/sort_columns.h"
#include "model/filter.h"

static const char *const COLOR_WORDS[] = {"auto", "always", "never", NULL};
static const char *const SPACE_WORDS[] = {"heap", "mmap", NULL};
/* By enum tide_axis. */
static const char *const AXIS_WORDS[] = {"seconds", "bytes", "events", NULL};
/* The first of them by enum tide_metric. */
static const char *const COUNTER_WORDS[] = {"MEM_LIVE_PEAK", "MEM_LIVE", "MEM_TOTAL",
                                            "MEM_CHURN",     "MEM_MAX",  NULL};

/* What the words of the command line say, before it is put where it belongs. */
struct words {
    const char *callers, *sandwich;
    double live_at, between[2], age[2], life[2];
    uint64_t size[2];
    int counter; /* -1: none */
    int axis;    /* enum tide_axis; -1: none */
};

/* What was asked for so far: in places that do not change, so that the table, which is
 * large, need not stand on the stack. */
static struct tide_report_options asked;
static struct words words;

static const struct tide_option TABLE[] = {
    {.name = "peak",
     .flag = &asked.views[TIDE_METRIC_PEAK],
     .heading = "views",
     .help = "what was live when the heap stood highest"},
    {.name = "leaks",
     .flag = &asked.views[TIDE_METRIC_LEAKS],
     .help = "what was live at the end"},
    {.name = "total",
     .flag = &asked.views[TIDE_METRIC_TOTAL],
     .help = "everything that was allocated"},
    {.name = "churn",
     .flag = &asked.views[TIDE_METRIC_CHURN],
     .help = "temporary blocks: freed before their thread's next allocation"},
    {.name = "live-at",
     .seconds = &words.live_at,
     .axis = true,
     .value = "T",
     .help = "what was live T seconds after the start; see --time",
     .rare = true},
    {.name = "between",
     .seconds_pair = words.between,
     .axis = true,
     .value = "T1 T2",
     .help = "what was allocated after T1 and was live at T2; with another view:"
             " that view of the blocks that were allocated between T1 and T2",
     .rare = true},
    {.name = "time",
     .choice = &words.axis,
     .words = AXIS_WORDS,
     .value = "AXIS",
     .help = "count T, T1, T2 and the curve in seconds (default), in bytes "
             "(allocated so far) or in events, to compare two runs",
     .rare = true},
    {.name = "tree",
     .flag = &asked.shapes[TIDE_SHAPE_TREE],
     .heading = "shapes",
     .help = "by call path, callers first (default of peak and total)",
     .rare = true},
    {.name = "stacks",
     .flag = &asked.shapes[TIDE_SHAPE_STACKS],
     .help = "by stack, innermost function first (default of leaks and churn)",
     .rare = true},
    {.name = "flat", .flag = &asked.shapes[TIDE_SHAPE_FLAT], .help = "by function"},
    {.name = "bottom-up",
     .flag = &asked.shapes[TIDE_SHAPE_BOTTOM_UP],
     .help = "by call path, the allocating function first",
     .rare = true},
    {.name = "callers",
     .text = &words.callers,
     .value = "F",
     .help = "who calls function F to allocate"},
    {.name = "sandwich",
     .text = &words.sandwich,
     .value = "F",
     .help = "who calls function F, and what F calls",
     .rare = true},
    {.name = "gprof",
     .flag = &asked.shapes[TIDE_SHAPE_GPROF],
     .help = "by function with callers and callees, as igprof-analyse prints it",
     .rare = true},
    {.name = "counter",
     .choice = &words.counter,
     .words = COUNTER_WORDS,
     .value = "C",
     .help = "as --gprof, of MEM_LIVE_PEAK (--peak), MEM_LIVE (--leaks), "
             "MEM_TOTAL, MEM_CHURN or MEM_MAX (the largest single blocks)",
     .rare = true},
    {.name = "threads",
     .flag = &asked.shapes[TIDE_SHAPE_THREADS],
     .help = "by thread, and which thread freed the blocks of which",
     .rare = true},
    {.name = "processes",
     .flag = &asked.shapes[TIDE_SHAPE_PROCESSES],
     .help = "by process, with the peak of each",
     .rare = true},
    {.name = "regions",
     .flag = &asked.shapes[TIDE_SHAPE_REGIONS],
     .help = "by region of the program",
     .rare = true},
    {.name = "labels",
     .flag = &asked.shapes[TIDE_SHAPE_LABELS],
     .help = "by the labels of blocks",
     .rare = true},
    {.name = "modules",
     .flag = &asked.shapes[TIDE_SHAPE_MODULES],
     .help = "by program and library",
     .rare = true},
    {.name = "lines",
     .flag = &asked.shapes[TIDE_SHAPE_LINES],
     .help = "by source line",
     .rare = true},
    {.name = "sizes",
     .flag = &asked.shapes[TIDE_SHAPE_SIZES],
     .help = "all blocks of the heap by size",
     .rare = true},
    {.name = "lifetimes",
     .flag = &asked.shapes[TIDE_SHAPE_LIFETIMES],
     .help = "all blocks of the heap by how long they lived, in time and in "
             "allocations",
     .rare = true},
    {.name = "flow",
     .flag = &asked.shapes[TIDE_SHAPE_FLOW],
     .help = "blocks that another thread freed than the one that allocated them;"
             " a trace of run --free-stacks also has where both happened",
     .rare = true},
    {.name = "windows",
     .flag = &asked.shapes[TIDE_SHAPE_WINDOWS],
     .help = "counting windows: tide_start() to tide_stop()",
     .rare = true},
    {.name = "timemory",
     .flag = &asked.shapes[TIDE_SHAPE_TIMEMORY],
     .help = "calls by region and function, in timemory's columns",
     .rare = true},
    {.name = "pools",
     .flag = &asked.shapes[TIDE_SHAPE_POOLS],
     .help = "what the program's own pools gave out, and where it lies",
     .rare = true},
    {.name = "region",
     .text = &asked.filter.region,
     .heading = "filters (P: part of a name, or a pattern with * and ?; P|Q: either)",
     .value = "P",
     .help = "blocks allocated in a region that matches P (main/solve)",
     .rare = true},
    {.name = "label",
     .text = &asked.filter.label,
     .value = "P",
     .help = "blocks whose label matches P",
     .rare = true},
    {.name = "thread",
     .text = &asked.filter.thread,
     .value = "P",
     .help = "blocks allocated by a thread, by its name or number",
     .rare = true},
    {.name = "process",
     .text = &asked.filter.process,
     .value = "P",
     .help = "blocks allocated by a process, by its program or number",
     .rare = true},
    {.name = "rank",
     .text = &asked.filter.rank,
     .value = "N",
     .help = "blocks allocated by the processes of MPI rank N; 0|3: of either",
     .rare = true},
    {.name = "function",
     .text = &asked.filter.function,
     .value = "P",
     .help = "stacks that hold a function that matches P"},
    {.name = "module",
     .text = &asked.filter.module,
     .value = "P",
     .help = "stacks that hold a function of a program or library that matches P",
     .rare = true},
    {.name = "file",
     .text = &asked.filter.file,
     .value = "P",
     .help = "stacks that hold a function of a source file that matches P",
     .rare = true},
    {.name = "size",
     .bytes_range = words.size,
     .value = "RANGE",
     .help = "blocks of so many bytes: 1K..64K, 1M.. or ..100",
     .rare = true},
    {.name = "age",
     .seconds_range = words.age,
     .value = "RANGE",
     .help = "blocks so many seconds old at the end or at --live-at",
     .rare = true},
    {.name = "lifetime",
     .seconds_range = words.life,
     .value = "RANGE",
     .help = "blocks that lived so many seconds",
     .rare = true},
    {.name = "rows",
     .letter = 'n',
     .count = &asked.rows,
     .heading = "options",
     .value = "N",
     .help = "at most N rows; 0: all, and fold nothing"},
    {.name = "sort",
     .text = &asked.sort,
     .value = "COLUMN",
     .help = "sort the rows by bytes, calls, name or another column"},
    {.name = "verbose",
     .letter = 'v',
     .flag = &asked.verbose,
     .help = "show more than fits on a screen"},
    {.name = "space",
     .choice = &asked.space,
     .words = SPACE_WORDS,
     .value = "SPACE",
     .help = "which memory: heap (default) or mmap",
     .rare = true},
    {.name = "source",
     .flag = &asked.source,
     .help = "show the source lines around each row; with --stacks, --flat or "
             "--lines"},
    {.name = "source-root",
     .texts = &asked.source_roots,
     .value = "DIR",
     .help = "look for the files of --source below DIR too; may be given more "
             "than once. For root these are the only folders",
     .takes = TIDE_TAKES_FOLDER,
     .rare = true},
    {.name = "hide",
     .text = &asked.hide,
     .value = "P",
     .help = "leave out functions and modules that match P; what they allocate "
             "counts for their callers",
     .rare = true},
    {.name = "no-fold",
     .flag = &asked.no_fold,
     .help = "show the inner functions of the C++ and Rust libraries and functions "
             "that only hand on what they are asked for (xmalloc), which are folded "
             "into their callers by default",
     .rare = true},
    {.name = "suppressions",
     .text = &asked.suppressions,
     .value = "FILE",
     .help = "leaks that do not count, as LeakSanitizer has them: lines of the "
             "form leak:PATTERN",
     .takes = TIDE_TAKES_FILE,
     .rare = true},
    {.name = "no-suppressions",
     .flag = &asked.no_suppressions,
     .help = "also count what libraries keep on purpose",
     .rare = true},
    {.name = "debuginfod",
     .flag = &asked.fetch,
     .help = "ask the servers of DEBUGINFOD_URLS for names that are missing here",
     .rare = true},
    {.name = "json",
     .flag = &asked.json,
     .help = "write all rows of one view as JSON; see tidemark-report(1)"},
    {.name = "csv",
     .flag = &asked.csv,
     .help = "write only the rows, for spreadsheets",
     .rare = true},
    {.name = "bytes",
     .flag = &asked.bytes,
     .help = "write sizes in bytes",
     .rare = true},
    {.name = "si",
     .flag = &asked.si,
     .help = "write sizes in powers of 1000",
     .rare = true},
    {.name = "color",
     .choice = &asked.color,
     .words = COLOR_WORDS,
     .value = "WHEN",
     .help = "use colors: auto (default), always or never",
     .rare = true},
    {.name = NULL},
};

int tide_report_views(const struct tide_report_options *options)
{
    int count = 0;
    for (int i = 0; i < TIDE_METRICS; i++)
        count += options->views[i];
    return count;
}

static int count_shapes(const struct tide_report_options *options)
{
    int count = 0;
    for (int i = 0; i < TIDE_SHAPES; i++)
        count += options->shapes[i];
    return count;
}

bool tide_report_counts(const struct tide_report_options *options)
{
    return options->shapes[TIDE_SHAPE_SIZES] || options->shapes[TIDE_SHAPE_LIFETIMES] ||
           options->shapes[TIDE_SHAPE_FLOW];
}

bool tide_report_filters(const struct tide_report_options *options)
{
    const struct tide_select *const select = &options->load.select;
    return tide_filter_narrows(&options->filter) || options->hide ||
           select->least_bytes || select->end_bytes || select->least_age_s > 0 ||
           select->most_age_s > 0 || select->least_life_s > 0 ||
           select->most_life_s > 0;
}

/* Put words where they belong. */
static void settle(struct tide_report_options *options)
{
    struct tide_select *const select = &options->load.select;
    options->shapes[TIDE_SHAPE_CALLERS] = words.callers != NULL;
    options->shapes[TIDE_SHAPE_SANDWICH] = words.sandwich != NULL;
    options->focus = words.callers ? words.callers : words.sandwich;
    options->load.until_s = words.live_at;
    if (words.between[1] >= 0) {
        select->from_s = words.between[0];
        options->load.until_s = words.between[1];
    }
    select->least_bytes = words.size[0];
    select->end_bytes = words.size[1];
    select->least_age_s = words.age[0];
    select->most_age_s = words.age[1];
    select->least_life_s = words.life[0];
    select->most_life_s = words.life[1];
    options->load.details =
        options->shapes[TIDE_SHAPE_SIZES] || options->shapes[TIDE_SHAPE_LIFETIMES];
    options->load.evidence = true;
    if (words.axis > TIDE_AXIS_SECONDS) {
        options->along = (struct tide_along){
            .axis = (enum tide_axis)words.axis,
            .from = words.between[1] >= 0 ? words.between[0] : -1,
            .until = options->load.until_s,
        };
        select->from_s = 0;
        options->load.until_s = -1;
    }
    if (select->from_s > 0)
        select->from_s = tide_end_of_nanosecond(select->from_s);
    if (options->load.until_s >= 0)
        options->load.until_s = tide_end_of_nanosecond(options->load.until_s);
    options->timeline = words.axis >= 0;
    if (words.counter >= 0) {
        options->shapes[TIDE_SHAPE_GPROF] = true;
        options->largest = words.counter == TIDE_METRICS;
        options->views[options->largest ? (int)TIDE_METRIC_TOTAL : words.counter] =
            true;
    }
}

bool tide_report_moment(const struct tide_report_options *options)
{
    return options->load.until_s >= 0 ||
           (options->along.axis != TIDE_AXIS_SECONDS && options->along.until >= 0);
}

/* The largest block of a stack is found by stack alone. */
static const char *wrong_largest(const struct tide_report_options *options)
{
    const struct tide_filter *const filter = &options->filter;
    const struct tide_select *const select = &options->load.select;
    if (!options->largest)
        return NULL;
    if (filter->region || filter->label || filter->thread || filter->process ||
        filter->rank)
        return "MEM_MAX is of stacks, whatever their thread, process, region or label";
    if (tide_report_moment(options) || select->least_bytes || select->end_bytes ||
        select->least_age_s > 0 || select->most_age_s > 0 || select->least_life_s > 0 ||
        select->most_life_s > 0)
        return "MEM_MAX is of all blocks: no time, size, age or lifetime with it";
    return NULL;
}

/* What contradicts itself among the times; NULL: nothing. */
static const char *wrong_times(void)
{
    if (words.axis > TIDE_AXIS_SECONDS &&
        (words.age[0] > 0 || words.age[1] > 0 ||
         words.live_at != floor(words.live_at) ||
         words.between[0] != floor(words.between[0]) ||
         words.between[1] != floor(words.between[1])))
        return words.age[0] > 0 || words.age[1] > 0
                   ? "--age is in seconds: it does not go with --time"
                   : "bytes and events are whole numbers";
    if (words.between[1] < 0)
        return NULL;
    if (words.live_at >= 0)
        return "either --live-at or --between";
    return words.between[0] >= words.between[1] ? "--between ends before it begins"
                                                : NULL;
}

/* The same of what is not of a view. */
static const char *wrong_counts(const struct tide_report_options *options)
{
    const int views = tide_report_views(options);
    if (tide_report_counts(options) && (views > 0 || options->space != 0))
        return "--sizes, --lifetimes and --flow are of all blocks of the heap";
    if (options->shapes[TIDE_SHAPE_FLOW] && tide_report_filters(options))
        return "--flow is of all threads: it takes no filter";
    if (options->load.details &&
        (tide_filter_narrows(&options->filter) || options->hide))
        return "--sizes and --lifetimes cannot be filtered by names, only by --size, "
               "--age and --lifetime";
    return NULL;
}

/* The same of views and shapes. */
static const char *wrong_views(const struct tide_report_options *options)
{
    const int views = tide_report_views(options);
    if (count_shapes(options) > 1)
        return "one shape (like --tree or --flat) at a time";
    if (options->json && views > 1)
        return "--json holds one view at a time";
    if (options->csv && views > 1)
        return "--csv holds one view at a time";
    if (options->source && options->csv)
        return "--source is for text and --json";
    if (options->source && count_shapes(options) > 0 &&
        !options->shapes[TIDE_SHAPE_STACKS] && !options->shapes[TIDE_SHAPE_FLAT] &&
        !options->shapes[TIDE_SHAPE_LINES])
        return "--source goes with --stacks, --flat or --lines";
    if (options->source_roots.count > 0 && !options->source)
        return "--source-root goes with --source";
    return wrong_counts(options);
}

/* What the program told is of the whole run. */
static const char *wrong_told(const struct tide_report_options *options)
{
    const bool *const shapes = options->shapes;
    if (!shapes[TIDE_SHAPE_WINDOWS] && !shapes[TIDE_SHAPE_TIMEMORY] &&
        !shapes[TIDE_SHAPE_POOLS])
        return NULL;
    return tide_report_views(options) > 0 || tide_report_moment(options) ||
                   tide_report_filters(options)
               ? "--windows, --timemory and --pools are of the whole run"
               : NULL;
}

/* -1, or the exit status when the table of METRIC cannot be sorted as was asked for. */
static int check_sort(const struct tide_report_options *options,
                      enum tide_metric metric)
{
    const enum tide_shape shape = tide_report_shape(options, metric);
    enum tide_sort sort;
    if (!options->sort || tide_sort_find(shape, options->sort, &sort))
        return -1;
    if (!tide_sort_words(shape))
        return tide_fail_usage(&tide_cmd_report, "--sort: --%s has an order of its own",
                               tide_shape_name(shape));
    return tide_fail_usage(&tide_cmd_report, "--sort %s: the columns are %s",
                           options->sort, tide_sort_words(shape));
}

/* The same of all tables.  Without a view these are of all shapes that views have alone. */
static int check_sorts(const struct tide_report_options *options)
{
    const bool all = tide_report_views(options) == 0;
    int bad = -1;
    for (int metric = 0; metric < TIDE_METRICS && bad < 0; metric++)
        if (all || options->views[metric])
            bad = check_sort(options, (enum tide_metric)metric);
    return bad;
}

/* -1, or the exit status when the options contradict each other. */
static int check(const struct tide_report_options *options)
{
    const char *wrong = wrong_views(options);
    if (!wrong)
        wrong = wrong_told(options);
    if (!wrong)
        wrong = wrong_times();
    if (!wrong)
        wrong = wrong_largest(options);
    if (!wrong && words.counter >= 0 && tide_report_views(options) > 1)
        wrong = "--counter says which view it is";
    if (!wrong && options->filter.rank &&
        (!*options->filter.rank ||
         options->filter.rank[strspn(options->filter.rank, "0123456789|")]))
        wrong = "--rank: numbers, like 3 or 0|3";
    if (!wrong && options->bytes && options->si)
        wrong = "either --bytes or --si";
    if (!wrong && options->json && options->csv)
        wrong = "either --json or --csv";
    return wrong ? tide_fail_usage(&tide_cmd_report, "%s", wrong)
                 : check_sorts(options);
}

int tide_report_parse(int argc, char **argv, struct tide_report_options *options,
                      struct tide_arguments *rest)
{
    words =
        (struct words){.live_at = -1, .between = {-1, -1}, .counter = -1, .axis = -1};
    asked = (struct tide_report_options){.rows = TIDE_ROWS_UNSET, .space = -1};
    const int done = tide_options_parse(&tide_cmd_report, TABLE, argc, argv, rest);
    *options = asked;
    if (done >= 0)
        return done;
    options->any_space = options->space < 0;
    if (options->any_space)
        options->space = TIDE_IN_HEAP;
    settle(options);
    const int bad = check(options);
    if (bad >= 0)
        return bad;
    if (options->source && count_shapes(options) == 0)
        options->shapes[TIDE_SHAPE_STACKS] = true;
    const bool moment = tide_report_moment(options);
    if (tide_report_views(options) == 0 && !tide_report_counts(options)) {
        if (moment)
            options->views[TIDE_METRIC_LEAKS] = true;
        else if (count_shapes(options) > 0 || tide_report_filters(options))
            options->implied = options->views[TIDE_METRIC_PEAK] = true;
    }
    return -1;
}

int tide_report_at(struct tide_report_options *options, double at_s)
{
    options->load.until_s = at_s;
    if (options->implied ||
        (tide_report_views(options) == 0 && !tide_report_counts(options))) {
        options->views[TIDE_METRIC_PEAK] = false;
        options->views[TIDE_METRIC_LEAKS] = true;
    }
    const char *wrong = wrong_told(options);
    if (!wrong)
        wrong = wrong_largest(options);
    return wrong ? tide_fail_usage(&tide_cmd_report, "%s", wrong) : -1;
}

enum tide_shape tide_report_shape(const struct tide_report_options *options,
                                  enum tide_metric metric)
{
    for (int shape = 0; shape < TIDE_SHAPES; shape++) {
        if (options->shapes[shape])
            return (enum tide_shape)shape;
    }
    const bool by_stack = metric == TIDE_METRIC_LEAKS || metric == TIDE_METRIC_CHURN;
    return by_stack ? TIDE_SHAPE_STACKS : TIDE_SHAPE_TREE;
}

struct tide_rows_request tide_report_request(const struct tide_report_options *options,
                                             enum tide_metric metric,
                                             enum tide_shape shape)
{
    struct tide_rows_request request = {
        .metric = metric,
        .space = (enum tide_space)options->space,
        .filter = options->filter,
        .fold = !options->no_fold,
        .hide = options->hide,
        .focus = options->focus,
    };
    if (shape == TIDE_SHAPE_FLAT || shape == TIDE_SHAPE_GPROF)
        request.shapes = TIDE_BUILD_FLAT;
    else
        request.shapes =
            shape == TIDE_SHAPE_STACKS ? TIDE_BUILD_STACKS : TIDE_BUILD_TREE;
    /* IgProf's layout has IgProf's numbers. */
    if (options->suppressed && shape != TIDE_SHAPE_GPROF)
        request.suppressed = options->suppressed->sites;
    if (options->sort)
        (void)tide_sort_find(shape, options->sort, &request.sort);
    if (shape == TIDE_SHAPE_BOTTOM_UP)
        request.part = TIDE_TREE_UP;
    if (shape == TIDE_SHAPE_CALLERS || shape == TIDE_SHAPE_SANDWICH)
        request.part = TIDE_TREE_CALLERS;
    return request;
}
