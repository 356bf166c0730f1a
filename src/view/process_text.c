/* view/process_text.c - what each process held by itself, as text and JSON. */
#include "view/process_text.h"

#include "model/path.h"
#include "view/cells.h"
#include "view/names.h"
#include "view/report_text.h"

enum {
    TIDE_PEAK_COLUMNS = 11,
    TIDE_WORDS_COLUMNS = 24,
};

static const char *program_of(const struct tide_process *process)
{
    return process->exe && *process->exe ? tide_path_base(process->exe) : "[unnamed]";
}

static struct tide_cells_row row_of(const struct tide_model *model,
                                    const struct tide_process_peak *peak,
                                    enum tide_units units)
{
    const double at = tide_trace_seconds(model->trace, peak->ticks);
    return (struct tide_cells_row){.texts = {
                                       tide_number_bytes(peak->bytes, units),
                                       tide_number_seconds(at),
                                       tide_number_bytes(peak->last_bytes, units),
                                   }};
}

/* "cc1plus (pid 12)", "solver (rank 3, pid 12)" */
static void add_who(struct tide_page *page, const struct tide_process *process)
{
    struct tide_text number = {0};
    tide_text_add(&number, " (");
    if (process->ranked)
        tide_text_addf(&number, "rank %llu, ", (unsigned long long)process->rank);
    tide_text_addf(&number, "pid %llu)", (unsigned long long)process->pid);
    tide_page_name(page, TIDE_INK_BOLD, program_of(process),
                   tide_page_left(page) - (int)number.length);
    tide_page_add(page, TIDE_INK_DIM, number.bytes ? number.bytes : "");
    tide_page_end(page);
    tide_text_release(&number);
}

void tide_view_process_peaks(struct tide_page *page, const struct tide_model *model,
                             const struct tide_process_peaks *peaks, size_t limit)
{
    const enum tide_units units = page->style->units;
    const size_t shown = tide_rows_shown(peaks->count, limit);
    struct tide_cells cells = {.words = TIDE_WORDS_COLUMNS};
    if (shown == 0)
        return;
    tide_cells_add(&cells, "own peak", TIDE_PEAK_COLUMNS);
    tide_cells_add(&cells, "at", TIDE_PEAK_COLUMNS);
    tide_cells_add(&cells, "at its end", TIDE_PEAK_COLUMNS + 1);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = row_of(model, &peaks->list[i], units);
        tide_cells_measure(&cells, &row);
    }
    tide_page_heading(page, "Each process by itself",
                      peaks->space == TIDE_IN_HEAP ? "live bytes of its heap"
                                                   : "bytes that it had mapped");
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  process");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = row_of(model, &peaks->list[i], units);
        tide_cells_line(page, &cells, &row);
        tide_page_tab(page, page->column + 2);
        add_who(page, &model->trace->processes[peaks->list[i].process]);
    }
    if (shown < peaks->count) {
        tide_page_tab(page, tide_cells_end(&cells, page->style, cells.count) + 2);
        tide_page_more(page, peaks->count - shown, "");
    }
}

void tide_json_process_peaks(struct tide_json *json, const struct tide_model *model,
                             const struct tide_process_peaks *peaks, size_t limit)
{
    const size_t shown = limit && limit < peaks->count ? limit : peaks->count;
    tide_json_open(json, "process_peaks", '[');
    for (size_t i = 0; i < shown; i++) {
        const struct tide_process_peak *const peak = &peaks->list[i];
        const struct tide_process *const process =
            &model->trace->processes[peak->process];
        tide_json_open_row(json, NULL);
        tide_json_uint(json, "pid", process->pid);
        tide_json_string(json, "program", program_of(process));
        if (process->ranked)
            tide_json_uint(json, "rank", process->rank);
        tide_json_uint(json, "peak_bytes", peak->bytes);
        tide_json_number(json, "peak_time_s",
                         tide_trace_seconds(model->trace, peak->ticks));
        tide_json_uint(json, "last_bytes", peak->last_bytes);
        tide_json_close(json);
    }
    tide_json_close(json);
}
