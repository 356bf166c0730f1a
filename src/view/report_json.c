/* view/report_json.c - `tidemark report --json`: a contract with scripts and pages. */
#include "view/report_json.h"

#include "model/axis.h"
#include "model/path.h"
#include "view/gprof.h"
#include "view/passage_text.h"
#include "view/process_text.h"
#include "view/rank_text.h"
#include "view/report_json_tree.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/source.h"
#include "view/told_text.h"

const char *tide_shape_name(enum tide_shape shape)
{
    static const char *const NAMES[] = {
        [TIDE_SHAPE_TREE] = "tree",       [TIDE_SHAPE_FLAT] = "flat",
        [TIDE_SHAPE_STACKS] = "stacks",   [TIDE_SHAPE_BOTTOM_UP] = "bottom_up",
        [TIDE_SHAPE_CALLERS] = "callers", [TIDE_SHAPE_SANDWICH] = "sandwich",
        [TIDE_SHAPE_THREADS] = "threads", [TIDE_SHAPE_PROCESSES] = "processes",
        [TIDE_SHAPE_REGIONS] = "regions", [TIDE_SHAPE_LABELS] = "labels",
        [TIDE_SHAPE_MODULES] = "modules", [TIDE_SHAPE_LINES] = "lines",
        [TIDE_SHAPE_SIZES] = "sizes",     [TIDE_SHAPE_LIFETIMES] = "lifetimes",
        [TIDE_SHAPE_WINDOWS] = "windows", [TIDE_SHAPE_TIMEMORY] = "timemory",
        [TIDE_SHAPE_POOLS] = "pools",     [TIDE_SHAPE_GPROF] = "gprof",
        [TIDE_SHAPE_RANKS] = "ranks",     [TIDE_SHAPE_FLOW] = "flow",
    };
    return NAMES[shape];
}

/* --- Pieces ------------------------------------------------------------------------ */

void tide_json_place(struct tide_json *json, const char *file, uint32_t line)
{
    tide_json_string(json, "file", file);
    if (file && line > 0)
        tide_json_uint(json, "line", line);
    else
        tide_json_null(json, "line");
}

void tide_json_function(struct tide_json *json, const struct tide_function *function)
{
    tide_json_string(json, "function", function ? function->name : NULL);
    tide_json_string(json, "module", function ? function->module : NULL);
}

/* What the parts of the document share. */
struct writer {
    struct tide_json json;
    const struct tide_report_json *report;
    struct tide_paths paths; /* of the stack that was walked last */
    struct tide_json_trees trees;
};

static void walk(struct writer *writer, uint32_t node)
{
    if (tide_paths_walk(&writer->paths, node))
        writer->json.out->failed = true;
}

/* One call of the path: where it is. */
static void add_call(struct writer *writer, size_t i)
{
    const struct tide_call *const call = &writer->paths.calls[i];
    tide_json_function(&writer->json, &writer->paths.functions[call->function]);
    tide_json_place(&writer->json, call->file, call->line);
}

/* The path, innermost first. */
static void add_stack(struct writer *writer)
{
    tide_json_open(&writer->json, "stack", '[');
    for (size_t i = 0; i < writer->paths.call_count; i++) {
        tide_json_open_row(&writer->json, NULL);
        add_call(writer, i);
        tide_json_close(&writer->json);
    }
    tide_json_close(&writer->json);
}

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

void tide_json_values(struct tide_json *json, const struct tide_rows *rows,
                      uint64_t bytes, uint64_t calls)
{
    tide_json_uint(json, "bytes", bytes);
    tide_json_uint(json, tide_metric_counts(rows->metric), calls);
    tide_json_number(json, "share", share_of(bytes, rows->total_bytes));
}

/* --- Rows -------------------------------------------------------------------------- */

static void add_flat_rows(struct tide_json *json, const struct tide_report_json *report)
{
    const struct tide_rows *const rows = report->rows;
    for (size_t i = 0; i < rows->flat_count; i++) {
        const struct tide_flat_row *const row = &rows->flat[i];
        const struct tide_function *const function = &rows->functions[row->function];
        if (report->limit > 0 && i == report->limit)
            break;
        tide_json_open_row(json, NULL);
        tide_json_values(json, rows, row->self_bytes, row->self_calls);
        tide_json_uint(json, "inclusive_bytes", row->inclusive_bytes);
        tide_json_uint(json, "inclusive_calls", row->inclusive_calls);
        tide_json_number(json, "inclusive_share",
                         share_of(row->inclusive_bytes, rows->total_bytes));
        tide_json_function(json, function);
        tide_json_place(json, row->file, row->line);
        tide_json_source(json, report->sources, row->file, row->line);
        tide_json_close(json);
        tide_report_row_done(report, json->out);
    }
}

/* All that a stack did in the run, whatever the view. */
static void add_site(struct tide_json *json, const struct tide_model *model,
                     const struct tide_site *site)
{
    tide_json_open_row(json, "site");
    tide_json_uint(json, "alloc_calls", site->calls);
    tide_json_uint(json, "allocated_bytes", site->bytes);
    tide_json_uint(json, "freed_calls", site->freed_calls);
    tide_json_uint(json, "most_bytes", site->most_bytes);
    tide_json_number(json, "most_time_s",
                     tide_trace_seconds(model->trace, site->most_ticks));
    tide_json_number(json, "first_s",
                     tide_trace_seconds(model->trace, site->first_ticks));
    tide_json_number(json, "last_s",
                     tide_trace_seconds(model->trace, site->last_ticks));
    tide_json_uint(json, "slack_bytes", site->slack_bytes);
    tide_json_uint(json, "realloc_calls", site->more.moved_calls);
    tide_json_uint(json, "realloc_growth_bytes", site->more.grown_bytes);
    tide_json_uint(json, "foreign_free_calls", site->more.foreign_calls);
    tide_json_uint(json, "foreign_free_bytes", site->more.foreign_bytes);
    tide_json_close(json);
}

static void add_stack_rows(struct writer *writer)
{
    const struct tide_report_json *const report = writer->report;
    const struct tide_rows *const rows = report->rows;
    for (size_t i = 0; i < rows->stack_count; i++) {
        const struct tide_stack_row *const row = &rows->stacks[i];
        if (report->limit > 0 && i == report->limit)
            break;
        walk(writer, report->model->sites[row->site].stack);
        tide_json_open_row(&writer->json, NULL);
        tide_json_values(&writer->json, rows, row->bytes, row->calls);
        if (writer->paths.call_count > 0) {
            add_call(writer, 0);
            tide_json_source(&writer->json, report->sources,
                             writer->paths.calls[0].file, writer->paths.calls[0].line);
        }
        add_stack(writer);
        add_site(&writer->json, report->model, &report->model->sites[row->site]);
        if (rows->metric == TIDE_METRIC_LEAKS)
            tide_json_leak(&writer->json, report->model, row->site);
        tide_json_close(&writer->json);
        tide_report_row_done(report, writer->json.out);
    }
}

static void add_callees(struct writer *writer)
{
    if (!writer->report->callees)
        return;
    tide_json_open(&writer->json, "callees", '[');
    tide_json_tree(&writer->json, &writer->trees, writer->report,
                   writer->report->callees);
    tide_json_close(&writer->json);
}

/* What the program told, beside the rows. */
static void add_told(struct tide_json *json, const struct tide_report_json *report)
{
    if (report->shape == TIDE_SHAPE_WINDOWS)
        tide_json_windows(json, report->model);
    if (!report->told)
        return;
    if (report->shape == TIDE_SHAPE_REGIONS)
        tide_json_visits(json, report->told);
    if (report->shape == TIDE_SHAPE_LABELS)
        tide_json_label_sizes(json, report->told);
    if (report->shape == TIDE_SHAPE_TIMEMORY)
        tide_json_timemory(json, report->told);
    if (report->shape == TIDE_SHAPE_POOLS)
        tide_json_pools(json, report->model, report->told);
}

static void add_rows(struct writer *writer)
{
    const struct tide_report_json *const report = writer->report;
    struct tide_json *const json = &writer->json;
    tide_json_open(json, "rows", '[');
    if (report->shape == TIDE_SHAPE_FLAT)
        add_flat_rows(json, report);
    else if (report->shape == TIDE_SHAPE_STACKS)
        add_stack_rows(writer);
    else if (report->shape == TIDE_SHAPE_SIZES)
        tide_json_sizes(json, report->model->histograms);
    else if (report->shape == TIDE_SHAPE_LIFETIMES)
        tide_json_lifetimes(json, report->model->histograms);
    else if (report->shape == TIDE_SHAPE_FLOW)
        tide_json_flows(json, report->model, report->limit);
    else if (report->groups)
        tide_json_groups(json, report);
    else if (report->profile)
        tide_json_profile(json, report->profile, report->limit);
    else if (!tide_shape_told(report->shape))
        tide_json_tree(json, &writer->trees, report, report->rows);
    tide_json_close(json);
    add_callees(writer);
    tide_json_deeper(json, &writer->trees, report);
    if (report->shape == TIDE_SHAPE_FLOW)
        tide_json_passages(json, report);
    if (report->shape == TIDE_SHAPE_THREADS && report->groups)
        tide_json_thread_flows(json, report);
    if (report->process_peaks && report->process_peaks->count)
        tide_json_process_peaks(json, report->model, report->process_peaks,
                                report->limit);
    if (report->shape == TIDE_SHAPE_RANKS)
        tide_json_ranks(json, report->ranks, report->limit);
    add_told(json, report);
}

/* --- The rest ---------------------------------------------------------------------- */

void tide_json_summary(struct tide_json *json, const struct tide_summary *summary)
{
    tide_json_uint(json, "alloc_calls", summary->alloc_calls);
    tide_json_uint(json, "free_calls", summary->free_calls);
    tide_json_uint(json, "realloc_calls", summary->realloc_calls);
    tide_json_uint(json, "failed_calls", summary->failed_calls);
    tide_json_uint(json, "allocated_bytes", summary->allocated_bytes);
    tide_json_uint(json, "peak_bytes", summary->peak_bytes);
    tide_json_uint(json, "peak_blocks", summary->peak_blocks);
    tide_json_uint(json, "peak_with_realloc_bytes", summary->peak_with_realloc_bytes);
    tide_json_uint(json, "peak_usable_bytes", summary->peak_usable_bytes);
    tide_json_number(json, "peak_time_s", summary->peak_time_s);
    tide_json_uint(json, "peak_uncertainty_bytes", summary->peak_uncertainty_bytes);
    tide_json_uint(json, "live_bytes", summary->live_bytes);
    tide_json_uint(json, "live_blocks", summary->live_blocks);
    tide_json_uint(json, "temporary_calls", summary->temporary_calls);
    tide_json_uint(json, "temporary_bytes", summary->temporary_bytes);
}

void tide_json_left(struct tide_json *json, const struct tide_summary *summary,
                    const struct tide_suppressions *hidden)
{
    tide_json_uint(json, "left_bytes",
                   summary->live_bytes - (hidden ? hidden->bytes : 0));
    tide_json_uint(json, "left_blocks",
                   summary->live_blocks - (hidden ? hidden->blocks : 0));
}

static void add_summary(struct tide_json *json, const struct tide_report_json *report)
{
    const struct tide_model *const model = report->model;
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    const struct tide_suppressions *const hidden = report->suppressions;
    tide_json_open(json, "summary", '{');
    tide_json_summary(json, heap);
    tide_json_left(json, heap, hidden);
    if (model->rss_peak_bytes)
        tide_json_uint(json, "rss_peak_bytes", model->rss_peak_bytes);
    else
        tide_json_null(json, "rss_peak_bytes"); /* it ended before anybody looked */
    tide_json_bool(json, "rss_peak_exact", model->rss_peak_exact);
    tide_json_uint(json, "threads", model->threads);
    tide_json_uint(json, "processes", model->processes);
    tide_json_close(json);
}

static void add_spaces(struct tide_json *json, const struct tide_model *model)
{
    tide_json_open(json, "spaces", '[');
    for (int space = 0; space < TIDE_SPACES; space++) {
        const struct tide_summary *const summary = &model->summary[space];
        tide_json_open(json, NULL, '{');
        tide_json_string(json, "space", tide_space_name((enum tide_space)space));
        tide_json_summary(json, summary);
        if (space == TIDE_IN_MMAP) {
            tide_json_uint(json, "reserved_peak_bytes", summary->reserved_peak_bytes);
            tide_json_uint(json, "file_peak_bytes", summary->file_peak_bytes);
            tide_json_uint(json, "shared_peak_bytes", summary->shared_peak_bytes);
        }
        tide_json_close(json);
    }
    tide_json_close(json);
}

static void add_finding(struct writer *writer, const struct tide_finding *finding)
{
    struct tide_json *const json = &writer->json;
    const bool fold = writer->paths.fold;
    const char *const hide = writer->paths.hide;
    tide_json_open_row(json, NULL);
    tide_json_string(json, "kind", finding->kind);
    tide_json_string(json, "space", tide_space_name((enum tide_space)finding->space));
    tide_json_string(json, "text", finding->text);
    tide_json_uint(json, "bytes", finding->bytes);
    tide_json_uint(json, "calls", finding->calls);
    tide_json_uint(json, "gain_bytes", finding->gain_bytes);
    tide_json_uint(json, "gain_calls", finding->gain_calls);
    tide_json_number(json, "gain_s", finding->gain_s);
    tide_json_number(json, "share", finding->share);
    tide_json_number(json, "first_s", finding->first_s);
    tide_json_number(json, "last_s", finding->last_s);
    tide_json_uint(json, "stacks", finding->stacks);
    /* Whom it names is counted in the whole path. */
    writer->paths.fold = false;
    writer->paths.hide = NULL;
    walk(writer, finding->stack);
    if (finding->call < writer->paths.call_count)
        add_call(writer, finding->call);
    writer->paths.fold = fold;
    writer->paths.hide = hide;
    walk(writer, finding->stack);
    add_stack(writer);
    tide_json_close(json);
}

static void add_findings(struct writer *writer)
{
    const struct tide_findings *const findings = writer->report->findings;
    tide_json_open(&writer->json, "findings", '[');
    for (size_t i = 0; findings && i < findings->count; i++)
        add_finding(writer, &findings->list[i]);
    tide_json_close(&writer->json);
}

static void add_cautions(struct tide_json *json, const struct tide_cautions *cautions)
{
    tide_json_open(json, "cautions", '[');
    for (size_t i = 0; cautions && i < cautions->count; i++) {
        const struct tide_caution *const caution = &cautions->list[i];
        tide_json_open_row(json, NULL);
        tide_json_string(json, "kind", caution->kind);
        tide_json_string(json, "text", caution->text);
        if (caution->pid)
            tide_json_uint(json, "pid", caution->pid);
        else
            tide_json_null(json, "pid");
        tide_json_uint(json, "count", caution->count);
        tide_json_uint(json, "bytes", caution->bytes);
        tide_json_close(json);
    }
    tide_json_close(json);
}

void tide_json_words(struct tide_json *json, const char *key, const char *const *argv)
{
    tide_json_open(json, key, '[');
    for (size_t i = 0; argv && argv[i]; i++)
        tide_json_string(json, NULL, argv[i]);
    tide_json_close(json);
}

static struct tide_view_totals totals_of(const struct tide_report_json *report)
{
    if (report->groups)
        return tide_totals_of_groups(report->groups);
    if (report->rows)
        return tide_totals_of_rows(report->rows);
    const struct tide_model *const model = report->model;
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    if (!model->histograms && report->shape != TIDE_SHAPE_FLOW)
        return (struct tide_view_totals){
            .metric = TIDE_METRIC_TOTAL,
            .bytes = heap->allocated_bytes,
            .calls = heap->alloc_calls,
            .whole_bytes = heap->allocated_bytes,
            .whole_calls = heap->alloc_calls,
        };
    const struct tide_histograms *const counted = model->histograms;
    uint64_t bytes = 0, calls = 0;
    for (size_t i = 0; counted && i < TIDE_HISTOGRAM_PLACES; i++) {
        bytes += counted->requested.bytes[i];
        calls += counted->requested.calls[i];
    }
    for (size_t i = 0; report->shape == TIDE_SHAPE_FLOW && i < model->flow_count; i++) {
        bytes += model->flows[i].bytes;
        calls += model->flows[i].calls;
    }
    return (struct tide_view_totals){
        .metric = TIDE_METRIC_TOTAL,
        .bytes = bytes,
        .calls = calls,
        .whole_bytes = heap->allocated_bytes,
        .whole_calls = heap->alloc_calls,
        .filtered = model->selected,
    };
}

/* What was asked for, and of what. */
static void add_request(struct tide_json *json, const struct tide_report_json *report)
{
    const struct tide_model *const model = report->model;
    struct tide_text command = {0};
    tide_words_command(&command, model->trace->argv);
    tide_json_string(json, "schema", TIDE_REPORT_SCHEMA);
    tide_json_string(json, "trace", model->trace->path);
    tide_json_string(json, "command", command.bytes ? command.bytes : "");
    tide_json_words(json, "argv", model->trace->argv);
    tide_json_number(json, "duration_s", model->duration_s);
    const struct tide_view_totals totals = totals_of(report);
    tide_json_string(json, "view", tide_metric_name(totals.metric));
    tide_json_string(json, "shape", tide_shape_name(report->shape));
    tide_json_string(json, "space", tide_space_name(totals.space));
    if (report->profile)
        tide_json_string(json, "counter",
                         tide_counter_name(totals.metric, report->profile->largest));
    if (model->stopped)
        tide_json_number(json, "live_at_s", model->until_s);
    else
        tide_json_null(json, "live_at_s");
    if (model->from_s > 0)
        tide_json_number(json, "born_after_s", model->from_s);
    else
        tide_json_null(json, "born_after_s");
    tide_text_release(&command);
}

/* The heap along the axis, as the highest in each of its stretches. */
static void add_timeline(struct tide_json *json, const struct tide_model *model)
{
    tide_json_open(json, "timeline", '{');
    tide_json_string(json, "axis", tide_axis_name(model->axis));
    if (model->axis == TIDE_AXIS_SECONDS)
        tide_json_number(json, "length", model->duration_s);
    else
        tide_json_uint(json, "length", model->axis_total);
    if (model->axis != TIDE_AXIS_SECONDS && model->stopped)
        tide_json_uint(json, "live_at", model->axis_until);
    else
        tide_json_null(json, "live_at");
    tide_json_open(json, "highest_bytes", '[');
    for (uint32_t i = 0; i < model->timeline_count; i++)
        tide_json_uint(json, NULL, model->timeline[i]);
    tide_json_close(json);
    tide_json_close(json);
}

void tide_view_report_json(struct tide_text *out, const struct tide_report_json *report)
{
    struct writer writer = {.json = {.out = out}, .report = report};
    if (tide_paths_init(&writer.paths, report->model)) {
        out->failed = true;
        return;
    }
    writer.paths.fold = report->rows && report->rows->fold;
    writer.paths.hide = report->rows ? report->rows->hide : NULL;
    tide_json_open(&writer.json, NULL, '{');
    add_request(&writer.json, report);
    add_summary(&writer.json, report);
    add_spaces(&writer.json, report->model);
    add_cautions(&writer.json, report->cautions);
    const struct tide_view_totals totals = totals_of(report);
    tide_json_uint(&writer.json, "total_bytes", totals.bytes);
    tide_json_uint(&writer.json, "total_calls", totals.calls);
    tide_json_bool(&writer.json, "filtered", totals.filtered);
    tide_json_uint(&writer.json, "whole_bytes", totals.whole_bytes);
    tide_json_uint(&writer.json, "whole_calls", totals.whole_calls);
    if (report->timeline)
        add_timeline(&writer.json, report->model);
    add_rows(&writer);
    if (report->suppressions)
        tide_json_suppressed(&writer.json, report->suppressions);
    add_findings(&writer);
    tide_json_wrappers(&writer.json, report->model);
    tide_json_honesty(&writer.json, report->model);
    tide_json_close(&writer.json);
    tide_paths_release(&writer.paths);
    tide_json_trees_release(&writer.trees);
}
