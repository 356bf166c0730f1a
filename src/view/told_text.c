/* view/told_text.c - visits of regions, labels by size and counting windows, as text. */
#include "view/told_text.h"

#include <stdlib.h>

#include "view/cells.h"
#include "view/diff_view.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum {
    TIDE_VISITS_COLUMNS = 9,
    TIDE_LEVEL_COLUMNS = 11,
    TIDE_DELTA_COLUMNS = 12,
    TIDE_WINDOW_COUNT = 10,
    TIDE_WINDOW_BYTES = 11,
    TIDE_NAME_COLUMNS = 16,
    TIDE_WIDE = 110, /* columns from which on windows show means */
};

void tide_told_path(struct tide_text *out, const struct tide_told *told, uint32_t row)
{
    if (row == 0)
        return;
    if (told->regions[row].around) {
        tide_told_path(out, told, told->regions[row].around);
        tide_text_add(out, "/");
    }
    tide_text_add(out, told->regions[row].name);
}

/* --- Visits --------------------------------------------------------------------------- */

static struct tide_cells visit_cells(void)
{
    struct tide_cells cells = {.words = TIDE_NAME_COLUMNS};
    tide_cells_add(&cells, "visits", TIDE_VISITS_COLUMNS);
    tide_cells_add(&cells, "at entry", TIDE_LEVEL_COLUMNS);
    tide_cells_add(&cells, "at exit", TIDE_LEVEL_COLUMNS);
    tide_cells_add(&cells, "delta", TIDE_DELTA_COLUMNS);
    tide_cells_add(&cells, "peak", TIDE_LEVEL_COLUMNS);
    return cells;
}

static struct tide_cells_row visit_row(const struct tide_told_region *row,
                                       enum tide_units units)
{
    return (struct tide_cells_row){
        .texts = {
            tide_number_count(row->visits),
            tide_number_bytes(row->entry_bytes, units),
            tide_number_bytes(row->exit_bytes, units),
            tide_number_signed_bytes(row->delta_bytes, units),
            tide_number_bytes(row->peak_bytes, units),
        }};
}

static struct tide_number rounded(double bytes, enum tide_units units)
{
    return tide_number_bytes(bytes > 0 ? (uint64_t)(bytes + 0.5) : 0, units);
}

/* Under its loop: how much an iteration allocates, as a rule and at most. */
static void add_iterations(struct tide_page *page, const struct tide_told_region *row,
                           int column)
{
    const struct tide_spread *const bytes = &row->iteration_bytes;
    const enum tide_units units = page->style->units;
    const char *const about = tide_glyph(page->style, TIDE_GLYPH_ABOUT);
    struct tide_text words = {0};
    if (!bytes->count)
        return;
    tide_words_count(&words, bytes->count, "iteration");
    tide_text_addf(&words, " of %s", rounded(tide_spread_mean(bytes), units).text);
    tide_text_addf(&words, " %s %s", about,
                   rounded(tide_spread_deviation(bytes), units).text);
    tide_text_addf(&words, " (%s", tide_number_bytes(bytes->least, units).text);
    tide_text_addf(&words, " to %s)", tide_number_bytes(bytes->most, units).text);
    tide_text_addf(&words, " in %.1f calls %s %.1f",
                   tide_spread_mean(&row->iteration_calls), about,
                   tide_spread_deviation(&row->iteration_calls));
    tide_text_addf(&words, "; together they kept %s",
                   tide_number_signed_bytes(row->iteration_kept_bytes, units).text);
    tide_page_tab(page, column);
    tide_page_wrap(page, TIDE_INK_DIM, words.bytes ? words.bytes : "", column);
    tide_text_release(&words);
}

static void add_visit(struct tide_page *page, const struct tide_cells *cells,
                      const struct tide_told_region *row)
{
    const struct tide_cells_row numbers = visit_row(row, page->style->units);
    tide_cells_line(page, cells, &numbers);
    tide_page_tab(page, page->column + 2 * (int)row->depth);
    const char *const kind = row->loop ? " (loop)" : row->phase ? " (phase)" : "";
    tide_page_name(page, TIDE_INK_BOLD, row->name,
                   tide_page_left(page) - (row->loop || row->phase ? 8 : 0));
    tide_page_add(page, TIDE_INK_DIM, kind);
    tide_page_end(page);
    add_iterations(page, row, tide_cells_end(cells, page->style, 1) + 3);
}

/* The regions with visits that are shown: where they stand, in which order they come. */
struct visits {
    const struct tide_told *told;
    size_t limit;   /* 0: all */
    uint32_t *list; /* owned: regions */
    size_t count;
};

/* The regions inside AROUND, in the order in which they first came. */
static void list_inside(struct visits *visits, uint32_t around)
{
    const struct tide_told_region *const regions = visits->told->regions;
    for (uint32_t i = regions[around].inside; i; i = regions[i].next) {
        if (regions[i].visits && (!visits->limit || visits->count < visits->limit))
            visits->list[visits->count++] = i;
        list_inside(visits, i);
    }
}

static void add_visits(struct tide_page *page, const struct visits *visits)
{
    const struct tide_told_region *const regions = visits->told->regions;
    struct tide_cells cells = visit_cells();
    for (size_t i = 0; i < visits->count; i++) {
        const struct tide_cells_row row =
            visit_row(&regions[visits->list[i]], page->style->units);
        tide_cells_measure(&cells, &row);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  region");
    tide_page_end(page);
    for (size_t i = 0; i < visits->count; i++)
        add_visit(page, &cells, &regions[visits->list[i]]);
}

void tide_view_visits(struct tide_page *page, const struct tide_told *told,
                      size_t limit)
{
    if (told->region_count < 2)
        return;
    tide_page_heading(page, "Visits",
                      "live bytes of the heap; delta is what visiting threads kept");
    size_t count = 0;
    for (size_t i = 1; i < told->region_count; i++)
        count += told->regions[i].visits > 0;
    struct visits visits = {.told = told,
                            .limit = tide_rows_shown(count, limit),
                            .list = calloc(told->region_count, sizeof(*visits.list))};
    if (!visits.list) {
        page->out->failed = true;
        return;
    }
    list_inside(&visits, 0);
    add_visits(page, &visits);
    if (visits.count < count)
        tide_page_more(page, count - visits.count, "region");
    free(visits.list);
}

/* --- Labels --------------------------------------------------------------------------- */

/* "x  [30][30] of 8 B" */
static void add_label(struct tide_page *page, const struct tide_told_label *row)
{
    struct tide_text shape = {0};
    if (row->shape.element_bytes) {
        tide_text_add(&shape, "  ");
        for (uint32_t i = 0; i < row->shape.dimensions; i++)
            tide_text_addf(&shape, "[%llu]", (unsigned long long)row->shape.extents[i]);
        tide_text_addf(
            &shape, " of %s",
            tide_number_bytes(row->shape.element_bytes, TIDE_UNITS_BYTES).text);
    }
    const int room = tide_page_left(page);
    const bool fits = room > (int)shape.length + 8;
    tide_page_name(page, TIDE_INK_BOLD, row->label,
                   fits ? room - (int)shape.length : room);
    tide_page_add(page, TIDE_INK_DIM, fits && shape.bytes ? shape.bytes : "");
    tide_text_release(&shape);
}

static struct tide_cells_row label_row(const struct tide_page *page,
                                       const struct tide_told_label *row)
{
    return (struct tide_cells_row){
        .texts = {tide_number_count(row->blocks), tide_number_count(row->moved),
                  tide_number_bytes(row->size, page->style->units)}};
}

void tide_view_label_sizes(struct tide_page *page, const struct tide_told *told,
                           size_t limit)
{
    if (told->label_count == 0)
        return;
    tide_page_heading(page, "Labels by size",
                      "what is made again and again could be made once");
    const size_t shown = tide_rows_shown(told->label_count, limit);
    struct tide_cells cells = {.words = TIDE_NAME_COLUMNS};
    tide_cells_add(&cells, "blocks", TIDE_VISITS_COLUMNS);
    tide_cells_add(&cells, "by realloc", TIDE_DELTA_COLUMNS);
    tide_cells_add(&cells, "size", TIDE_LEVEL_COLUMNS);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = label_row(page, &told->labels[i]);
        tide_cells_measure(&cells, &row);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  label");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = label_row(page, &told->labels[i]);
        tide_cells_line(page, &cells, &row);
        tide_page_tab(page, page->column + 2);
        add_label(page, &told->labels[i]);
        tide_page_end(page);
    }
    if (shown < told->label_count)
        tide_page_more(page, told->label_count - shown, "line");
}

/* --- Windows -------------------------------------------------------------------------- */

static struct tide_cells window_cells(bool wide)
{
    static const char *const BYTES[] = {"requested", "kept", "peak", "mean", "stddev"};
    struct tide_cells cells = {.words = TIDE_NAME_COLUMNS};
    tide_cells_add(&cells, "from", TIDE_WINDOW_COUNT);
    tide_cells_add(&cells, "calls", TIDE_WINDOW_COUNT);
    tide_cells_add(&cells, "frees", TIDE_WINDOW_COUNT);
    for (size_t i = 0; i < (wide ? 5u : 3u); i++)
        tide_cells_add(&cells, BYTES[i], TIDE_WINDOW_BYTES);
    return cells;
}

static struct tide_cells_row window_row(const struct tide_trace *trace,
                                        const struct tide_window *window,
                                        enum tide_units units)
{
    const double calls = (double)window->alloc_calls;
    const double mean = calls > 0 ? (double)window->requested_bytes / calls : 0;
    const int64_t kept = (int64_t)(window->used_bytes - window->freed_bytes);
    return (struct tide_cells_row){
        .texts = {
            tide_number_seconds(tide_trace_seconds(trace, window->begin_ticks)),
            tide_number_count(window->alloc_calls),
            tide_number_count(window->free_calls),
            tide_number_bytes(window->requested_bytes, units),
            tide_number_signed_bytes(kept, units),
            tide_number_signed_bytes(window->peak_bytes, units),
            rounded(mean, units),
            rounded(window->stddev_bytes, units),
        }};
}

static void add_window(struct tide_page *page, const struct tide_cells *cells,
                       const struct tide_trace *trace, const struct tide_window *window)
{
    const char *const name = tide_trace_name(trace, window->process, window->name);
    const struct tide_cells_row row = window_row(trace, window, page->style->units);
    tide_cells_line(page, cells, &row);
    tide_page_tab(page, page->column + 2);
    tide_page_name(page, name ? TIDE_INK_BOLD : TIDE_INK_DIM, name ? name : "[unnamed]",
                   tide_page_left(page) - (window->of_thread ? 9 : 0));
    tide_page_add(page, TIDE_INK_DIM, window->of_thread ? " (thread)" : "");
    tide_page_end(page);
}

static void add_windows(struct tide_page *page, const struct tide_trace *trace,
                        size_t shown, bool wide)
{
    struct tide_cells cells = window_cells(wide);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row =
            window_row(trace, &trace->windows[i], page->style->units);
        tide_cells_measure(&cells, &row);
    }
    tide_cells_head(page, &cells);
    tide_page_add(page, TIDE_INK_DIM, "  window");
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++)
        add_window(page, &cells, trace, &trace->windows[i]);
}

void tide_view_windows(struct tide_page *page, const struct tide_model *model,
                       size_t limit)
{
    const struct tide_trace *const trace = model->trace;
    const bool wide = page->style->width >= TIDE_WIDE;
    struct tide_text detail = {0};
    tide_words_count(&detail, trace->window_count, "window");
    if (!wide && trace->window_count > 0)
        tide_text_addf(&detail, "; from %d columns on also mean and stddev", TIDE_WIDE);
    tide_page_heading(page, "Counted by the program", detail.bytes ? detail.bytes : "");
    tide_text_release(&detail);
    if (trace->window_count == 0) {
        tide_page_add(page, TIDE_INK_PLAIN,
                      "  none: see tide_start() in tidemark/tidemark.h");
        tide_page_end(page);
        return;
    }
    const size_t shown = tide_rows_shown(trace->window_count, limit);
    add_windows(page, trace, shown, wide);
    if (shown < trace->window_count)
        tide_page_more(page, trace->window_count - shown, "window");
}
