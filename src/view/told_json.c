/* view/told_json.c - what a program told of itself, as JSON. */
#include "view/told_text.h"

static void add_path(struct tide_json *json, const struct tide_told *told, uint32_t row)
{
    struct tide_text path = {0};
    tide_told_path(&path, told, row);
    tide_json_string(json, "region", path.bytes ? path.bytes : "");
    tide_text_release(&path);
}

static void add_spread(struct tide_json *json, const char *key,
                       const struct tide_spread *spread)
{
    tide_json_open(json, key, '{');
    tide_json_uint(json, "sum", spread->sum);
    tide_json_number(json, "mean", tide_spread_mean(spread));
    tide_json_uint(json, "least", spread->least);
    tide_json_uint(json, "most", spread->most);
    tide_json_number(json, "stddev", tide_spread_deviation(spread));
    tide_json_close(json);
}

void tide_json_visits(struct tide_json *json, const struct tide_told *told)
{
    tide_json_open(json, "visits", '[');
    for (uint32_t i = 1; i < told->region_count; i++) {
        const struct tide_told_region *const row = &told->regions[i];
        tide_json_open_row(json, NULL);
        add_path(json, told, i);
        tide_json_string(json, "kind",
                         row->loop    ? "loop"
                         : row->phase ? "phase"
                                      : "region");
        tide_json_uint(json, "visits", row->visits);
        tide_json_uint(json, "calls", row->calls);
        tide_json_uint(json, "bytes", row->bytes);
        tide_json_uint(json, "inclusive_calls", row->inclusive_calls);
        tide_json_uint(json, "inclusive_bytes", row->inclusive_bytes);
        tide_json_uint(json, "entry_bytes", row->entry_bytes);
        tide_json_uint(json, "exit_bytes", row->exit_bytes);
        tide_json_int(json, "delta_bytes", row->delta_bytes);
        tide_json_uint(json, "peak_bytes", row->peak_bytes);
        tide_json_uint(json, "iterations", row->iteration_bytes.count);
        if (row->iteration_bytes.count) {
            add_spread(json, "iteration_calls", &row->iteration_calls);
            add_spread(json, "iteration_bytes", &row->iteration_bytes);
            tide_json_int(json, "iterations_kept_bytes", row->iteration_kept_bytes);
        }
        tide_json_close(json);
    }
    tide_json_close(json);
}

static void add_shape(struct tide_json *json, const struct tide_told_shape *shape)
{
    if (!shape->element_bytes) {
        tide_json_null(json, "element_bytes");
        tide_json_null(json, "extents");
        return;
    }
    tide_json_uint(json, "element_bytes", shape->element_bytes);
    tide_json_open(json, "extents", '[');
    for (uint32_t i = 0; i < shape->dimensions; i++)
        tide_json_uint(json, NULL, shape->extents[i]);
    tide_json_close(json);
}

void tide_json_label_sizes(struct tide_json *json, const struct tide_told *told)
{
    tide_json_open(json, "label_sizes", '[');
    for (size_t i = 0; i < told->label_count; i++) {
        const struct tide_told_label *const row = &told->labels[i];
        tide_json_open_row(json, NULL);
        tide_json_string(json, "label", row->label);
        tide_json_uint(json, "size", row->size);
        tide_json_uint(json, "blocks", row->blocks);
        tide_json_uint(json, "realloc_blocks", row->moved);
        add_shape(json, &row->shape);
        tide_json_close(json);
    }
    tide_json_close(json);
}

void tide_json_windows(struct tide_json *json, const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    tide_json_open(json, "windows", '[');
    for (size_t i = 0; i < trace->window_count; i++) {
        const struct tide_window *const window = &trace->windows[i];
        const double calls = (double)window->alloc_calls;
        tide_json_open_row(json, NULL);
        tide_json_string(json, "window",
                         tide_trace_name(trace, window->process, window->name));
        tide_json_string(json, "scope", window->of_thread ? "thread" : "process");
        tide_json_uint(json, "tid", window->tid);
        tide_json_number(json, "begin_s",
                         tide_trace_seconds(trace, window->begin_ticks));
        tide_json_number(json, "end_s", tide_trace_seconds(trace, window->end_ticks));
        tide_json_uint(json, "requested_bytes", window->requested_bytes);
        tide_json_uint(json, "used_bytes", window->used_bytes);
        tide_json_uint(json, "freed_bytes", window->freed_bytes);
        tide_json_uint(json, "alloc_calls", window->alloc_calls);
        tide_json_uint(json, "free_calls", window->free_calls);
        tide_json_uint(json, "failed_calls", window->failed_calls);
        tide_json_int(json, "live_bytes",
                      (int64_t)(window->used_bytes - window->freed_bytes));
        tide_json_int(json, "peak_bytes", window->peak_bytes);
        tide_json_uint(json, "smallest_bytes", window->smallest_bytes);
        tide_json_uint(json, "largest_bytes", window->largest_bytes);
        tide_json_number(json, "mean_bytes",
                         calls > 0 ? (double)window->requested_bytes / calls : 0);
        tide_json_number(json, "stddev_bytes", window->stddev_bytes);
        tide_json_close(json);
    }
    tide_json_close(json);
}

void tide_json_timemory(struct tide_json *json, const struct tide_told *told)
{
    tide_json_open(json, "timemory", '[');
    for (size_t i = 0; i < told->call_count; i++) {
        const struct tide_told_call *const call = &told->calls[i];
        const struct tide_spread *const sizes = tide_told_counted(told, call);
        if (!sizes->count)
            continue;
        tide_json_open_row(json, NULL);
        tide_json_string(json, "label", tide_told_kind(call->kind));
        add_path(json, told, call->region);
        tide_json_uint(json, "count", sizes->count);
        tide_json_uint(json, "depth", told->regions[call->region].depth);
        tide_json_string(json, "metric", "malloc_gotcha");
        tide_json_uint(json, "sum_bytes", sizes->sum);
        tide_json_number(json, "mean_bytes", tide_spread_mean(sizes));
        tide_json_uint(json, "min_bytes", sizes->least);
        tide_json_uint(json, "max_bytes", sizes->most);
        tide_json_number(json, "stddev_bytes", tide_spread_deviation(sizes));
        tide_json_number(json, "self_percent", sizes->sum ? 100 : 0);
        tide_json_close(json);
    }
    tide_json_close(json);
}
