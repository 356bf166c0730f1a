/* view/report_json_more.c - groups, histograms, leaks, flows, honesty in `tidemark report
 * --json`. */
#include "model/detail.h"
#include "model/leak.h"
#include "view/report_json.h"
#include "view/report_text.h"
#include "view/source.h"

static double share_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0.0;
}

static void add_name(struct tide_json *json, const char *key,
                     const struct tide_group_row *row)
{
    tide_json_string(json, key, row->name && *row->name ? row->name : NULL);
}

static void add_number(struct tide_json *json, const char *key, uint64_t number)
{
    if (number)
        tide_json_uint(json, key, number);
    else
        tide_json_null(json, key);
}

static void add_identity(struct tide_json *json, enum tide_group_by by,
                         const struct tide_group_row *row)
{
    static const char *const NAMES[TIDE_GROUPINGS] = {
        [TIDE_BY_THREAD] = "thread", [TIDE_BY_PROCESS] = "process",
        [TIDE_BY_REGION] = "region", [TIDE_BY_LABEL] = "label",
        [TIDE_BY_MODULE] = "module", [TIDE_BY_LINE] = "file",
    };
    add_name(json, NAMES[by], row);
    if (by == TIDE_BY_THREAD) {
        add_number(json, "tid", row->number);
        tide_json_uint(json, "threads", row->count);
    }
    if (by == TIDE_BY_PROCESS) {
        add_number(json, "pid", row->number);
        if (row->ranked)
            tide_json_uint(json, "rank", row->rank);
    }
    if (by == TIDE_BY_LINE)
        add_number(json, "line", row->number);
}

void tide_json_groups(struct tide_json *json, const struct tide_report_json *report)
{
    const struct tide_groups *const groups = report->groups;
    for (size_t i = 0; i < groups->count; i++) {
        const struct tide_group_row *const row = &groups->list[i];
        if (report->limit > 0 && i == report->limit)
            break;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "bytes", row->bytes);
        tide_json_uint(json, tide_metric_counts(groups->metric), row->calls);
        tide_json_number(json, "share", share_of(row->bytes, groups->total_bytes));
        if (groups->nested) {
            tide_json_uint(json, "inclusive_bytes", row->inclusive_bytes);
            tide_json_uint(json, "inclusive_calls", row->inclusive_calls);
            tide_json_number(json, "inclusive_share",
                             share_of(row->inclusive_bytes, groups->total_bytes));
        }
        add_identity(json, groups->by, row);
        if (groups->by == TIDE_BY_LINE)
            tide_json_source(json, report->sources,
                             row->name && *row->name ? row->name : NULL,
                             (uint32_t)row->number);
        tide_json_close(json);
    }
}

void tide_json_sizes(struct tide_json *json, const struct tide_histograms *all)
{
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!all->requested.calls[i] && !all->usable.calls[i] && !all->freed.calls[i])
            continue;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "least_bytes", tide_histogram_least(i));
        tide_json_uint(json, "requested_calls", all->requested.calls[i]);
        tide_json_uint(json, "requested_bytes", all->requested.bytes[i]);
        tide_json_uint(json, "usable_calls", all->usable.calls[i]);
        tide_json_uint(json, "usable_bytes", all->usable.bytes[i]);
        tide_json_uint(json, "freed_calls", all->freed.calls[i]);
        tide_json_uint(json, "freed_bytes", all->freed.bytes[i]);
        tide_json_close(json);
    }
}

void tide_json_lifetimes(struct tide_json *json, const struct tide_histograms *all)
{
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!all->life_ns.calls[i])
            continue;
        tide_json_open_row(json, NULL);
        tide_json_number(json, "least_s", (double)tide_histogram_least(i) / 1e9);
        tide_json_uint(json, "calls", all->life_ns.calls[i]);
        tide_json_uint(json, "bytes", all->life_ns.bytes[i]);
        tide_json_close(json);
    }
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!all->life_allocs.calls[i])
            continue;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "least_allocations", tide_histogram_least(i));
        tide_json_uint(json, "calls", all->life_allocs.calls[i]);
        tide_json_uint(json, "bytes", all->life_allocs.bytes[i]);
        tide_json_close(json);
    }
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        if (!all->life_bytes.calls[i])
            continue;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "least_allocated_bytes", tide_histogram_least(i));
        tide_json_uint(json, "calls", all->life_bytes.calls[i]);
        tide_json_uint(json, "bytes", all->life_bytes.bytes[i]);
        tide_json_close(json);
    }
}

/* --- Leaks --------------------------------------------------------------------------- */

void tide_json_leak(struct tide_json *json, const struct tide_model *model,
                    uint32_t site)
{
    if (!model->survivals || model->survivals[site].blocks == 0)
        return;
    const struct tide_leak leak = tide_leak_judge(model, &model->survivals[site]);
    tide_json_open_row(json, "leak");
    tide_json_string(json, "evidence", tide_leak_word(leak.kind));
    tide_json_number(json, "first_s", leak.first_s);
    tide_json_number(json, "last_s", leak.last_s);
    tide_json_bool(json, "ended", leak.ended);
    tide_json_number(json, "bytes_per_second", leak.bytes_per_second);
    if (leak.bytes_per_event)
        tide_json_uint(json, "bytes_per_event", leak.bytes_per_event);
    else
        tide_json_null(json, "bytes_per_event");
    tide_json_uint(json, "threads", leak.threads);
    tide_json_uint(json, "processes", leak.processes);
    tide_json_close(json);
}

void tide_json_suppressed(struct tide_json *json,
                          const struct tide_suppressions *suppressions)
{
    tide_json_open(json, "suppressed", '{');
    tide_json_uint(json, "bytes", suppressions->bytes);
    tide_json_uint(json, "blocks", suppressions->blocks);
    tide_json_open(json, "rules", '[');
    for (size_t i = 0; i < suppressions->count; i++) {
        const struct tide_suppression *const one = &suppressions->list[i];
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "bytes", one->bytes);
        tide_json_uint(json, "blocks", one->blocks);
        tide_json_string(json, "pattern", one->pattern);
        tide_json_bool(json, "built_in", one->built_in);
        tide_json_close(json);
    }
    tide_json_close(json);
    tide_json_close(json);
}

void tide_json_wrappers(struct tide_json *json, const struct tide_model *model)
{
    tide_json_open(json, "wrappers", '[');
    for (size_t i = 0; i < model->wrapper_count; i++) {
        tide_json_open_row(json, NULL);
        tide_json_string(json, "function", model->wrappers[i].name);
        tide_json_string(json, "module", model->wrappers[i].module);
        tide_json_close(json);
    }
    tide_json_close(json);
}

/* --- Flows --------------------------------------------------------------------------- */

static void add_thread(struct tide_json *json, const char *key,
                       const struct tide_model *model, uint32_t number)
{
    const struct tide_key_thread *const thread = &model->key_threads[number];
    const struct tide_process *const process =
        thread->process < model->trace->process_count
            ? &model->trace->processes[thread->process]
            : NULL;
    tide_json_open_row(json, key);
    tide_json_string(json, "thread",
                     thread->name && *thread->name ? thread->name : NULL);
    add_number(json, "tid", thread->tid);
    tide_json_uint(json, "threads", thread->count);
    add_number(json, "pid", process ? process->pid : 0);
    tide_json_close(json);
}

void tide_json_flows(struct tide_json *json, const struct tide_model *model,
                     size_t limit)
{
    for (size_t i = 0; i < model->flow_count; i++) {
        const struct tide_flow *const flow = &model->flows[i];
        if (limit > 0 && i == limit)
            break;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "bytes", flow->bytes);
        tide_json_uint(json, "blocks", flow->calls);
        add_thread(json, "made_by", model, flow->from);
        add_thread(json, "freed_by", model, flow->to);
        tide_json_close(json);
    }
}

void tide_json_thread_flows(struct tide_json *json,
                            const struct tide_report_json *report)
{
    if (report->groups->narrowed) {
        tide_json_null(json, "flows");
        return;
    }
    tide_json_open(json, "flows", '[');
    tide_json_flows(json, report->model, report->limit);
    tide_json_close(json);
}

/* --- Honesty ----------------------------------------------------------------------- */

static void add_unfinished(struct tide_json *json, const struct tide_honesty *honesty)
{
    tide_json_uint(json, "unfinished_stacks", honesty->unfinished_stacks);
    tide_json_open(json, "unfinished_in", '[');
    for (size_t i = 0; i < honesty->unfinished_count; i++) {
        tide_json_open_row(json, NULL);
        tide_json_string(json, "module", honesty->unfinished[i].module);
        tide_json_uint(json, "calls", honesty->unfinished[i].calls);
        tide_json_close(json);
    }
    tide_json_close(json);
}

static void add_unnamed(struct tide_json *json, const struct tide_honesty *honesty)
{
    static const char *const WHY[] = {
        [TIDE_MODULE_READ] = "read",         [TIDE_MODULE_GONE] = "gone",
        [TIDE_MODULE_OTHER] = "other_build", [TIDE_MODULE_STRIPPED] = "stripped",
        [TIDE_MODULE_TOO_BIG] = "too_big",   [TIDE_MODULE_BROKEN] = "broken",
    };
    tide_json_open(json, "unnamed_modules", '[');
    for (size_t i = 0; i < honesty->unnamed_count; i++) {
        tide_json_open_row(json, NULL);
        tide_json_string(json, "module", honesty->unnamed[i].module);
        tide_json_uint(json, "frames", honesty->unnamed[i].frames);
        tide_json_string(json, "why", WHY[honesty->unnamed[i].why]);
        tide_json_close(json);
    }
    tide_json_close(json);
}

/* Who dropped events, and why. */
static void add_drops(struct tide_json *json, const struct tide_trace *trace)
{
    tide_json_open(json, "drops", '[');
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        for (unsigned why = 0; why <= TIDE_DROPS; why++) {
            const uint64_t events = tide_drops_of(process, why);
            if (events == 0)
                continue;
            tide_json_open_row(json, NULL);
            tide_json_uint(json, "pid", process->pid);
            tide_json_string(json, "program", process->exe);
            tide_json_string(json, "why", tide_drop_name((enum tide_drop)why));
            tide_json_uint(json, "events", events);
            tide_json_close(json);
        }
    }
    tide_json_close(json);
}

/* What only a walk through all events tells: null when nobody took it. */
static void add_walked(struct tide_json *json, const struct tide_model *model,
                       const char *key, uint64_t value)
{
    if (model->counted_only)
        tide_json_null(json, key);
    else
        tide_json_uint(json, key, value);
}

void tide_json_honesty(struct tide_json *json, const struct tide_model *model)
{
    const struct tide_honesty *const honesty = &model->honesty;
    tide_json_open(json, "honesty", '{');
    tide_json_uint(json, "events", honesty->events);
    tide_json_uint(json, "dropped", honesty->dropped);
    add_drops(json, model->trace);
    add_walked(json, model, "unmatched_frees", honesty->unmatched_frees);
    if (honesty->double_frees_known || honesty->unmatched_frees == 0)
        add_walked(json, model, "double_frees", honesty->double_frees);
    else
        tide_json_null(json, "double_frees");
    add_walked(json, model, "inherited_frees", honesty->inherited_frees);
    add_walked(json, model, "replaced_blocks", honesty->replaced_blocks);
    add_walked(json, model, "reordered", honesty->reordered);
    add_walked(json, model, "lost_records", honesty->lost_records);
    add_walked(json, model, "truncated_stacks", honesty->truncated_stacks);
    add_unfinished(json, honesty);
    add_walked(json, model, "unresolved_frames", honesty->unresolved_frames);
    add_unnamed(json, honesty);
    tide_json_bool(json, "complete", honesty->complete);
    if (model->rss_peak_bytes && !model->counted_only)
        tide_json_number(json, "rss_explained", honesty->rss_explained);
    else
        tide_json_null(json, "rss_explained");
    add_walked(json, model, "beyond_rss_bytes", honesty->beyond_rss_bytes);
    add_walked(json, model, "region_mismatches", honesty->region_mismatches);
    add_walked(json, model, "unmatched_labels", honesty->unmatched_labels);
    add_walked(json, model, "oversized_labels", honesty->oversized_labels);
    add_walked(json, model, "paused_frees", honesty->paused_frees);
    tide_json_uint(json, "recorder_bytes", honesty->recorder_bytes);
    tide_json_uint(json, "ring_bytes", honesty->ring_bytes);
    tide_json_uint(json, "order_table_bytes", honesty->order_table_bytes);
    tide_json_uint(json, "collector_bytes", honesty->collector_bytes);
    tide_json_string(json, "problem",
                     model->trace->problem[0] ? model->trace->problem : NULL);
    tide_json_words(json, "troubles", model->trace->troubles);
    tide_json_string(json, "sanitizer", honesty->sanitizer);
    tide_json_close(json);
}
