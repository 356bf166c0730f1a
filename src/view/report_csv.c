/* view/report_csv.c - `tidemark report --csv`: one view as a table for spreadsheets. */
#include "model/detail.h"
#include "model/path.h"
#include "view/branches.h"
#include "view/csv.h"
#include "view/rank_text.h"
#include "view/report_json.h"
#include "view/report_text.h"
#include "view/told_csv.h"

enum {
    TIDE_THREAD_PAIR_COLUMNS = 6, /* of --flow */
    TIDE_SITE_PAIR_COLUMNS = 9,
};

static void add_values(struct tide_csv *csv, uint64_t bytes, uint64_t calls,
                       uint64_t total)
{
    tide_csv_uint(csv, bytes);
    tide_csv_uint(csv, calls);
    tide_csv_share(csv, bytes, total);
}

static void add_function(struct tide_csv *csv, const struct tide_function *function)
{
    tide_csv_text(csv, function ? function->name : "");
    tide_csv_text(csv, function ? function->module : "");
}

/* --- Shapes -------------------------------------------------------------------------- */

static void add_flat(struct tide_csv *csv, const struct tide_report_json *report)
{
    const struct tide_rows *const rows = report->rows;
    const char *const names[] = {"bytes",
                                 tide_metric_counts(rows->metric),
                                 "share",
                                 "inclusive_bytes",
                                 "inclusive_calls",
                                 "function",
                                 "module",
                                 "file",
                                 "line",
                                 NULL};
    tide_csv_head(csv, names);
    for (size_t i = 0; i < rows->flat_count; i++) {
        const struct tide_flat_row *const row = &rows->flat[i];
        const struct tide_function *const function = &rows->functions[row->function];
        if (report->limit > 0 && i == report->limit)
            break;
        add_values(csv, row->self_bytes, row->self_calls, rows->total_bytes);
        tide_csv_uint(csv, row->inclusive_bytes);
        tide_csv_uint(csv, row->inclusive_calls);
        add_function(csv, function);
        tide_csv_text(csv, row->file);
        tide_csv_known(csv, row->file ? row->line : 0);
        tide_csv_end(csv);
    }
}

/* The functions of the path at hand, innermost first, as one value. */
static void add_path(struct tide_csv *csv, const struct tide_paths *paths)
{
    struct tide_text joined = {0};
    for (size_t i = 0; i < paths->call_count; i++) {
        if (i > 0)
            tide_text_add(&joined, ";");
        tide_text_add(&joined, paths->functions[paths->calls[i].function].name);
    }
    tide_csv_text(csv, joined.bytes);
    csv->out->failed = csv->out->failed || joined.failed;
    tide_text_release(&joined);
}

static void add_stack_row(struct tide_csv *csv, const struct tide_report_json *report,
                          struct tide_paths *paths, size_t index)
{
    const struct tide_stack_row *const row = &report->rows->stacks[index];
    if (tide_paths_walk(paths, report->model->sites[row->site].stack)) {
        csv->out->failed = true;
        return;
    }
    const struct tide_call *const call = &paths->calls[0];
    add_values(csv, row->bytes, row->calls, report->rows->total_bytes);
    add_function(csv, &paths->functions[call->function]);
    tide_csv_text(csv, call->file);
    tide_csv_known(csv, call->file ? call->line : 0);
    add_path(csv, paths);
    tide_csv_end(csv);
}

static void add_stacks(struct tide_csv *csv, const struct tide_report_json *report)
{
    const char *const names[] = {"bytes",  tide_metric_counts(report->rows->metric),
                                 "share",  "function",
                                 "module", "file",
                                 "line",   "stack",
                                 NULL};
    struct tide_paths paths;
    if (tide_paths_init(&paths, report->model)) {
        csv->out->failed = true;
        return;
    }
    paths.fold = report->rows->fold;
    paths.hide = report->rows->hide;
    tide_csv_head(csv, names);
    for (size_t i = 0; i < report->rows->stack_count; i++) {
        if (report->limit > 0 && i == report->limit)
            break;
        add_stack_row(csv, report, &paths, i);
        tide_report_row_done(report, csv->out);
    }
    tide_paths_release(&paths);
}

/* PART tells the two trees of a sandwich apart. */
static void add_tree(struct tide_csv *csv, const struct tide_rows *rows, size_t limit,
                     const char *part)
{
    const struct tide_branch_options options = {.lines = limit};
    struct tide_branches branches;
    if (tide_branches_build(rows, options, &branches)) {
        csv->out->failed = true;
        return;
    }
    for (size_t i = 0; i < branches.count; i++) {
        const struct tide_branch *const branch = &branches.list[i];
        const struct tide_tree_row *const row = &rows->tree[branch->first];
        if (branch->kind != TIDE_BRANCH_CALLS)
            continue; /* in the row's own values */
        const bool known = row->function < rows->function_count;
        tide_csv_text(csv, part);
        tide_csv_uint(csv, branch->depth);
        add_values(csv, row->bytes, row->calls, rows->total_bytes);
        tide_csv_uint(csv, row->self_bytes);
        tide_csv_uint(csv, row->self_calls);
        add_function(csv, known ? &rows->functions[row->function] : NULL);
        tide_csv_text(csv, row->file);
        tide_csv_known(csv, row->file ? row->line : 0);
        tide_csv_end(csv);
    }
    tide_branches_release(&branches);
}

static void add_trees(struct tide_csv *csv, const struct tide_report_json *report)
{
    const char *const names[] = {
        "part",   "depth",      "bytes",      tide_metric_counts(report->rows->metric),
        "share",  "self_bytes", "self_calls", "function",
        "module", "file",       "line",       NULL};
    tide_csv_head(csv, names);
    add_tree(csv, report->rows, report->limit, report->callees ? "callers" : "tree");
    if (report->callees)
        add_tree(csv, report->callees, report->limit, "callees");
}

static void add_groups(struct tide_csv *csv, const struct tide_report_json *report)
{
    const struct tide_groups *const groups = report->groups;
    static const char *const NAMES[TIDE_GROUPINGS][2] = {
        [TIDE_BY_THREAD] = {"thread", "tid"}, [TIDE_BY_PROCESS] = {"process", "pid"},
        [TIDE_BY_REGION] = {"region", NULL},  [TIDE_BY_LABEL] = {"label", NULL},
        [TIDE_BY_MODULE] = {"module", NULL},  [TIDE_BY_LINE] = {"file", "line"},
    };
    const char *const names[] = {"bytes",
                                 tide_metric_counts(groups->metric),
                                 "share",
                                 "inclusive_bytes",
                                 "inclusive_calls",
                                 NAMES[groups->by][0],
                                 NAMES[groups->by][1],
                                 groups->by == TIDE_BY_PROCESS ? "rank" : NULL,
                                 NULL};
    tide_csv_head(csv, names);
    for (size_t i = 0; i < groups->count; i++) {
        const struct tide_group_row *const row = &groups->list[i];
        if (report->limit > 0 && i == report->limit)
            break;
        add_values(csv, row->bytes, row->calls, groups->total_bytes);
        tide_csv_uint(csv, row->inclusive_bytes);
        tide_csv_uint(csv, row->inclusive_calls);
        tide_csv_text(csv, row->name);
        if (NAMES[groups->by][1])
            tide_csv_known(csv, row->number);
        if (groups->by == TIDE_BY_PROCESS && row->ranked)
            tide_csv_uint(csv, row->rank);
        else if (groups->by == TIDE_BY_PROCESS)
            tide_csv_text(csv, NULL);
        tide_csv_end(csv);
    }
}

/* As igprof-analyse ranks them, without callers and callees. */
static void add_profile(struct tide_csv *csv, const struct tide_report_json *report)
{
    const struct tide_profile *const profile = report->profile;
    const char *const names[] = {"rank",
                                 "bytes",
                                 tide_metric_counts(report->rows->metric),
                                 "share",
                                 "inclusive_bytes",
                                 "inclusive_calls",
                                 "level",
                                 "function",
                                 "module",
                                 "file",
                                 "line",
                                 NULL};
    tide_csv_head(csv, names);
    for (size_t i = 0; i < profile->node_count; i++) {
        const uint32_t index = profile->order[i];
        const struct tide_profile_node *const node = &profile->nodes[index];
        const struct tide_function *const function =
            index == TIDE_PROFILE_ROOT ? NULL
                                       : &report->rows->functions[node->function];
        if (report->limit > 0 && i == report->limit)
            break;
        tide_csv_uint(csv, node->rank);
        add_values(csv, node->self_bytes, node->self_calls,
                   profile->nodes[TIDE_PROFILE_ROOT].bytes);
        tide_csv_uint(csv, node->bytes);
        tide_csv_uint(csv, node->calls);
        tide_csv_uint(csv, node->level);
        add_function(csv, function);
        tide_csv_text(csv, function ? function->file : NULL);
        tide_csv_known(csv, function && function->file ? function->line : 0);
        tide_csv_end(csv);
    }
}

/* --- Histograms ---------------------------------------------------------------------- */

static void add_sizes(struct tide_csv *csv, const struct tide_histograms *all)
{
    static const char *const NAMES[] = {
        "least_bytes",  "requested_calls", "requested_bytes", "usable_calls",
        "usable_bytes", "freed_calls",     "freed_bytes",     NULL};
    tide_csv_head(csv, NAMES);
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!all->requested.calls[i] && !all->usable.calls[i] && !all->freed.calls[i])
            continue;
        tide_csv_uint(csv, tide_histogram_least(i));
        tide_csv_uint(csv, all->requested.calls[i]);
        tide_csv_uint(csv, all->requested.bytes[i]);
        tide_csv_uint(csv, all->usable.calls[i]);
        tide_csv_uint(csv, all->usable.bytes[i]);
        tide_csv_uint(csv, all->freed.calls[i]);
        tide_csv_uint(csv, all->freed.bytes[i]);
        tide_csv_end(csv);
    }
}

static void add_lives(struct tide_csv *csv, const char *unit,
                      const struct tide_histogram *histogram)
{
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!histogram->calls[i])
            continue;
        tide_csv_text(csv, unit);
        tide_csv_uint(csv, tide_histogram_least(i));
        tide_csv_uint(csv, histogram->calls[i]);
        tide_csv_uint(csv, histogram->bytes[i]);
        tide_csv_end(csv);
    }
}

static void add_lifetimes(struct tide_csv *csv, const struct tide_histograms *all)
{
    static const char *const NAMES[] = {"unit", "least", "calls", "bytes", NULL};
    tide_csv_head(csv, NAMES);
    add_lives(csv, "nanoseconds", &all->life_ns);
    add_lives(csv, "allocations", &all->life_allocs);
    add_lives(csv, "allocated_bytes", &all->life_bytes);
}

static void add_thread(struct tide_csv *csv, const struct tide_model *model,
                       uint32_t number)
{
    const struct tide_key_thread *const thread = &model->key_threads[number];
    const bool known = thread->process < model->trace->process_count;
    tide_csv_text(csv, thread->name);
    tide_csv_known(csv, thread->tid);
    tide_csv_known(csv, known ? model->trace->processes[thread->process].pid : 0);
}

static void add_nothing(struct tide_csv *csv, int columns)
{
    for (; columns > 0; columns--)
        tide_csv_next(csv);
}

/* A stack: its innermost call, and all of it. */
static void add_site(struct tide_csv *csv, struct tide_paths *paths, uint32_t stack)
{
    if (tide_paths_walk(paths, stack)) {
        csv->out->failed = true;
        return;
    }
    const struct tide_call *const call = &paths->calls[0];
    tide_csv_text(csv, paths->functions[call->function].name);
    tide_csv_text(csv, call->file);
    tide_csv_known(csv, call->file ? call->line : 0);
    add_path(csv, paths);
}

/* Pairs of sites, in the columns after those of pairs of threads. */
static void add_passages(struct tide_csv *csv, const struct tide_report_json *report)
{
    const struct tide_passages *const passages = report->passages;
    struct tide_paths paths;
    if (!passages)
        return;
    if (tide_paths_init(&paths, report->model)) {
        csv->out->failed = true;
        return;
    }
    paths.fold = report->fold;
    for (size_t i = 0; i < passages->count; i++) {
        const struct tide_passage *const passage = &passages->list[i];
        if (report->limit > 0 && i == report->limit)
            break;
        tide_csv_uint(csv, passage->bytes);
        tide_csv_uint(csv, passage->blocks);
        add_nothing(csv, TIDE_THREAD_PAIR_COLUMNS);
        tide_csv_next(csv);
        tide_text_addf(csv->out, "%.9f", tide_passage_mean_s(passage));
        add_site(csv, &paths, passage->made);
        add_site(csv, &paths, passage->freed);
        tide_csv_end(csv);
        tide_report_row_done(report, csv->out);
    }
    tide_paths_release(&paths);
}

static void add_flows(struct tide_csv *csv, const struct tide_report_json *report)
{
    static const char *const NAMES[] = {
        "bytes",         "blocks",         "maker_thread",
        "maker_tid",     "maker_pid",      "freeing_thread",
        "freeing_tid",   "freeing_pid",    "mean_life_s",
        "made_function", "made_file",      "made_line",
        "made_stack",    "freed_function", "freed_file",
        "freed_line",    "freed_stack",    NULL};
    const struct tide_model *const model = report->model;
    tide_csv_head(csv, NAMES);
    for (size_t i = 0; i < model->flow_count; i++) {
        if (report->limit > 0 && i == report->limit)
            break;
        tide_csv_uint(csv, model->flows[i].bytes);
        tide_csv_uint(csv, model->flows[i].calls);
        add_thread(csv, model, model->flows[i].from);
        add_thread(csv, model, model->flows[i].to);
        add_nothing(csv, TIDE_SITE_PAIR_COLUMNS);
        tide_csv_end(csv);
    }
    add_passages(csv, report);
}

void tide_view_report_csv(struct tide_text *out, const struct tide_report_json *report)
{
    struct tide_csv csv = {.out = out};
    if (report->shape == TIDE_SHAPE_SIZES)
        add_sizes(&csv, report->model->histograms);
    else if (report->shape == TIDE_SHAPE_LIFETIMES)
        add_lifetimes(&csv, report->model->histograms);
    else if (report->shape == TIDE_SHAPE_FLOW)
        add_flows(&csv, report);
    else if (report->shape == TIDE_SHAPE_WINDOWS)
        tide_csv_windows(&csv, report->model, report->limit);
    else if (report->shape == TIDE_SHAPE_TIMEMORY)
        tide_csv_timemory(&csv, report->told);
    else if (report->shape == TIDE_SHAPE_POOLS)
        tide_csv_pools(&csv, report->model, report->told);
    else if (report->shape == TIDE_SHAPE_RANKS)
        tide_csv_ranks(&csv, report->ranks, report->limit);
    else if (report->groups)
        add_groups(&csv, report);
    else if (report->profile)
        add_profile(&csv, report);
    else if (report->shape == TIDE_SHAPE_FLAT)
        add_flat(&csv, report);
    else if (report->shape == TIDE_SHAPE_STACKS)
        add_stacks(&csv, report);
    else
        add_trees(&csv, report);
}
