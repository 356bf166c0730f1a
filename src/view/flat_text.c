/* view/flat_text.c - functions as a table: what each holds itself, and with its callees.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/columns.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/source.h"
#include "view/utf8.h"

enum {
    TIDE_MODULE_LEAST = 6,    /* columns of "module" */
    TIDE_FUNCTION_LEAST = 8,  /* of "function" */
    TIDE_PLACE_LEAST = 10,    /* of "fi…c:1234" */
    TIDE_FUNCTION_MOST = 100, /* one long name does not push all modules away */
};

/* What is needed to print one line. */
struct flat_text {
    struct tide_page *page;
    const struct tide_rows *rows;
    size_t shown;
    struct tide_columns columns;
    int function, module; /* widths of the words at the right; 0: no such column */
};

static const struct tide_function *function_of(const struct flat_text *flat, size_t i)
{
    return &flat->rows->functions[flat->rows->flat[i].function];
}

static int columns_of(const char *name, const struct tide_style *style)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, name, style);
    const int columns = safe.bytes ? tide_columns(safe.bytes) : 0;
    tide_text_release(&safe);
    return columns;
}

/* Function and module are as wide as the widest name in them, if there is room; the
 * module has a third of it at most. */
static void divide(struct flat_text *flat)
{
    const struct tide_style *const style = flat->page->style;
    const int room = style->width - tide_columns_end(&flat->columns);
    int widest = 0, needed = TIDE_FUNCTION_LEAST;
    for (size_t i = 0; i < flat->shown; i++) {
        const struct tide_function *const function = function_of(flat, i);
        const struct tide_flat_row *const row = &flat->rows->flat[i];
        const int module = columns_of(tide_name_base(function->module), style);
        const int place = tide_place_columns(row->file, row->line, style);
        const int name =
            columns_of(function->name, style) + (place > 0 ? place + 2 : 0);
        widest = module > widest ? module : widest;
        needed = name > needed ? name : needed;
    }
    if (widest > 0 && widest < TIDE_MODULE_LEAST)
        widest = TIDE_MODULE_LEAST;
    flat->module = widest > room / 3 ? room / 3 : widest;
    flat->function = room - (flat->module > 0 ? flat->module + 2 : 0);
    if (needed > TIDE_FUNCTION_MOST)
        needed = TIDE_FUNCTION_MOST;
    if (needed < flat->function)
        flat->function = needed;
}

/* Sums over all callees lead when they are what rows are sorted by; else what functions
 * allocate themselves, of which main and its like have nothing. */
static bool leads_inclusive(const struct flat_text *flat)
{
    return flat->rows->sort == TIDE_SORT_INCLUSIVE;
}

static void measure(struct flat_text *flat)
{
    flat->columns = tide_columns_for(flat->rows, flat->page->style);
    flat->columns.bytes_name = leads_inclusive(flat) ? "inclusive" : "self";
    flat->columns.self_name = leads_inclusive(flat) ? "self" : "inclusive";
    flat->columns.bytes = flat->columns.self = 9; /* "inclusive" */
    for (size_t i = 0; i < flat->shown; i++)
        tide_columns_measure(&flat->columns, flat->page->style,
                             flat->rows->flat[i].inclusive_bytes,
                             flat->rows->flat[i].inclusive_calls);
    divide(flat);
}

static void add_head(const struct flat_text *flat)
{
    struct tide_page *const page = flat->page;
    tide_columns_head(page, &flat->columns);
    tide_page_add(page, TIDE_INK_DIM, "function");
    if (flat->module > 0) {
        tide_page_tab(page, tide_columns_end(&flat->columns) + flat->function + 2);
        tide_page_add(page, TIDE_INK_DIM, "module");
    }
    tide_page_end(page);
}

/* Where the file has no room the line still tells functions of one name apart. */
static void add_numbered(const struct flat_text *flat, const char *name,
                         uint32_t number)
{
    char line[16] = "";
    if (number > 0)
        (void)snprintf(line, sizeof(line), " :%" PRIu32, number);
    tide_page_function(flat->page, TIDE_INK_BOLD, name,
                       flat->function - (int)strlen(line));
    tide_page_add(flat->page, TIDE_INK_DIM, line);
}

static void add_words(const struct flat_text *flat, size_t i)
{
    struct tide_page *const page = flat->page;
    const struct tide_function *const function = function_of(flat, i);
    const struct tide_flat_row *const row = &flat->rows->flat[i];
    const int start = page->column;
    const int wanted = tide_place_columns(row->file, row->line, page->style);
    const int beside = flat->function - columns_of(function->name, page->style) - 2;
    const int third = flat->function / 3;
    if (wanted > 0 && wanted > third && wanted > beside) {
        add_numbered(flat, function->name, row->line);
    } else {
        const int place = wanted + (wanted > 0 ? 2 : 0);
        tide_page_function(page, TIDE_INK_BOLD, function->name, flat->function - place);
        tide_page_add(page, TIDE_INK_PLAIN, place > 0 ? "  " : "");
        tide_page_place(page, row->file, row->line, wanted);
    }
    if (flat->module > 0) {
        tide_page_tab(page, start + flat->function + 2);
        tide_page_name(page, TIDE_INK_DIM, tide_name_base(function->module),
                       flat->module);
    }
    tide_page_end(page);
}

static void add_row(const struct flat_text *flat, size_t i)
{
    const struct tide_flat_row *const row = &flat->rows->flat[i];
    struct tide_columns_values values = {
        .bytes = row->self_bytes,
        .total = flat->rows->total_bytes,
        .self = row->inclusive_bytes,
        .count = row->self_calls,
    };
    if (leads_inclusive(flat)) {
        values.bytes = row->inclusive_bytes;
        values.self = row->self_bytes;
        values.count = row->inclusive_calls;
    }
    tide_columns_line(flat->page, &flat->columns, &values);
    add_words(flat, i);
    tide_page_source(flat->page, row->file, row->line);
}

void tide_view_flat(struct tide_page *page, const struct tide_model *model,
                    const struct tide_rows *rows, size_t limit)
{
    const size_t shown = tide_rows_shown(rows->flat_count, limit);
    struct flat_text flat = {.page = page, .rows = rows, .shown = shown};
    const struct tide_view_totals totals = tide_totals_of_rows(rows);
    tide_view_heading(page, model, &totals);
    if (shown == 0)
        return;
    measure(&flat);
    add_head(&flat);
    for (size_t i = 0; i < shown; i++)
        add_row(&flat, i);
    if (shown < rows->flat_count) {
        tide_page_tab(page, tide_columns_end(&flat.columns));
        tide_page_more(page, rows->flat_count - shown, "function");
    }
}
