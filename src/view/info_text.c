/* view/info_text.c - `tidemark info` as text: what a trace holds. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "view/cells.h"
#include "view/info.h"
#include "view/info_parts.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum {
    TIDE_INFO_KEY = 2,
    TIDE_INFO_VALUE = 14,
    TIDE_INFO_NAMES = 16, /* of threads */
};

/* "key   words"; WORDS need not be safe. */
static void add_entry(struct tide_page *page, const char *key, const char *words)
{
    struct tide_text safe = {0};
    if (!words || !*words)
        return;
    tide_name_safe(&safe, words, page->style);
    tide_page_tab(page, TIDE_INFO_KEY);
    tide_page_add(page, TIDE_INK_DIM, key);
    tide_page_tab(page, TIDE_INFO_VALUE);
    tide_page_wrap(page, TIDE_INK_PLAIN, safe.bytes ? safe.bytes : "", TIDE_INFO_VALUE);
    tide_text_release(&safe);
}

static void add_entry_text(struct tide_page *page, const char *key,
                           struct tide_text *words)
{
    add_entry(page, key, words->bytes);
    if (words->failed)
        page->out->failed = true;
    tide_text_release(words);
}

/* --- The entries ------------------------------------------------------------------- */

static void add_file(struct tide_page *page, const struct tide_trace *trace)
{
    const enum tide_units units = page->style->units;
    struct tide_text words = {0};
    tide_text_add(&words, tide_number_bytes(trace->file_bytes, units).text);
    if (trace->complete && trace->bad_chunks == 0)
        tide_text_add(&words, ", complete");
    else if (!trace->complete)
        tide_text_addf(&words, ", ends early: the first %s are readable",
                       tide_number_bytes(trace->good_bytes, units).text);
    if (trace->bad_chunks > 0) {
        tide_text_add(&words, ", ");
        tide_words_count(&words, trace->bad_chunks, "damaged chunk");
        tide_text_add(&words, " passed over");
    }
    add_entry_text(page, "file", &words);
}

static void add_origin(struct tide_page *page, const struct tide_trace *trace)
{
    const time_t seconds = (time_t)(trace->start_unix_ns / 1000000000u);
    struct tm local;
    char when[64] = "";
    struct tide_text words = {0};
    if (localtime_r(&seconds, &local))
        (void)strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S %z", &local);
    tide_text_add(&words, when);
    if (trace->host && *trace->host)
        tide_text_addf(&words, " on %s", trace->host);
    if (trace->version && *trace->version)
        tide_text_addf(&words, " by tidemark %s", trace->version);
    add_entry_text(page, "recorded", &words);
    tide_words_command(&words, trace->argv);
    add_entry_text(page, "command", &words);
    add_entry(page, "folder", trace->cwd);
    add_entry(page, "options", trace->options);
}

static void add_run(struct tide_page *page, const struct tide_model *model)
{
    struct tide_text words = {0};
    tide_text_addf(&words, "%s, ", tide_number_duration(model->duration_s).text);
    tide_words_count(&words, model->threads, "allocating thread");
    tide_text_add(&words, ", ");
    tide_words_processes(&words, model);
    add_entry_text(page, "run", &words);
}

static void add_storage(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    const struct tide_chunk_sums sums = tide_info_chunks(trace);
    const enum tide_units units = page->style->units;
    struct tide_text words = {0};
    tide_text_add(&words, tide_number_count(model->honesty.events).text);
    if (model->honesty.events > 0)
        tide_text_addf(&words, ", %.2f bytes each in the file",
                       (double)trace->file_bytes / (double)model->honesty.events);
    add_entry_text(page, "events", &words);
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    tide_text_addf(&words, "%s by ",
                   tide_number_bytes(heap->allocated_bytes, units).text);
    tide_words_count(&words, heap->alloc_calls, "call");
    add_entry_text(page, "allocated", &words);
    tide_words_count(&words, trace->chunk_count, "chunk");
    tide_text_add(&words, " of ");
    tide_words_count(&words, trace->lane_count, "lane");
    tide_text_addf(&words, ", %s from %s of records",
                   tide_number_bytes(sums.stored_bytes, units).text,
                   tide_number_bytes(sums.raw_bytes, units).text);
    add_entry_text(page, "stored", &words);
}

/* Whether the trace brings its names along. */
static void add_names(struct tide_page *page, const struct tide_trace *trace)
{
    struct tide_text words = {0};
    const size_t frames = tide_info_embedded(trace);
    if (!frames && !trace->naming.left)
        return;
    tide_text_add(&words, "those of ");
    tide_words_count(&words, frames, "frame");
    tide_text_add(&words, " are in the trace itself");
    if (trace->naming.left)
        tide_text_addf(&words,
                       "; the run had no time for %s more, 'tidemark pack' adds them",
                       tide_number_count(trace->naming.left).text);
    add_entry_text(page, "names", &words);
}

static void add_kinds(struct tide_page *page, const struct tide_model *model)
{
    struct tide_text words = {0};
    const char *name;
    uint64_t count;
    for (size_t i = 0; (name = tide_info_kind(model, i, &count)); i++)
        if (count > 0)
            tide_text_addf(&words, "%s%s %s", words.length > 0 ? ", " : "", name,
                           tide_number_count(count).text);
    add_entry_text(page, "kinds", &words);
}

/* The names of threads, equal ones once. */
struct thread_names {
    const char *names[TIDE_INFO_NAMES];
    uint64_t counts[TIDE_INFO_NAMES];
    size_t known;
    uint64_t others; /* threads whose names found no room */
};

static void count_name(struct thread_names *names, const char *name)
{
    size_t i = 0;
    while (i < names->known && strcmp(names->names[i], name) != 0)
        i++;
    if (i == TIDE_INFO_NAMES) {
        names->others++;
        return;
    }
    names->names[i] = name;
    names->counts[i]++;
    names->known += i == names->known;
}

static void add_threads(struct tide_page *page, const struct tide_trace *trace)
{
    struct thread_names names = {0};
    struct tide_text words = {0};
    for (size_t i = 0; i < trace->thread_count; i++)
        count_name(&names, trace->threads[i].name ? trace->threads[i].name : "");
    for (size_t i = 0; i < names.known; i++) {
        const char *const name = names.names[i];
        tide_text_addf(&words, "%s%s", i > 0 ? ", " : "", *name ? name : "?");
        if (names.counts[i] > 1)
            tide_text_addf(&words, " (%s)", tide_number_count(names.counts[i]).text);
    }
    if (names.others > 0)
        tide_text_addf(&words, ", and %s more", tide_number_count(names.others).text);
    add_entry_text(page, "threads", &words);
}

static void add_overhead(struct tide_page *page, const struct tide_model *model)
{
    const enum tide_units units = page->style->units;
    struct tide_text words = {0};
    const struct tide_honesty *const honesty = &model->honesty;
    tide_words_recorder(&words, model, units);
    tide_text_add(&words, ", ");
    if (honesty->order_table_bytes)
        tide_text_addf(&words, "%s reserved there for the order of threads, ",
                       tide_number_bytes(honesty->order_table_bytes, units).text);
    tide_text_addf(&words, "%s of rings, collector %s %s",
                   tide_number_bytes(honesty->ring_bytes, units).text,
                   tide_number_bytes(honesty->collector_bytes, units).text,
                   tide_words_beside(model));
    add_entry_text(page, "recorder", &words);
}

/* --- Tables ------------------------------------------------------------------------ */

static struct tide_cells_row process_row(const struct tide_process *process)
{
    struct tide_cells_row row = {
        .texts = {[2] = tide_number_count(process->dropped)},
        .inks = {[2] = process->dropped ? TIDE_INK_HOT : TIDE_INK_PLAIN}};
    (void)snprintf(row.texts[0].text, sizeof(row.texts[0].text), "%u", process->pid);
    (void)snprintf(row.texts[1].text, sizeof(row.texts[1].text), "%u", process->ppid);
    return row;
}

static void add_process(struct tide_page *page, const struct tide_cells *cells,
                        const struct tide_trace *trace,
                        const struct tide_process *process)
{
    const struct tide_cells_row row = process_row(process);
    struct tide_text words = {0};
    tide_cells_line(page, cells, &row);
    tide_page_add(page, TIDE_INK_PLAIN, "  ");
    if (process->ranked)
        tide_text_addf(&words, "rank %llu, ", (unsigned long long)process->rank);
    tide_words_end(&words, trace, process);
    const int ending = words.bytes ? (int)strlen(words.bytes) : 0;
    const int room = tide_page_left(page) - 2 - ending;
    tide_page_name(page, TIDE_INK_BOLD,
                   process->exe && *process->exe ? process->exe : "?",
                   room > 10 ? room : 10);
    tide_page_add(page, TIDE_INK_PLAIN, "  ");
    tide_page_add(page, TIDE_INK_DIM, words.bytes ? words.bytes : "");
    tide_page_end(page);
    tide_text_release(&words);
}

void tide_info_more(struct tide_page *page, const struct tide_cells *cells,
                    size_t count)
{
    if (count == 0)
        return;
    tide_page_tab(page, tide_cells_end(cells, page->style, cells->count) + 2);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS));
    tide_page_add(page, TIDE_INK_DIM, " ");
    tide_page_add(page, TIDE_INK_DIM, tide_number_count(count).text);
    tide_page_add(page, TIDE_INK_DIM, " more (-v shows all)");
    tide_page_end(page);
}

static void add_processes(struct tide_page *page, const struct tide_trace *trace,
                          bool all)
{
    const size_t shown =
        tide_rows_shown(trace->process_count, all ? 0 : TIDE_INFO_ROWS);
    tide_page_skip(page);
    tide_page_heading(page, "Processes", "");
    struct tide_cells cells = {.left = TIDE_INFO_KEY};
    tide_cells_add(&cells, "pid", 8);
    tide_cells_add(&cells, "parent", 10);
    tide_cells_add(&cells, "dropped", 10);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = process_row(&trace->processes[i]);
        tide_cells_measure(&cells, &row);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  program");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_process(page, &cells, trace, &trace->processes[i]);
    tide_info_more(page, &cells, trace->process_count - shown);
}

static void add_modules(struct tide_page *page, const struct tide_trace *trace)
{
    enum { TIDE_BUILD_ID_COLUMNS = 40 };
    tide_page_skip(page);
    tide_page_heading(page, "Modules", "");
    for (size_t i = 0; i < trace->module_count; i++) {
        const struct tide_module *const module = &trace->modules[i];
        tide_page_tab(page, TIDE_INFO_KEY);
        tide_page_name(page, TIDE_INK_DIM, *module->build_id ? module->build_id : "-",
                       TIDE_BUILD_ID_COLUMNS);
        tide_page_tab(page, TIDE_INFO_KEY + TIDE_BUILD_ID_COLUMNS + 2);
        tide_page_name(page, TIDE_INK_PLAIN, module->path, tide_page_left(page));
        tide_page_end(page);
    }
}

static void add_trouble(struct tide_page *page, const char *line)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, line, page->style);
    tide_page_add(page, TIDE_INK_ALARM, "! ");
    tide_page_wrap(page, TIDE_INK_ALARM, safe.bytes ? safe.bytes : "", TIDE_INFO_KEY);
    tide_text_release(&safe);
}

void tide_view_info(struct tide_page *page, const struct tide_model *model,
                    struct tide_info_options options)
{
    const struct tide_trace *const trace = model->trace;
    struct tide_text title = {0};
    tide_name_fit(&title, trace->path, page->style->width, page->style);
    tide_view_warning(page, trace);
    if (page->out->length > 0)
        tide_page_skip(page);
    tide_page_heading(page, title.bytes ? title.bytes : "", "");
    tide_text_release(&title);
    add_file(page, trace);
    add_origin(page, trace);
    add_run(page, model);
    add_storage(page, model);
    add_names(page, trace);
    add_kinds(page, model);
    add_threads(page, trace);
    add_overhead(page, model);
    add_processes(page, trace, options.all);
    tide_info_unrecorded(page, trace, options.all);
    if (options.modules)
        add_modules(page, trace);
    for (size_t i = 0; trace->troubles && trace->troubles[i]; i++)
        add_trouble(page, trace->troubles[i]);
}
