/* view/info_json.c - `tidemark info --json`. */
#include <stdio.h>
#include <time.h>

#include "trace/format.h"
#include "view/info.h"
#include "view/info_parts.h"
#include "view/json.h"
#include "view/report_json.h"
#include "view/run_words.h"

/* KEY: the moment as ISO 8601 in UTC. */
static void add_moment(struct tide_json *json, const char *key, uint64_t unix_ns)
{
    const time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm utc;
    char text[64] = "";
    if (gmtime_r(&seconds, &utc))
        (void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
    tide_json_string(json, key, text);
}

static void add_file(struct tide_json *json, const struct tide_trace *trace)
{
    struct tide_text id = {0};
    for (size_t i = 0; i < sizeof(trace->id); i++)
        tide_text_addf(&id, "%02x", trace->id[i]);
    tide_json_string(json, "trace", trace->path);
    tide_json_string(json, "id", id.bytes ? id.bytes : "");
    tide_json_uint(json, "file_bytes", trace->file_bytes);
    tide_json_uint(json, "good_bytes", trace->good_bytes);
    tide_json_bool(json, "complete", trace->complete);
    tide_json_uint(json, "bad_chunks", trace->bad_chunks);
    tide_text_release(&id);
}

static void add_origin(struct tide_json *json, const struct tide_trace *trace)
{
    struct tide_text command = {0};
    tide_words_command(&command, trace->argv);
    add_moment(json, "started", trace->start_unix_ns);
    tide_json_uint(json, "start_unix_ns", trace->start_unix_ns);
    tide_json_string(json, "host", trace->host);
    tide_json_string(json, "version", trace->version);
    tide_json_string(json, "options", trace->options);
    tide_json_string(json, "command", command.bytes ? command.bytes : "");
    tide_json_words(json, "argv", trace->argv);
    tide_json_string(json, "cwd", trace->cwd);
    tide_text_release(&command);
}

static void add_storage(struct tide_json *json, const struct tide_model *model)
{
    const struct tide_chunk_sums sums = tide_info_chunks(model->trace);
    const uint64_t events = model->honesty.events;
    tide_json_uint(json, "lanes", model->trace->lane_count);
    tide_json_uint(json, "chunks", model->trace->chunk_count);
    tide_json_uint(json, "embedded_frames", tide_info_embedded(model->trace));
    tide_json_uint(json, "frames_left_unnamed", model->trace->naming.left);
    tide_json_uint(json, "stored_bytes", sums.stored_bytes);
    tide_json_uint(json, "raw_bytes", sums.raw_bytes);
    tide_json_uint(json, "events", events);
    tide_json_uint(json, "alloc_calls", model->summary[TIDE_IN_HEAP].alloc_calls);
    tide_json_uint(json, "free_calls", model->summary[TIDE_IN_HEAP].free_calls);
    tide_json_uint(json, "allocated_bytes",
                   model->summary[TIDE_IN_HEAP].allocated_bytes);
    if (events > 0)
        tide_json_number(json, "bytes_per_event",
                         (double)model->trace->file_bytes / (double)events);
    else
        tide_json_null(json, "bytes_per_event");
}

static void add_kinds(struct tide_json *json, const struct tide_model *model)
{
    const char *name;
    uint64_t count;
    tide_json_open(json, "kinds", '{');
    for (size_t i = 0; (name = tide_info_kind(model, i, &count)); i++)
        if (*name)
            tide_json_uint(json, name, count);
    tide_json_close(json);
}

static void add_processes(struct tide_json *json, const struct tide_trace *trace)
{
    tide_json_open(json, "processes", '[');
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        struct tide_text words = {0};
        tide_words_end(&words, trace, process);
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "pid", process->pid);
        tide_json_uint(json, "parent", process->ppid);
        if (process->ranked)
            tide_json_uint(json, "rank", process->rank);
        else
            tide_json_null(json, "rank");
        tide_json_string(json, "exe", process->exe);
        tide_json_words(json, "argv", process->argv);
        tide_json_bool(json, "main", process->main);
        tide_json_bool(json, "forked", process->forked);
        tide_json_string(json, "ending", words.bytes ? words.bytes : "");
        if (process->status_known)
            tide_json_int(json, "wait_status", process->status);
        else
            tide_json_null(json, "wait_status");
        tide_json_number(json, "begin_s",
                         tide_trace_seconds(trace, process->begin_ticks));
        if (process->ended)
            tide_json_number(json, "end_s",
                             tide_trace_seconds(trace, process->end_ticks));
        else
            tide_json_null(json, "end_s");
        tide_json_uint(json, "dropped", process->dropped);
        if (process->rss_peak)
            tide_json_uint(json, "rss_peak_bytes", process->rss_peak);
        else
            tide_json_null(json, "rss_peak_bytes"); /* it was never looked at */
        tide_json_bool(json, "rss_peak_exact", process->rss_exact);
        tide_json_uint(json, "recorder_bytes", process->recorder_bytes);
        tide_json_uint(json, "order_table_bytes", process->order_table_bytes);
        tide_json_close(json);
        tide_text_release(&words);
    }
    tide_json_close(json);
}

static void add_threads(struct tide_json *json, const struct tide_trace *trace)
{
    tide_json_open(json, "threads", '[');
    for (size_t i = 0; i < trace->thread_count; i++) {
        const struct tide_thread *const thread = &trace->threads[i];
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "process", thread->process);
        tide_json_uint(json, "lane", thread->lane_number);
        tide_json_uint(json, "tid", thread->tid);
        tide_json_number(json, "begin_s", tide_trace_seconds(trace, thread->ticks));
        tide_json_string(json, "name", thread->name);
        tide_json_close(json);
    }
    tide_json_close(json);
}

static void add_modules(struct tide_json *json, const struct tide_trace *trace)
{
    tide_json_open(json, "modules", '[');
    for (size_t i = 0; i < trace->module_count; i++) {
        tide_json_open_row(json, NULL);
        tide_json_string(json, "path", trace->modules[i].path);
        tide_json_string(json, "build_id", trace->modules[i].build_id);
        tide_json_close(json);
    }
    tide_json_close(json);
}

void tide_view_info_json(struct tide_text *out, const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    struct tide_json json = {.out = out};
    tide_json_open(&json, NULL, '{');
    tide_json_string(&json, "schema", TIDE_INFO_SCHEMA);
    add_file(&json, trace);
    add_origin(&json, trace);
    tide_json_number(&json, "duration_s", model->duration_s);
    add_storage(&json, model);
    add_kinds(&json, model);
    add_processes(&json, trace);
    tide_info_json_unrecorded(&json, trace);
    add_threads(&json, trace);
    add_modules(&json, trace);
    tide_json_honesty(&json, model);
    tide_json_close(&json);
}
