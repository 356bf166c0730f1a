/* cli/report_options.c - what `tidemark report` was asked for. */
#include "cli/report_options.h"

#include <math.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open_moment.h"
#include "cli/report_table.h"
#include "cli/sort_columns.h"
#include "model/filter.h"

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

/* Put what was asked for where it belongs. */
static void settle(struct tide_report_options *options)
{
    struct tide_select *const select = &options->load.select;
    options->shapes[TIDE_SHAPE_CALLERS] = tide_report_asked.callers != NULL;
    options->shapes[TIDE_SHAPE_SANDWICH] = tide_report_asked.sandwich != NULL;
    options->focus = tide_report_asked.callers ? tide_report_asked.callers
                                               : tide_report_asked.sandwich;
    options->load.until_s = tide_report_asked.live_at;
    if (tide_report_asked.between[1] >= 0) {
        select->from_s = tide_report_asked.between[0];
        options->load.until_s = tide_report_asked.between[1];
    }
    select->least_bytes = tide_report_asked.size[0];
    select->end_bytes = tide_report_asked.size[1];
    select->least_age_s = tide_report_asked.age[0];
    select->most_age_s = tide_report_asked.age[1];
    select->least_life_s = tide_report_asked.life[0];
    select->most_life_s = tide_report_asked.life[1];
    options->load.details =
        options->shapes[TIDE_SHAPE_SIZES] || options->shapes[TIDE_SHAPE_LIFETIMES];
    options->load.evidence = true;
    if (tide_report_asked.axis > TIDE_AXIS_SECONDS) {
        options->along = (struct tide_along){
            .axis = (enum tide_axis)tide_report_asked.axis,
            .from =
                tide_report_asked.between[1] >= 0 ? tide_report_asked.between[0] : -1,
            .until = options->load.until_s,
        };
        select->from_s = 0;
        options->load.until_s = -1;
    }
    if (select->from_s > 0)
        select->from_s = tide_end_of_nanosecond(select->from_s);
    if (options->load.until_s >= 0)
        options->load.until_s = tide_end_of_nanosecond(options->load.until_s);
    options->timeline = tide_report_asked.axis >= 0;
    if (tide_report_asked.counter >= 0) {
        options->shapes[TIDE_SHAPE_GPROF] = true;
        options->largest = tide_report_asked.counter == TIDE_METRICS;
        options->views[options->largest ? (int)TIDE_METRIC_TOTAL
                                        : tide_report_asked.counter] = true;
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
    if (tide_report_asked.axis > TIDE_AXIS_SECONDS &&
        (tide_report_asked.age[0] > 0 || tide_report_asked.age[1] > 0 ||
         tide_report_asked.live_at != floor(tide_report_asked.live_at) ||
         tide_report_asked.between[0] != floor(tide_report_asked.between[0]) ||
         tide_report_asked.between[1] != floor(tide_report_asked.between[1])))
        return tide_report_asked.age[0] > 0 || tide_report_asked.age[1] > 0
                   ? "--age is in seconds: it does not go with --time"
                   : "bytes and events are whole numbers";
    if (tide_report_asked.between[1] < 0)
        return NULL;
    if (tide_report_asked.live_at >= 0)
        return "either --live-at or --between";
    return tide_report_asked.between[0] >= tide_report_asked.between[1]
               ? "--between ends before it begins"
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
        !shapes[TIDE_SHAPE_POOLS] && !shapes[TIDE_SHAPE_RANKS])
        return NULL;
    if (shapes[TIDE_SHAPE_RANKS] && options->space != TIDE_IN_HEAP)
        return "--ranks is of the heap";
    return tide_report_views(options) > 0 || tide_report_moment(options) ||
                   tide_report_filters(options)
               ? "--windows, --timemory, --pools and --ranks are of the whole run"
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
    if (!wrong && tide_report_asked.counter >= 0 && tide_report_views(options) > 1)
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
    tide_report_asked = (struct tide_report_asked){
        .options = {.rows = TIDE_ROWS_UNSET, .space = -1},
        .live_at = -1,
        .between = {-1, -1},
        .counter = -1,
        .axis = -1,
    };
    const int done = tide_options_parse(&tide_cmd_report, argc, argv, rest);
    *options = tide_report_asked.options;
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
