/* view/told_text.c - visits of regions, labels by size and counting windows, as text. */
#include "view/told_text.h"

#include <stdio.h>

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

static void add_bytes(struct tide_page *page, uint64_t bytes, int width)
{
    tide_page_add_right(page, TIDE_INK_PLAIN,
                        tide_number_bytes(bytes, page->style->units).text, width);
}

static void add_signed(struct tide_page *page, int64_t bytes, int width)
{
    tide_page_add_right(page, TIDE_INK_PLAIN,
                        tide_number_signed_bytes(bytes, page->style->units).text,
                        width);
}

static void add_count(struct tide_page *page, uint64_t count, int width)
{
    tide_page_add_right(page, TIDE_INK_PLAIN, tide_number_count(count).text, width);
}

/* --- Visits --------------------------------------------------------------------------- */

static void add_visits_head(struct tide_page *page)
{
    tide_page_add_right(page, TIDE_INK_DIM, "visits", TIDE_VISITS_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "at entry", TIDE_LEVEL_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "at exit", TIDE_LEVEL_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "delta", TIDE_DELTA_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "peak", TIDE_LEVEL_COLUMNS);
    tide_page_add(page, TIDE_INK_DIM, "  region");
    tide_page_end(page);
}

static struct tide_number rounded(double bytes, enum tide_units units)
{
    return tide_number_bytes(bytes > 0 ? (uint64_t)(bytes + 0.5) : 0, units);
}

/* Under its loop: how much an iteration allocates, as a rule and at most. */
static void add_iterations(struct tide_page *page, const struct tide_told_region *row)
{
    const struct tide_spread *const bytes = &row->iteration_bytes;
    const enum tide_units units = page->style->units;
    struct tide_text words = {0};
    if (!bytes->count)
        return;
    tide_words_count(&words, bytes->count, "iteration");
    tide_text_addf(&words, " of %s", rounded(tide_spread_mean(bytes), units).text);
    tide_text_addf(&words, " +- %s", rounded(tide_spread_deviation(bytes), units).text);
    tide_text_addf(&words, " (%s", tide_number_bytes(bytes->least, units).text);
    tide_text_addf(&words, " to %s)", tide_number_bytes(bytes->most, units).text);
    tide_text_addf(&words, " in %.1f calls +- %.1f",
                   tide_spread_mean(&row->iteration_calls),
                   tide_spread_deviation(&row->iteration_calls));
    tide_text_addf(&words, "; together they kept %s",
                   tide_number_signed_bytes(row->iteration_kept_bytes, units).text);
    tide_page_tab(page, TIDE_VISITS_COLUMNS + 3);
    tide_page_wrap(page, TIDE_INK_DIM, words.bytes ? words.bytes : "",
                   TIDE_VISITS_COLUMNS + 3);
    tide_text_release(&words);
}

static void add_visit(struct tide_page *page, const struct tide_told_region *row)
{
    add_count(page, row->visits, TIDE_VISITS_COLUMNS);
    add_bytes(page, row->entry_bytes, TIDE_LEVEL_COLUMNS);
    add_bytes(page, row->exit_bytes, TIDE_LEVEL_COLUMNS);
    add_signed(page, row->delta_bytes, TIDE_DELTA_COLUMNS);
    add_bytes(page, row->peak_bytes, TIDE_LEVEL_COLUMNS);
    tide_page_tab(page, page->column + 2 * (int)row->depth);
    const char *const kind = row->loop ? " (loop)" : row->phase ? " (phase)" : "";
    tide_page_name(page, TIDE_INK_BOLD, row->name,
                   tide_page_left(page) - (row->loop || row->phase ? 8 : 0));
    tide_page_add(page, TIDE_INK_DIM, kind);
    tide_page_end(page);
    add_iterations(page, row);
}

/* The regions inside AROUND, in the order in which they first came: LIMIT of them (0: all),
 * beside the SHOWN ones.  Returns how many there are now, shown or not. */
static size_t add_inside(struct tide_page *page, const struct tide_told *told,
                         uint32_t around, size_t limit, size_t shown)
{
    for (uint32_t i = told->regions[around].inside; i; i = told->regions[i].next) {
        if (told->regions[i].visits && (!limit || shown < limit))
            add_visit(page, &told->regions[i]);
        shown += told->regions[i].visits > 0;
        shown = add_inside(page, told, i, limit, shown);
    }
    return shown;
}

void tide_view_visits(struct tide_page *page, const struct tide_told *told,
                      size_t limit)
{
    if (told->region_count < 2)
        return;
    tide_page_heading(page, "Visits",
                      "live bytes of the heap; delta is the sum of all visits");
    add_visits_head(page);
    size_t count = 0;
    for (size_t i = 1; i < told->region_count; i++)
        count += told->regions[i].visits > 0;
    const size_t shown = tide_rows_shown(count, limit);
    (void)add_inside(page, told, 0, shown, 0);
    if (shown < count)
        tide_page_more(page, count - shown, "region");
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

void tide_view_label_sizes(struct tide_page *page, const struct tide_told *told,
                           size_t limit)
{
    if (told->label_count == 0)
        return;
    tide_page_heading(page, "Labels by size",
                      "what is made again and again could be made once");
    tide_page_add_right(page, TIDE_INK_DIM, "blocks", TIDE_VISITS_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "by realloc", TIDE_DELTA_COLUMNS);
    tide_page_add_right(page, TIDE_INK_DIM, "size", TIDE_LEVEL_COLUMNS);
    tide_page_add(page, TIDE_INK_DIM, "  label");
    tide_page_end(page);
    const size_t shown = tide_rows_shown(told->label_count, limit);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_told_label *const row = &told->labels[i];
        add_count(page, row->blocks, TIDE_VISITS_COLUMNS);
        add_count(page, row->moved, TIDE_DELTA_COLUMNS);
        add_bytes(page, row->size, TIDE_LEVEL_COLUMNS);
        tide_page_tab(page, page->column + 2);
        add_label(page, row);
        tide_page_end(page);
    }
    if (shown < told->label_count)
        tide_page_more(page, told->label_count - shown, "line");
}

/* --- Windows -------------------------------------------------------------------------- */

static void add_windows_head(struct tide_page *page, bool wide)
{
    static const char *const BYTES[] = {"requested", "kept", "peak", "mean", "stddev"};
    tide_page_add_right(page, TIDE_INK_DIM, "from", TIDE_WINDOW_COUNT);
    tide_page_add_right(page, TIDE_INK_DIM, "calls", TIDE_WINDOW_COUNT);
    tide_page_add_right(page, TIDE_INK_DIM, "frees", TIDE_WINDOW_COUNT);
    for (size_t i = 0; i < (wide ? 5u : 3u); i++)
        tide_page_add_right(page, TIDE_INK_DIM, BYTES[i], TIDE_WINDOW_BYTES);
    tide_page_add(page, TIDE_INK_DIM, "  window");
    tide_page_end(page);
}

static void add_window(struct tide_page *page, const struct tide_trace *trace,
                       const struct tide_window *window, bool wide)
{
    const char *const name = tide_trace_name(trace, window->process, window->name);
    tide_page_add_right(
        page, TIDE_INK_PLAIN,
        tide_number_seconds(tide_trace_seconds(trace, window->begin_ticks)).text,
        TIDE_WINDOW_COUNT);
    add_count(page, window->alloc_calls, TIDE_WINDOW_COUNT);
    add_count(page, window->free_calls, TIDE_WINDOW_COUNT);
    add_bytes(page, window->requested_bytes, TIDE_WINDOW_BYTES);
    add_signed(page, (int64_t)(window->used_bytes - window->freed_bytes),
               TIDE_WINDOW_BYTES);
    add_signed(page, window->peak_bytes, TIDE_WINDOW_BYTES);
    if (wide) {
        const double calls = (double)window->alloc_calls;
        tide_page_add_right(
            page, TIDE_INK_PLAIN,
            rounded(calls > 0 ? (double)window->requested_bytes / calls : 0,
                    page->style->units)
                .text,
            TIDE_WINDOW_BYTES);
        tide_page_add_right(page, TIDE_INK_PLAIN,
                            rounded(window->stddev_bytes, page->style->units).text,
                            TIDE_WINDOW_BYTES);
    }
    tide_page_tab(page, page->column + 2);
    tide_page_name(page, name ? TIDE_INK_BOLD : TIDE_INK_DIM, name ? name : "[unnamed]",
                   tide_page_left(page) - (window->of_thread ? 9 : 0));
    tide_page_add(page, TIDE_INK_DIM, window->of_thread ? " (thread)" : "");
    tide_page_end(page);
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
    add_windows_head(page, wide);
    const size_t shown = tide_rows_shown(trace->window_count, limit);
    for (size_t i = 0; i < shown; i++)
        add_window(page, trace, &trace->windows[i], wide);
    if (shown < trace->window_count)
        tide_page_more(page, trace->window_count - shown, "window");
}
