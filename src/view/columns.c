/* view/columns.c - the columns of numbers at the left of every table of the report. */
#include "view/columns.h"

#include <string.h>

#include "view/report_text.h"

enum {
    TIDE_MARGIN = 2,
    TIDE_GAP = 2,
    TIDE_SHARE_COLUMNS = 7, /* ">99.9 %", "100.0 %" */
    TIDE_BAR_FROM = 96,     /* narrower pages have no bars */
};

static int wider(int width, const char *text)
{
    const int length = (int)strlen(text);
    return length > width ? length : width;
}

struct tide_columns tide_columns_for(const struct tide_rows *rows,
                                     const struct tide_style *style)
{
    return tide_columns_of(rows->metric, style);
}

struct tide_columns tide_columns_of(enum tide_metric metric,
                                    const struct tide_style *style)
{
    const char *const counts = tide_metric_counts(metric);
    const int bar = style->width >= 140 ? 14 : 8;
    return (struct tide_columns){
        .bytes = 8,
        .count = wider(0, counts),
        .bar = style->bars && style->width >= TIDE_BAR_FROM ? bar : 0,
        .count_name = counts,
        .bytes_name = "bytes",
        .self_name = "",
    };
}

void tide_columns_measure(struct tide_columns *columns, const struct tide_style *style,
                          uint64_t bytes, uint64_t count)
{
    const struct tide_number size = tide_number_bytes(bytes, style->units);
    columns->bytes = wider(columns->bytes, size.text);
    columns->count = wider(columns->count, tide_number_count(count).text);
    if (columns->self > 0)
        columns->self = columns->bytes;
}

int tide_columns_end(const struct tide_columns *columns)
{
    int end = TIDE_MARGIN + columns->bytes + TIDE_GAP + TIDE_SHARE_COLUMNS + TIDE_GAP +
              columns->count + TIDE_GAP;
    if (columns->self > 0)
        end += columns->self + TIDE_GAP;
    if (columns->bar > 0)
        end += columns->bar + TIDE_GAP;
    return end;
}

static void gap(struct tide_page *page)
{
    tide_page_tab(page, page->column + TIDE_GAP);
}

void tide_columns_head(struct tide_page *page, const struct tide_columns *columns)
{
    tide_page_tab(page, TIDE_MARGIN);
    tide_page_add_right(page, TIDE_INK_DIM, columns->bytes_name, columns->bytes);
    gap(page);
    tide_page_add_right(page, TIDE_INK_DIM, "share", TIDE_SHARE_COLUMNS);
    gap(page);
    if (columns->bar > 0) {
        tide_page_tab(page, page->column + columns->bar);
        gap(page);
    }
    if (columns->self > 0) {
        tide_page_add_right(page, TIDE_INK_DIM, columns->self_name, columns->self);
        gap(page);
    }
    tide_page_add_right(page, TIDE_INK_DIM, columns->count_name, columns->count);
    gap(page);
}

void tide_columns_line(struct tide_page *page, const struct tide_columns *columns,
                       const struct tide_columns_values *values)
{
    const enum tide_units units = page->style->units;
    const enum tide_ink ink = values->faint ? TIDE_INK_DIM : TIDE_INK_PLAIN;
    const enum tide_ink heat =
        values->faint ? TIDE_INK_DIM : tide_ink_share(values->bytes, values->total);
    tide_page_tab(page, TIDE_MARGIN);
    tide_page_add_right(page, ink, tide_number_bytes(values->bytes, units).text,
                        columns->bytes);
    gap(page);
    tide_page_add_right(page, heat,
                        tide_number_share(values->bytes, values->total).text,
                        TIDE_SHARE_COLUMNS);
    gap(page);
    if (columns->bar > 0) {
        tide_page_bar(page, values->faint ? 0 : values->bytes, values->total,
                      columns->bar);
        gap(page);
    }
    if (columns->self > 0) {
        tide_page_add_right(page, ink, tide_number_bytes(values->self, units).text,
                            columns->self);
        gap(page);
    }
    tide_page_add_right(page, ink, tide_number_count(values->count).text,
                        columns->count);
    gap(page);
}
