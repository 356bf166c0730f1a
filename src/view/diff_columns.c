/* view/diff_columns.c - signed numbers, and tables of them. */
#include <stdio.h>
#include <string.h>

#include "view/diff_view.h"
#include "view/report_text.h"

enum {
    TIDE_MARGIN = 2,
    TIDE_GAP = 2,
    TIDE_PERCENT_COLUMNS = 8, /* "+123.4 %" */
    TIDE_PERCENT_MOST = 1000,
};

/* --- Numbers ------------------------------------------------------------------------- */

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static struct tide_number with_sign(int64_t value, struct tide_number number)
{
    struct tide_number result;
    if (value == 0)
        return number;
    (void)snprintf(result.text, sizeof(result.text), "%c%.38s", value < 0 ? '-' : '+',
                   number.text);
    return result;
}

struct tide_number tide_number_signed_bytes(int64_t bytes, enum tide_units units)
{
    return with_sign(bytes, tide_number_bytes(magnitude(bytes), units));
}

struct tide_number tide_number_signed_count(int64_t count)
{
    return with_sign(count, tide_number_count(magnitude(count)));
}

struct tide_number tide_number_change(const struct tide_change *change)
{
    struct tide_number result = {""};
    const enum tide_change_kind kind = tide_change_kind(change);
    const uint64_t base = change->bytes[TIDE_SIDE_BASE];
    const int64_t bytes = tide_change_bytes(change);
    if (kind == TIDE_CHANGE_NEW || kind == TIDE_CHANGE_GONE) {
        (void)snprintf(result.text, sizeof(result.text), "%s",
                       tide_change_word(change));
        return result;
    }
    if (bytes == 0 || base == 0) {
        (void)snprintf(result.text, sizeof(result.text), bytes ? "new" : "0.0 %%");
        return result;
    }
    const double percent = 100.0 * (double)magnitude(bytes) / (double)base;
    if (percent >= TIDE_PERCENT_MOST - 0.05)
        (void)snprintf(result.text, sizeof(result.text), ">999 %%");
    else if (percent < 0.05)
        (void)snprintf(result.text, sizeof(result.text), "%c<0.1 %%",
                       bytes < 0 ? '-' : '+');
    else
        (void)snprintf(result.text, sizeof(result.text), "%c%.1f %%",
                       bytes < 0 ? '-' : '+', percent);
    return result;
}

const char *tide_change_word(const struct tide_change *change)
{
    static const char *const WORDS[] = {
        [TIDE_CHANGE_NONE] = "same",
        [TIDE_CHANGE_MORE] = "changed",
        [TIDE_CHANGE_NEW] = "new",
        [TIDE_CHANGE_GONE] = "gone",
    };
    return WORDS[tide_change_kind(change)];
}

/* --- Columns ------------------------------------------------------------------------- */

static int wider(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
}

struct tide_diff_columns tide_diff_columns_for(const struct tide_diff *diff)
{
    const char *const counts = tide_metric_counts(diff->metric);
    return (struct tide_diff_columns){
        .bytes = 8, .count = wider(0, counts), .count_name = counts};
}

void tide_diff_columns_measure(struct tide_diff_columns *columns,
                               const struct tide_style *style,
                               const struct tide_change *change,
                               const struct tide_change *inclusive)
{
    columns->bytes =
        wider(columns->bytes,
              tide_number_signed_bytes(tide_change_bytes(change), style->units).text);
    columns->count =
        wider(columns->count, tide_number_signed_count(tide_change_calls(change)).text);
    if (inclusive)
        columns->inclusive = wider(
            columns->inclusive ? columns->inclusive : (int)strlen("inclusive"),
            tide_number_signed_bytes(tide_change_bytes(inclusive), style->units).text);
}

int tide_diff_columns_end(const struct tide_diff_columns *columns)
{
    const int inclusive = columns->inclusive ? columns->inclusive + TIDE_GAP : 0;
    return TIDE_MARGIN + columns->bytes + TIDE_GAP + TIDE_PERCENT_COLUMNS + TIDE_GAP +
           inclusive + columns->count + TIDE_GAP;
}

static void add_cell(struct tide_page *page, enum tide_ink ink, const char *text,
                     int width)
{
    tide_page_add_right(page, ink, text, width);
    tide_page_tab(page, page->column + TIDE_GAP);
}

void tide_diff_columns_head(struct tide_page *page,
                            const struct tide_diff_columns *columns, const char *words)
{
    tide_page_tab(page, TIDE_MARGIN);
    add_cell(page, TIDE_INK_DIM, columns->inclusive ? "self" : "bytes", columns->bytes);
    add_cell(page, TIDE_INK_DIM, "change", TIDE_PERCENT_COLUMNS);
    add_cell(page, TIDE_INK_DIM, columns->count_name, columns->count);
    if (columns->inclusive)
        add_cell(page, TIDE_INK_DIM, "inclusive", columns->inclusive);
    tide_page_add(page, TIDE_INK_DIM, words);
    tide_page_end(page);
}

/* What grew is warm; what is new and grew is hot. */
static enum tide_ink ink_of(const struct tide_change *change)
{
    if (tide_change_bytes(change) <= 0)
        return TIDE_INK_PLAIN;
    return tide_change_kind(change) == TIDE_CHANGE_NEW ? TIDE_INK_HOT : TIDE_INK_WARM;
}

/* Neither side has any of it: a percentage would say nothing. */
static bool has_nothing(const struct tide_change *change)
{
    return !change->bytes[TIDE_SIDE_BASE] && !change->bytes[TIDE_SIDE_NEW] &&
           !change->calls[TIDE_SIDE_BASE] && !change->calls[TIDE_SIDE_NEW];
}

void tide_diff_columns_line(struct tide_page *page,
                            const struct tide_diff_columns *columns,
                            const struct tide_change *change,
                            const struct tide_change *inclusive, bool faint)
{
    const enum tide_units units = page->style->units;
    const enum tide_ink ink = faint ? TIDE_INK_DIM : TIDE_INK_PLAIN;
    tide_page_tab(page, TIDE_MARGIN);
    add_cell(page, faint ? TIDE_INK_DIM : ink_of(change),
             tide_number_signed_bytes(tide_change_bytes(change), units).text,
             columns->bytes);
    add_cell(page, ink,
             faint || has_nothing(change) ? "" : tide_number_change(change).text,
             TIDE_PERCENT_COLUMNS);
    add_cell(page, ink, tide_number_signed_count(tide_change_calls(change)).text,
             columns->count);
    if (columns->inclusive)
        add_cell(
            page, ink,
            inclusive
                ? tide_number_signed_bytes(tide_change_bytes(inclusive), units).text
                : "",
            columns->inclusive);
}

void tide_diff_function_words(struct tide_page *page, const char *name,
                              const char *file, uint32_t line, int columns)
{
    const int wanted = tide_place_columns(file, line, page->style);
    const int place = wanted > columns * 2 / 5 ? columns * 2 / 5 : wanted;
    tide_page_function(page, TIDE_INK_BOLD, name,
                       place > 0 ? columns - place - 2 : columns);
    if (place > 0) {
        tide_page_add(page, TIDE_INK_PLAIN, "  ");
        tide_page_place(page, file, line, place);
    }
}
