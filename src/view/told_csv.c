/* view/told_csv.c - what a program told of itself, as tables for spreadsheets. */
#include "view/told_csv.h"

#include "view/told_text.h"

/* A number that need not be whole, as JSON has it. */
static void add_number(struct tide_csv *csv, double number)
{
    tide_csv_next(csv);
    tide_text_addf(csv->out, "%.9g", number);
}

static void add_seconds(struct tide_csv *csv, double seconds)
{
    tide_csv_next(csv);
    tide_text_addf(csv->out, "%.9f", seconds);
}

void tide_csv_windows(struct tide_csv *csv, const struct tide_model *model,
                      size_t limit)
{
    static const char *const NAMES[] = {
        "window",     "scope",          "tid",
        "begin_s",    "end_s",          "alloc_calls",
        "free_calls", "failed_calls",   "requested_bytes",
        "used_bytes", "freed_bytes",    "live_bytes",
        "peak_bytes", "smallest_bytes", "largest_bytes",
        "mean_bytes", "stddev_bytes",   NULL};
    const struct tide_trace *const trace = model->trace;
    tide_csv_head(csv, NAMES);
    for (size_t i = 0; i < trace->window_count && (limit == 0 || i < limit); i++) {
        const struct tide_window *const window = &trace->windows[i];
        const double calls = (double)window->alloc_calls;
        tide_csv_text(csv, tide_trace_name(trace, window->process, window->name));
        tide_csv_text(csv, window->of_thread ? "thread" : "process");
        tide_csv_known(csv, window->tid);
        add_seconds(csv, tide_trace_seconds(trace, window->begin_ticks));
        add_seconds(csv, tide_trace_seconds(trace, window->end_ticks));
        tide_csv_uint(csv, window->alloc_calls);
        tide_csv_uint(csv, window->free_calls);
        tide_csv_uint(csv, window->failed_calls);
        tide_csv_uint(csv, window->requested_bytes);
        tide_csv_uint(csv, window->used_bytes);
        tide_csv_uint(csv, window->freed_bytes);
        tide_csv_int(csv, (int64_t)(window->used_bytes - window->freed_bytes));
        tide_csv_int(csv, window->peak_bytes);
        tide_csv_uint(csv, window->smallest_bytes);
        tide_csv_uint(csv, window->largest_bytes);
        add_number(csv, calls > 0 ? (double)window->requested_bytes / calls : 0);
        add_number(csv, window->stddev_bytes);
        tide_csv_end(csv);
    }
}

void tide_csv_timemory(struct tide_csv *csv, const struct tide_told *told)
{
    static const char *const NAMES[] = {
        "label",      "region",    "count",     "depth",        "sum_bytes",
        "mean_bytes", "min_bytes", "max_bytes", "stddev_bytes", NULL};
    tide_csv_head(csv, NAMES);
    for (size_t i = 0; i < told->call_count; i++) {
        const struct tide_told_call *const call = &told->calls[i];
        const struct tide_spread *const sizes = tide_told_counted(told, call);
        struct tide_text path = {0};
        if (!sizes->count)
            continue;
        tide_told_path(&path, told, call->region);
        tide_csv_text(csv, tide_told_kind(call->kind));
        tide_csv_text(csv, path.bytes ? path.bytes : "");
        tide_csv_uint(csv, sizes->count);
        tide_csv_uint(csv, told->regions[call->region].depth);
        tide_csv_uint(csv, sizes->sum);
        add_number(csv, tide_spread_mean(sizes));
        tide_csv_uint(csv, sizes->least);
        tide_csv_uint(csv, sizes->most);
        add_number(csv, tide_spread_deviation(sizes));
        tide_csv_end(csv);
        tide_text_release(&path);
    }
}

static void add_pool(struct tide_csv *csv, const struct tide_told_pool *pool)
{
    tide_csv_text(csv, pool->name);
    tide_csv_text(csv, "whole");
    tide_csv_uint(csv, pool->calls);
    tide_csv_uint(csv, pool->bytes);
    tide_csv_uint(csv, pool->live_blocks);
    tide_csv_uint(csv, pool->live_bytes);
    tide_csv_uint(csv, pool->free_calls);
    tide_csv_uint(csv, pool->peak_bytes);
    tide_csv_uint(csv, pool->unmatched_frees);
    for (int i = 0; i < 4; i++)
        tide_csv_next(csv);
    tide_csv_end(csv);
}

static void add_piece(struct tide_csv *csv, const struct tide_model *model,
                      const char *pool, const struct tide_told_piece *piece)
{
    tide_csv_text(csv, pool);
    tide_csv_text(csv, "part");
    tide_csv_uint(csv, piece->calls);
    tide_csv_uint(csv, piece->bytes);
    tide_csv_uint(csv, piece->live_blocks);
    tide_csv_uint(csv, piece->live_bytes);
    for (int i = 0; i < 3; i++)
        tide_csv_next(csv);
    tide_csv_text(csv, piece->label);
    tide_csv_text(csv, piece->holder_label);
    tide_csv_text(csv, tide_told_maker(model, piece->holder_stack));
    tide_csv_known(csv, piece->holder_bytes);
    tide_csv_end(csv);
}

void tide_csv_pools(struct tide_csv *csv, const struct tide_model *model,
                    const struct tide_told *told)
{
    static const char *const NAMES[] = {"pool",
                                        "row",
                                        "calls",
                                        "bytes",
                                        "live_blocks",
                                        "live_bytes",
                                        "free_calls",
                                        "peak_bytes",
                                        "unmatched_frees",
                                        "label",
                                        "holder_label",
                                        "holder_function",
                                        "holder_bytes",
                                        NULL};
    tide_csv_head(csv, NAMES);
    for (uint32_t i = 0, k = 0; i < told->pool_count; i++) {
        add_pool(csv, &told->pools[i]);
        for (; k < told->piece_count && told->pieces[k].pool == i; k++)
            add_piece(csv, model, told->pools[i].name, &told->pieces[k]);
    }
}
