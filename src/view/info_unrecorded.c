/* view/info_unrecorded.c - programs that were not recorded, in `tidemark info`.
 *
 * Text has each program once for each reason, JSON each of its processes.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/list.h"
#include "view/cells.h"
#include "view/info.h"
#include "view/info_parts.h"
#include "view/names.h"
#include "view/report_text.h"

enum { TIDE_INFO_LEFT = 2 };

/* All of one name and reason. */
struct row {
    const struct tide_unrecorded_program *first; /* borrowed */
    uint64_t count;
    double shortest, longest; /* lives in seconds; negative: none is known */
};

static double life_of(const struct tide_trace *trace,
                      const struct tide_unrecorded_program *program)
{
    return program->end_ticks < program->begin_ticks
               ? -1
               : tide_trace_seconds(trace, program->end_ticks) -
                     tide_trace_seconds(trace, program->begin_ticks);
}

static int by_program(const void *a, const void *b)
{
    const struct row *const x = a, *const y = b;
    const int names = strcmp(x->first->name, y->first->name);
    return names ? names : strcmp(x->first->reason, y->first->reason);
}

static int by_count(const void *a, const void *b)
{
    const struct row *const x = a, *const y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return by_program(a, b);
}

/* A row for each program of TRACE; false without memory. */
static bool list_all(struct tide_list *rows, const struct tide_trace *trace)
{
    for (size_t i = 0; i < trace->unrecorded_count; i++) {
        const struct tide_unrecorded_program *const program = &trace->unrecorded[i];
        struct row *const row = tide_list_add(rows);
        const double life = life_of(trace, program);
        if (!row)
            return false;
        *row = (struct row){program, 1, life, life};
    }
    return true;
}

/* One row of all that have one name and reason. */
static void merge(struct tide_list *rows)
{
    struct row *const list = rows->items;
    size_t kept = 0;
    tide_list_sort(rows, by_program);
    for (size_t i = 1; i < rows->count; i++) {
        struct row *const last = &list[kept];
        if (by_program(last, &list[i]) != 0) {
            list[++kept] = list[i];
            continue;
        }
        const double life = list[i].longest;
        last->count++;
        if (life >= 0 && (last->shortest < 0 || life < last->shortest))
            last->shortest = life;
        if (life > last->longest)
            last->longest = life;
    }
    rows->count = kept + (rows->count > 0);
    tide_list_sort(rows, by_count);
}

static struct tide_cells_row cells_of(const struct row *row)
{
    struct tide_cells_row cells = {.texts = {[0] = tide_number_count(row->count)}};
    if (row->longest >= 0) {
        cells.texts[1] = tide_number_duration(row->shortest);
        cells.texts[2] = tide_number_duration(row->longest);
    }
    return cells;
}

static void add_row(struct tide_page *page, const struct tide_cells *cells,
                    const struct row *row)
{
    const struct tide_cells_row numbers = cells_of(row);
    const int left = tide_cells_end(cells, page->style, cells->count) + 2;
    struct tide_text safe = {0};
    tide_cells_line(page, cells, &numbers);
    tide_page_tab(page, left);
    tide_page_name(page, TIDE_INK_BOLD, row->first->name, tide_page_left(page));
    tide_page_end(page);
    tide_page_tab(page, left);
    tide_name_safe(&safe, row->first->reason, page->style);
    tide_page_wrap(page, TIDE_INK_DIM, safe.bytes ? safe.bytes : "", left);
    tide_text_release(&safe);
}

static void add_table(struct tide_page *page, const struct tide_list *rows, bool all)
{
    const struct row *const list = rows->items;
    const size_t shown = tide_rows_shown(rows->count, all ? 0 : TIDE_INFO_ROWS);
    struct tide_cells cells = {.left = TIDE_INFO_LEFT, .words = 30};
    tide_cells_add(&cells, "programs", 10);
    tide_cells_add(&cells, "lived from", 12);
    tide_cells_add(&cells, "to", 10);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row numbers = cells_of(&list[i]);
        tide_cells_measure(&cells, &numbers);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  program and reason");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_row(page, &cells, &list[i]);
    tide_info_more(page, &cells, rows->count - shown);
}

void tide_info_unrecorded(struct tide_page *page, const struct tide_trace *trace,
                          bool all)
{
    struct tide_list rows = {.item_bytes = sizeof(struct row)};
    if (trace->unrecorded_count == 0)
        return;
    page->out->failed |= !list_all(&rows, trace);
    merge(&rows);
    tide_page_skip(page);
    tide_page_heading(page, "Not recorded", "");
    add_table(page, &rows, all);
    free(rows.items);
}

void tide_info_json_unrecorded(struct tide_json *json, const struct tide_trace *trace)
{
    tide_json_open(json, "unrecorded", '[');
    for (size_t i = 0; i < trace->unrecorded_count; i++) {
        const struct tide_unrecorded_program *const program = &trace->unrecorded[i];
        tide_json_open_row(json, NULL);
        if (program->pid)
            tide_json_uint(json, "pid", program->pid);
        else
            tide_json_null(json, "pid");
        tide_json_string(json, "program", program->name);
        tide_json_string(json, "reason", program->reason);
        tide_json_number(json, "begin_s",
                         tide_trace_seconds(trace, program->begin_ticks));
        if (program->end_ticks)
            tide_json_number(json, "end_s",
                             tide_trace_seconds(trace, program->end_ticks));
        else
            tide_json_null(json, "end_s");
        tide_json_bool(json, "seen_only", program->seen_only);
        tide_json_close(json);
    }
    tide_json_close(json);
}
