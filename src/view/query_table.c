/* view/query_table.c - the answer of a query in columns: table, markdown.
 *
 * Caliper's layout: a cell is padded to the width of its column and followed by one
 * blank, so lines end in a blank; titles stand left, numbers right.
 */
#include <stdlib.h>
#include <string.h>

#include "view/query_columns.h"
#include "view/query_view.h"
#include "view/utf8.h"

enum {
    TIDE_QUERY_TABLE_WIDTH = 60, /* of a column, at most */
    TIDE_QUERY_TEXT_LEAST = 16,  /* that a narrow terminal leaves to a text */
};

static void add_blanks(struct tide_text *out, int count)
{
    for (int i = 0; i < count; i++)
        tide_text_add(out, " ");
}

/* TEXT in at most COLUMNS: what is too long keeps its ends around "~~". */
void tide_query_clamped(struct tide_text *out, const char *text, int columns)
{
    if (tide_columns(text) <= columns) {
        tide_text_add(out, text);
        return;
    }
    const int part = columns / 2 - 1;
    tide_text_add_bytes(out, text, tide_columns_prefix(text, part));
    tide_text_add(out, "~~");
    tide_text_add(out, text + tide_columns_suffix(text, part));
}

void tide_query_cell_add(struct tide_text *out, const char *text, int width, bool right)
{
    struct tide_text clamped = {0};
    tide_query_clamped(&clamped, text, width);
    const char *const shown = clamped.length ? clamped.bytes : "";
    const int blanks = width - tide_columns(shown);
    if (right)
        add_blanks(out, blanks);
    tide_text_add(out, shown);
    if (!right)
        add_blanks(out, blanks);
    tide_text_add(out, " ");
    tide_text_release(&clamped);
}

bool tide_query_right(struct tide_value value, bool tree)
{
    return value.type == TIDE_VALUE_INT || value.type == TIDE_VALUE_UINT ||
           value.type == TIDE_VALUE_REAL || (tree && value.type == TIDE_VALUE_ADDRESS);
}

/* WIDTH, at most MOST, but never less than LEAST. */
static int clamp(int width, int least, int most)
{
    const int cut = width > most ? most : width;
    return cut < least ? least : cut;
}

int *tide_query_widths(struct tide_query_view *view, int most)
{
    const struct tide_plan *const plan = view->plan;
    int *const widths = calloc(plan->column_count + 1, sizeof(*widths));
    for (size_t i = 0; widths && i < plan->column_count; i++) {
        widths[i] = tide_columns(tide_query_title(view, i));
        for (size_t row = 0; row < view->row_count; row++) {
            const struct tide_value value =
                tide_query_kept(view, row)[plan->columns[i].cell];
            const int width =
                value.type ? tide_columns(tide_query_safe(view, value)) : 0;
            widths[i] = width > widths[i] ? width : widths[i];
        }
        widths[i] = view->shown[i] ? clamp(widths[i], TIDE_QUERY_LEAST, most) : -1;
    }
    if (!widths)
        view->status = TIDE_ENOMEM;
    return widths;
}

/* --- Narrow terminals ------------------------------------------------------------------- */

static int sum_of(const int *widths, size_t count)
{
    int sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += widths[i] >= 0 ? widths[i] + 1 : 0;
    return sum;
}

/* The widest of texts that can be cut; COUNT: there is none. */
static size_t widest_text(const int *widths, const bool *numeric, size_t count)
{
    size_t widest = count;
    for (size_t i = 0; i < count; i++)
        if (!numeric[i] && widths[i] > TIDE_QUERY_TEXT_LEAST &&
            (widest == count || widths[i] > widths[widest]))
            widest = i;
    return widest;
}

/* How much the texts can be cut. */
static int slack_of(const int *widths, const bool *numeric, size_t count)
{
    int slack = 0;
    for (size_t i = 0; i < count; i++)
        if (!numeric[i] && widths[i] > TIDE_QUERY_TEXT_LEAST)
            slack += widths[i] - TIDE_QUERY_TEXT_LEAST;
    return slack;
}

void tide_query_fit(int *widths, const bool *numeric, size_t count, int room)
{
    if (room <= 0)
        return;
    int excess = sum_of(widths, count) - room;
    if (excess > slack_of(widths, numeric, count))
        excess = 0; /* there will be blocks */
    for (; excess > 0; excess--)
        widths[widest_text(widths, numeric, count)]--;
    for (size_t i = 0; i < count; i++)
        widths[i] = widths[i] > room - 1 ? room - 1 : widths[i];
}

size_t tide_query_block(const int *widths, size_t count, size_t from, int room)
{
    size_t to = from;
    int sum = 0;
    if (room <= 0)
        return count;
    for (; to < count; to++) {
        const int wanted = widths[to] >= 0 ? widths[to] + 1 : 0;
        if (sum > 0 && sum + wanted > room)
            break;
        sum += wanted;
    }
    return to;
}

bool tide_query_numeric(const struct tide_query_view *view, size_t column)
{
    bool any = false;
    for (size_t row = 0; row < view->row_count; row++) {
        const struct tide_value value =
            tide_query_kept(view, row)[view->plan->columns[column].cell];
        if (value.type && !tide_query_right(value, false))
            return false;
        any = any || value.type;
    }
    return any;
}

static void fit(struct tide_query_view *view, int *widths)
{
    const size_t count = view->plan->column_count;
    bool *const numeric = calloc(count + 1, sizeof(*numeric));
    if (!numeric) {
        view->status = TIDE_ENOMEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        numeric[i] = tide_query_numeric(view, i);
    tide_query_fit(widths, numeric, count, view->width);
    free(numeric);
}

/* --- The table -------------------------------------------------------------------------- */

static bool has_any(const struct tide_query_view *view, size_t row)
{
    for (size_t i = 0; i < view->plan->column_count; i++)
        if (view->shown[i] &&
            tide_query_kept(view, row)[view->plan->columns[i].cell].type)
            return true;
    return false;
}

void tide_query_globals(const struct tide_query_view *view)
{
    if (tide_query_flag(view, "print-globals"))
        tide_text_add(&view->out->text, "tidemark.version: " TIDE_VERSION "\n");
}

/* Columns FROM to TO of all rows. */
static void add_block(struct tide_query_view *view, const int *widths, size_t from,
                      size_t to)
{
    const struct tide_plan *const plan = view->plan;
    struct tide_text *const out = &view->out->text;
    for (size_t i = from; i < to; i++)
        if (widths[i] >= 0)
            tide_query_cell_add(out, tide_query_title(view, i), widths[i], false);
    tide_text_add(out, "\n");
    for (size_t row = 0; row < view->row_count && !view->status; row++) {
        if (!has_any(view, row))
            continue;
        for (size_t i = from; i < to; i++) {
            const struct tide_value value =
                tide_query_kept(view, row)[plan->columns[i].cell];
            if (widths[i] >= 0)
                tide_query_cell_add(out, tide_query_safe(view, value), widths[i],
                                    tide_query_right(value, false));
        }
        tide_text_add(out, "\n");
        if (!tide_out_rest(view->out))
            view->status = TIDE_EIO;
    }
}

/* Where a terminal is too narrow for all columns, those that do not fit stand below. */
static void table_end(struct tide_query_view *view)
{
    const size_t count = view->plan->column_count;
    const int most = tide_query_number(view, "column-width", TIDE_QUERY_TABLE_WIDTH);
    int *const widths = tide_query_widths(view, most);
    tide_query_globals(view);
    if (widths && view->width)
        fit(view, widths);
    for (size_t from = 0, to; widths && from < count && !view->status; from = to) {
        to = tide_query_block(widths, count, from, view->width);
        if (from > 0)
            tide_text_add(&view->out->text, "\n");
        add_block(view, widths, from, to);
    }
    free(widths);
}

static const char *const TABLE_KEYS[] = {"column-width", NULL};
static const char *const TABLE_FLAGS[] = {"print-globals", NULL};

const struct tide_query_format tide_query_table = {
    .name = "table",
    .words = "columns: (column-width=N)",
    .keys = TABLE_KEYS,
    .flags = TABLE_FLAGS,
    .keeps = true,
    .end = table_end,
};

/* --- Markdown --------------------------------------------------------------------------- */

/* A bar would end the cell; < would begin a tag. */
static void add_marked(struct tide_text *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("|\\`*_<>[]", *text))
            tide_text_add(out, "\\");
        tide_text_add_bytes(out, text, 1);
    }
}

/* CELLS, or, when they are NULL, the titles. */
static void add_marked_row(struct tide_query_view *view, const struct tide_value *cells)
{
    const struct tide_plan *const plan = view->plan;
    struct tide_text *const out = &view->out->text;
    for (size_t i = 0; i < plan->column_count; i++) {
        if (!view->shown[i])
            continue;
        tide_text_add(out, "| ");
        add_marked(out, cells ? tide_query_safe(view, cells[plan->columns[i].cell])
                              : tide_query_title(view, i));
        tide_text_add(out, " ");
    }
    tide_text_add(out, "|\n");
}

static void markdown_end(struct tide_query_view *view)
{
    struct tide_text *const out = &view->out->text;
    add_marked_row(view, NULL);
    for (size_t i = 0; i < view->plan->column_count; i++)
        if (view->shown[i])
            tide_text_add(out, tide_query_numeric(view, i) ? "| ---: " : "| --- ");
    tide_text_add(out, "|\n");
    for (size_t row = 0; row < view->row_count && !view->status; row++) {
        add_marked_row(view, tide_query_kept(view, row));
        if (!tide_out_rest(view->out))
            view->status = TIDE_EIO;
    }
}

const struct tide_query_format tide_query_markdown = {
    .name = "markdown",
    .words = "a table for documents",
    .keeps = true,
    .end = markdown_end,
};
