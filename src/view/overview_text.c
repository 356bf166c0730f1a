/* view/overview_text.c - what the run was and what it used, in words. */
#include <string.h>

#include "model/growth.h"
#include "model/ranks.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/utf8.h"

enum {
    TIDE_KEY_COLUMN = 2,
    TIDE_VALUE_COLUMN = 14,
};

/* The numbers of the overview and what is said of each. */
struct overview {
    struct tide_page *page;
    const struct tide_model *model;
    enum tide_space leads;            /* whose peak is the headline */
    uint64_t left_bytes, left_blocks; /* of the heap at the end, as the report counts */
    int words_column;
};

static struct tide_number size(const struct overview *overview, uint64_t bytes)
{
    return tide_number_bytes(bytes, overview->page->style->units);
}

/* "key   1.50 GiB  words, wrapped below their first". */
static void add_entry(const struct overview *overview, const char *key,
                      const struct tide_number *value, const struct tide_text *words)
{
    struct tide_page *const page = overview->page;
    tide_page_tab(page, TIDE_KEY_COLUMN);
    tide_page_add(page, TIDE_INK_DIM, key);
    tide_page_tab(page, TIDE_VALUE_COLUMN);
    tide_page_add_right(page, TIDE_INK_BOLD, value->text,
                        overview->words_column - TIDE_VALUE_COLUMN - 2);
    tide_page_tab(page, overview->words_column);
    tide_page_wrap(page, TIDE_INK_PLAIN, words->bytes ? words->bytes : "",
                   overview->words_column);
    page->out->failed |= words->failed;
}

/* "in 1,234 blocks at 1.20 s (± 2 KiB)" */
static void add_when(struct tide_text *words, const struct overview *overview,
                     const struct tide_summary *summary)
{
    tide_text_add(words, "in ");
    tide_words_count(words, summary->peak_blocks, "block");
    tide_text_addf(words, " at %s", tide_number_seconds(summary->peak_time_s).text);
    if (summary->peak_uncertainty_bytes > 0 &&
        tide_ranks_up_to_two(overview->model->trace) < 2)
        tide_text_addf(words, " (%s %s)",
                       tide_glyph(overview->page->style, TIDE_GLYPH_ABOUT),
                       size(overview, summary->peak_uncertainty_bytes).text);
}

/* ", at most 57.9 MiB of it touched", when that is less than what was mapped. */
static void add_touched(struct tide_text *words, const struct overview *overview)
{
    const struct tide_model *const model = overview->model;
    const uint64_t touched = tide_model_mapped_touched(model);
    if (touched < model->summary[TIDE_IN_MMAP].peak_bytes)
        tide_text_addf(words, ", %s %s of it touched",
                       tide_model_resident_most(model) || model->rss_peak_exact
                           ? "at most"
                           : "at most about",
                       size(overview, touched).text);
}

static void add_peak(const struct overview *overview)
{
    const struct tide_summary *const heap = &overview->model->summary[TIDE_IN_HEAP];
    const struct tide_summary *const maps = &overview->model->summary[TIDE_IN_MMAP];
    const bool mapped = overview->leads == TIDE_IN_MMAP;
    const struct tide_number value = size(overview, (mapped ? maps : heap)->peak_bytes);
    struct tide_text words = {0};
    if (mapped) {
        tide_text_addf(&words, "in mmap at %s",
                       tide_number_seconds(maps->peak_time_s).text);
        add_touched(&words, overview);
        tide_text_addf(&words, "; heap %s ", size(overview, heap->peak_bytes).text);
    }
    add_when(&words, overview, heap);
    add_entry(overview, "peak", &value, &words);
    tide_text_release(&words);
}

/* Is PROCESS the only one of its program, and the name a word for a shell? */
static bool is_known_by_name(const struct tide_trace *trace,
                             const struct tide_process *process)
{
    const char *const name = tide_name_base(process->exe ? process->exe : "");
    size_t same = 0;
    for (size_t i = 0; i < trace->process_count; i++) {
        const char *const exe = trace->processes[i].exe;
        same += exe && strstr(tide_name_base(exe), name) != NULL;
    }
    return same == 1 && tide_words_plain(name);
}

/* Launchers and shells have their rows too: who is it about, and how to see it alone? */
static void add_heaviest(const struct overview *overview)
{
    const struct tide_model *const model = overview->model;
    const struct tide_process *process = NULL;
    uint64_t bytes;
    if (model->processes > 1 &&
        tide_model_heaviest(model, overview->leads, &process, &bytes))
        overview->page->out->failed = true;
    if (!process)
        return;
    const char *const name = tide_name_base(process->exe ? process->exe : "");
    const struct tide_number value = size(overview, bytes);
    struct tide_text words = {0}, safe = {0};
    tide_text_addf(&words, "of the peak in %s ", *name ? name : "[unnamed]");
    if (process->ranked)
        tide_text_addf(&words, "(rank %llu); each rank alone: report --ranks",
                       (unsigned long long)process->rank);
    else
        tide_text_addf(&words, "(pid %u); alone: report --process ", process->pid);
    if (!process->ranked && is_known_by_name(model->trace, process))
        tide_text_add(&words, name);
    else if (!process->ranked)
        tide_text_addf(&words, "%u", process->pid);
    tide_name_safe(&safe, words.bytes ? words.bytes : "", overview->page->style);
    add_entry(overview, "most", &value, &safe);
    overview->page->out->failed |= words.failed || safe.failed;
    tide_text_release(&words);
    tide_text_release(&safe);
}

/* What processes leave behind is summed up, though it never stood at one time. */
static const char *over_all(const struct tide_model *model)
{
    if (model->processes > 1 + model->replaced)
        return ", over all processes";
    return model->processes > 1 ? ", over all its programs" : "";
}

static void add_live(const struct overview *overview)
{
    const struct tide_summary *const heap = &overview->model->summary[TIDE_IN_HEAP];
    const bool mapped = overview->leads == TIDE_IN_MMAP;
    const uint64_t left = overview->model->summary[TIDE_IN_MMAP].live_bytes;
    const uint64_t blocks = overview->left_blocks;
    const struct tide_number value =
        size(overview, mapped ? left : overview->left_bytes);
    struct tide_text words = {0};
    if (mapped)
        tide_text_addf(&words, "still mapped; %s ", blocks ? "heap" : "on the heap");
    if (mapped && blocks)
        tide_text_addf(&words, "%s ", size(overview, overview->left_bytes).text);
    if (blocks > 0) {
        tide_text_add(&words, "in ");
        tide_words_count(&words, blocks, "block");
        tide_words_left(&words, overview->model);
        tide_text_add(&words, over_all(overview->model));
    } else if (heap->alloc_calls == 0) {
        tide_text_add(&words, "nothing was recorded");
    } else if (heap->live_blocks > 0) {
        tide_text_add(&words, "every block was freed but what is suppressed");
    } else {
        tide_text_add(&words, "every block was freed");
    }
    add_entry(overview, "at the end", &value, &words);
    tide_text_release(&words);
}

static void add_allocated(const struct overview *overview)
{
    const struct tide_summary *const heap = &overview->model->summary[TIDE_IN_HEAP];
    const struct tide_number value = size(overview, heap->allocated_bytes);
    struct tide_text words = {0};
    tide_text_add(&words, overview->leads == TIDE_IN_MMAP ? "on the heap, by " : "by ");
    tide_words_count(&words, heap->alloc_calls, "call");
    if (heap->temporary_calls > 0)
        tide_text_addf(
            &words, ", %s of them temporary",
            tide_number_share(heap->temporary_calls, heap->alloc_calls).text);
    if (heap->failed_calls > 0) {
        tide_text_add(&words, "; ");
        tide_words_count(&words, heap->failed_calls, "call");
        tide_text_add(&words, " got no memory");
    }
    add_entry(overview, "allocated", &value, &words);
    tide_text_release(&words);
}

static void add_resident(const struct overview *overview)
{
    const struct tide_model *const model = overview->model;
    const uint64_t most = tide_model_resident_most(model);
    if (most == 0 && model->rss_peak_bytes == 0)
        return;
    const struct tide_number value =
        size(overview, most ? most : model->rss_peak_bytes);
    struct tide_text words = {0};
    tide_text_add(&words, most || model->rss_peak_exact
                              ? "resident at most (RSS)"
                              : "resident at least (RSS); the peak may be higher");
    add_entry(overview, "memory", &value, &words);
    tide_text_release(&words);
}

static void add_apart(struct tide_text *words, const struct overview *overview,
                      const char *what, uint64_t bytes)
{
    if (bytes > 0)
        tide_text_addf(words, "; %s %s", size(overview, bytes).text, what);
}

/* "mapped at 1.20 s, at most 57.9 MiB of it touched; 0 B at the end" */
static void add_mapped(struct tide_text *words, const struct overview *overview)
{
    const struct tide_summary *const maps = &overview->model->summary[TIDE_IN_MMAP];
    const char *const over = over_all(overview->model);
    tide_text_addf(words, "mapped at %s", tide_number_seconds(maps->peak_time_s).text);
    if (overview->leads == TIDE_IN_HEAP) /* else it has been said above */
        add_touched(words, overview);
    tide_text_addf(words, "; %s %s%s", size(overview, maps->live_bytes).text,
                   *over ? "left mapped" : "at the end", over);
}

static void add_maps(const struct overview *overview)
{
    const struct tide_summary *const maps = &overview->model->summary[TIDE_IN_MMAP];
    const struct tide_summary *const heap = &overview->model->summary[TIDE_IN_HEAP];
    const bool apart = maps->reserved_peak_bytes || maps->file_peak_bytes;
    const bool shown = overview->leads == TIDE_IN_MMAP && heap->alloc_calls > 0;
    if (!apart && (shown || (maps->alloc_calls == 0 && maps->peak_bytes == 0)))
        return;
    const struct tide_number value = size(overview, maps->peak_bytes);
    struct tide_text words = {0};
    if (maps->peak_bytes > 0)
        add_mapped(&words, overview);
    else
        tide_text_add(&words, "of private memory mapped");
    add_apart(&words, overview, "reserved", maps->reserved_peak_bytes);
    add_apart(&words, overview, "of files", maps->file_peak_bytes);
    if (maps->peak_bytes > heap->peak_bytes && overview->leads == TIDE_IN_HEAP)
        tide_text_add(&words, "; by whom: report --space mmap");
    add_entry(overview, tide_space_name(TIDE_IN_MMAP), &value, &words);
    tide_text_release(&words);
}

/* Processes may share it, so that it is of no one's private memory. */
static void add_shared(const struct overview *overview)
{
    const uint64_t bytes = overview->model->summary[TIDE_IN_MMAP].shared_peak_bytes;
    if (bytes == 0)
        return;
    const struct tide_number value = size(overview, bytes);
    struct tide_text words = {0};
    tide_text_add(&words, "of anonymous memory mapped shared at most (MAP_SHARED)");
    add_entry(overview, "shared", &value, &words);
    tide_text_release(&words);
}

/* The values stand right-aligned in a column as wide as the widest. */
static int words_column(const struct overview *overview)
{
    const struct tide_model *const model = overview->model;
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    const uint64_t values[] = {
        heap->peak_bytes,
        heap->live_bytes,
        heap->allocated_bytes,
        model->rss_peak_bytes,
        tide_model_resident_most(model),
        model->summary[TIDE_IN_MMAP].peak_bytes,
        model->summary[TIDE_IN_MMAP].live_bytes,
        model->summary[TIDE_IN_MMAP].shared_peak_bytes,
    };
    int widest = 8;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        const int columns = (int)strlen(size(overview, values[i]).text);
        widest = columns > widest ? columns : widest;
    }
    return TIDE_VALUE_COLUMN + widest + 2;
}

static void add_command(struct tide_page *page, const struct tide_trace *trace)
{
    struct tide_text command = {0};
    tide_words_command(&command, trace->argv);
    struct tide_text safe = {0};
    tide_name_fit(&safe, command.bytes ? command.bytes : trace->path,
                  page->style->width, page->style);
    tide_page_heading(page, safe.bytes ? safe.bytes : "", "");
    page->out->failed |= safe.failed || command.failed;
    tide_text_release(&safe);
    tide_text_release(&command);
}

/* "Ran 12.4 s with 8 allocating threads in 3 processes; exited with status 0."  Of others
 * nothing is known. */
static void add_sentence(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_process *const process = tide_words_main(model->trace);
    struct tide_text words = {0};
    tide_text_addf(&words, "Ran %s with ",
                   tide_number_duration(model->duration_s).text);
    tide_words_count(&words, model->threads, "allocating thread");
    if (model->processes != 1) {
        tide_text_add(&words, " in ");
        tide_words_processes(&words, model);
    }
    if (process) {
        tide_text_add(&words, "; ");
        tide_words_end(&words, model->trace, process);
    }
    tide_text_add(&words, ".");
    tide_page_tab(page, TIDE_KEY_COLUMN);
    tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "",
                   TIDE_KEY_COLUMN);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* A curve of one line, in eighths of it. */
static void add_curve(struct tide_text *words, const struct tide_model *model,
                      bool utf8)
{
    enum { TIDE_CURVE_COLUMNS = 24, TIDE_CURVE_STEPS = 8 };
    static const char *const EIGHTHS[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char ASCII[] = "_.,-=+*#";
    uint64_t heights[TIDE_CURVE_COLUMNS] = {0};
    uint64_t top = 1;
    for (uint32_t i = 0; i < model->timeline_count; i++) {
        uint64_t *const at =
            &heights[(uint64_t)i * TIDE_CURVE_COLUMNS / model->timeline_count];
        *at = model->timeline[i] > *at ? model->timeline[i] : *at;
        top = *at > top ? *at : top;
    }
    for (size_t i = 0; i < TIDE_CURVE_COLUMNS; i++) {
        const double part = (double)heights[i] / (double)top;
        const int step = (int)(part * (TIDE_CURVE_STEPS - 1) + 0.5);
        if (utf8)
            tide_text_add(words, EIGHTHS[step]);
        else
            tide_text_addf(words, "%c", ASCII[step]);
    }
}

/* Memory that grows through the run, said in words; a page without the large curve has a
 * small one. */
static void add_growth(const struct overview *overview)
{
    const struct tide_style *const style = overview->page->style;
    const struct tide_growth growth = tide_growth_of(overview->model);
    if (!growth.grows)
        return;
    const struct tide_number value =
        size(overview, growth.to_bytes - growth.from_bytes);
    struct tide_text words = {0};
    tide_text_addf(&words, "of the heap from %s to %s, steadily",
                   tide_number_seconds(growth.from_s).text,
                   tide_number_seconds(growth.to_s).text);
    if (growth.bytes_per_second > 0)
        tide_text_addf(&words, ": %s/s",
                       size(overview, (uint64_t)growth.bytes_per_second).text);
    if (!style->bars) {
        tide_text_add(&words, "  ");
        add_curve(&words, overview->model, style->utf8);
    }
    add_entry(overview, "growth", &value, &words);
    tide_text_release(&words);
}

/* Where the collector knows why, that is said below. */
static const char *no_allocation(const struct tide_trace *trace)
{
    if (!trace->complete)
        return "No allocation is in what is left of this trace.";
    return trace->troubles && trace->troubles[0]
               ? "No allocation was recorded."
               : "No allocation was recorded. Is the program static, or does it bring "
                 "an allocator of its own?";
}

/* Why the heap has nothing. */
static void add_nothing(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_summary *const maps = &model->summary[TIDE_IN_MMAP];
    tide_page_tab(page, TIDE_KEY_COLUMN);
    if (!tide_model_records(model, TIDE_IN_HEAP))
        tide_page_wrap(page, TIDE_INK_PLAIN,
                       "The heap was not recorded, as run --spaces asks.",
                       TIDE_KEY_COLUMN);
    else if (maps->peak_bytes || maps->shared_peak_bytes || maps->file_peak_bytes)
        tide_page_wrap(
            page, TIDE_INK_PLAIN,
            "Nothing was allocated on the heap; what was mapped:", TIDE_KEY_COLUMN);
    else
        tide_page_wrap(page, TIDE_INK_ALARM, no_allocation(model->trace),
                       TIDE_KEY_COLUMN);
}

void tide_view_overview(struct tide_page *page, const struct tide_model *model,
                        const struct tide_suppressions *suppressed)
{
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    struct overview overview = {
        .page = page,
        .model = model,
        .leads = tide_model_leading(model),
        .left_bytes = heap->live_bytes - (suppressed ? suppressed->bytes : 0),
        .left_blocks = heap->live_blocks - (suppressed ? suppressed->blocks : 0),
    };
    overview.words_column = words_column(&overview);
    add_command(page, model->trace);
    add_sentence(page, model);
    tide_page_skip(page);
    if (model->summary[TIDE_IN_HEAP].alloc_calls == 0) {
        add_nothing(page, model);
    } else {
        add_peak(&overview);
        add_heaviest(&overview);
        add_growth(&overview);
        add_live(&overview);
        add_allocated(&overview);
    }
    add_resident(&overview);
    add_maps(&overview);
    add_shared(&overview);
}
