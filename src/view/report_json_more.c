/* view/report_json_more.c - groups and histograms in `tidemark report --json`. */
#include "model/detail.h"
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
    if (by == TIDE_BY_PROCESS)
        add_number(json, "pid", row->number);
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
        if (!all->life_bytes.calls[i])
            continue;
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "least_allocated_bytes", tide_histogram_least(i));
        tide_json_uint(json, "calls", all->life_bytes.calls[i]);
        tide_json_uint(json, "bytes", all->life_bytes.bytes[i]);
        tide_json_close(json);
    }
}
