/* view/histogram_text.c - the heap's blocks by size and by life, as text. */
#include <stdio.h>
#include <string.h>

#include "model/detail.h"
#include "view/cells.h"
#include "view/report_text.h"
#include "view/run_words.h"

enum {
    TIDE_MARGIN = 2,
    TIDE_RANGE_COLUMNS = 22,
    TIDE_COUNT_COLUMNS = 15,
    TIDE_BYTES_COLUMNS = 12,
    TIDE_BAR_COLUMNS = 20,
};

/* One column of counts, with its bytes or without. */
struct series {
    const char *name;
    const struct tide_histogram *histogram;
};

/* "from 16 B", up to the next. */
static struct tide_number size_range(size_t place, enum tide_units units)
{
    struct tide_number words;
    const struct tide_number from =
        tide_number_bytes(tide_histogram_least(place), units);
    if (place < 2) {
        (void)snprintf(words.text, sizeof(words.text), "%.30s", from.text);
        return words;
    }
    (void)snprintf(words.text, sizeof(words.text), "from %.30s", from.text);
    return words;
}

static struct tide_number life_range(size_t place, enum tide_units units)
{
    static const char *const NAMES[] = {"ns", "us", "ms", "s"};
    /* Its birth and its death have the same time, as far as is known. */
    struct tide_number words = {"between two stamps"};
    if (place == 0)
        return words;
    double value = (double)tide_histogram_least(place);
    size_t unit = 0;
    (void)units;
    while (value >= 1000 && unit < 3) {
        value /= 1000;
        unit++;
    }
    (void)snprintf(words.text, sizeof(words.text), "%s%.3g %s",
                   place < 2 ? "" : "from ", value, NAMES[unit]);
    if (unit == 3)
        (void)snprintf(words.text, sizeof(words.text), "from %.30s",
                       tide_number_seconds(value).text);
    return words;
}

/* Lives that are known to a tenth of a microsecond. */
static struct tide_number exact_range(size_t place, enum tide_units units)
{
    return place ? life_range(place, units) : (struct tide_number){"too short to tell"};
}

static struct tide_number count_range(size_t place, enum tide_units units)
{
    struct tide_number words = {"none"};
    (void)units;
    if (place > 0)
        (void)snprintf(words.text, sizeof(words.text), "%s%.30s",
                       place < 2 ? "" : "from ",
                       tide_number_count(tide_histogram_least(place)).text);
    return words;
}

static bool is_empty(const struct series *series, size_t count, size_t place)
{
    for (size_t i = 0; i < count; i++) {
        if (series[i].histogram->calls[place])
            return false;
    }
    return true;
}

static uint64_t highest_of(const struct tide_histogram *histogram)
{
    uint64_t highest = 0;
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++)
        highest = histogram->calls[i] > highest ? histogram->calls[i] : highest;
    return highest;
}

/* What a table is made of. */
struct table {
    const char *what; /* the rows are ranges of */
    struct tide_number (*range)(size_t place, enum tide_units units);
    const struct series *series;
    size_t count; /* of them */
};

static struct tide_cells_row row_of(const struct table *table, size_t place,
                                    enum tide_units units)
{
    struct tide_cells_row row = {0};
    for (size_t i = 0; i < table->count; i++)
        row.texts[i] = tide_number_count(table->series[i].histogram->calls[place]);
    row.texts[table->count] =
        tide_number_bytes(table->series[0].histogram->bytes[place], units);
    return row;
}

static struct tide_cells measure(const struct table *table, enum tide_units units)
{
    struct tide_cells cells = {.left = TIDE_RANGE_COLUMNS};
    for (size_t i = 0; i < table->count; i++)
        tide_cells_add(&cells, table->series[i].name, TIDE_COUNT_COLUMNS);
    tide_cells_add(&cells, "bytes", TIDE_BYTES_COLUMNS);
    for (size_t place = 0; place < TIDE_HISTOGRAM_PLACES; place++) {
        if (is_empty(table->series, table->count, place))
            continue;
        const struct tide_cells_row row = row_of(table, place, units);
        const int range = TIDE_MARGIN + (int)strlen(table->range(place, units).text);
        tide_cells_measure(&cells, &row);
        cells.left = range > cells.left ? range : cells.left;
    }
    return cells;
}

static void add_row(struct tide_page *page, const struct table *table,
                    const struct tide_cells *cells, size_t place)
{
    const struct tide_histogram *const first = table->series[0].histogram;
    const struct tide_cells_row row = row_of(table, place, page->style->units);
    tide_page_tab(page, TIDE_MARGIN);
    tide_page_add(page, TIDE_INK_PLAIN, table->range(place, page->style->units).text);
    tide_cells_line(page, cells, &row);
    if (page->style->bars && tide_page_left(page) > TIDE_BAR_COLUMNS + 2) {
        tide_page_tab(page, page->column + 2);
        tide_page_bar(page, first->calls[place], highest_of(first), TIDE_BAR_COLUMNS);
    }
    tide_page_end(page);
}

static void add_table(struct tide_page *page, const struct table *table)
{
    const struct tide_cells cells = measure(table, page->style->units);
    tide_page_tab(page, TIDE_MARGIN);
    tide_page_add(page, TIDE_INK_DIM, table->what);
    tide_cells_head(page, &cells);
    tide_page_end(page);
    for (size_t place = 0; place < TIDE_HISTOGRAM_PLACES; place++)
        if (!is_empty(table->series, table->count, place))
            add_row(page, table, &cells, place);
}

/* All of a histogram in one line: "12 blocks of 3.4 KiB". */
static void add_sum(struct tide_text *out, const struct tide_histogram *histogram,
                    const struct tide_page *page)
{
    uint64_t calls = 0, bytes = 0;
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        calls += histogram->calls[i];
        bytes += histogram->bytes[i];
    }
    tide_words_count(out, calls, "block");
    tide_text_addf(out, ", %s", tide_number_bytes(bytes, page->style->units).text);
}

void tide_view_sizes(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_histograms *const all = model->histograms;
    const struct series series[] = {{"asked for", &all->requested},
                                    {"usable", &all->usable},
                                    {"freed", &all->freed}};
    struct tide_text detail = {0};
    add_sum(&detail, &all->requested, page);
    tide_text_add(&detail, "; usable ");
    add_sum(&detail, &all->usable, page);
    tide_view_part_of_run(&detail, model, true);
    tide_page_heading(page, "Sizes", detail.bytes ? detail.bytes : "");
    tide_text_release(&detail);
    add_table(page, &(struct table){"size", size_range, series, 3});
}

/* Was every event stamped: run --times exact? */
static bool has_exact_times(const struct tide_trace *trace)
{
    return trace->options && strstr(trace->options, " times=exact") != NULL;
}

void tide_view_lifetimes(struct tide_page *page, const struct tide_model *model)
{
    const struct tide_histograms *const all = model->histograms;
    const struct series time = {"blocks", &all->life_ns};
    const struct series allocs = {"blocks", &all->life_allocs};
    const struct series bytes = {"blocks", &all->life_bytes};
    struct tide_text detail = {0};
    add_sum(&detail, &all->life_ns, page);
    tide_text_add(&detail, " freed; ");
    tide_words_count(&detail, all->live_calls, "block");
    tide_text_addf(&detail, ", %s never",
                   tide_number_bytes(all->live_bytes, page->style->units).text);
    tide_view_part_of_run(&detail, model, true);
    tide_page_heading(page, "Lifetimes", detail.bytes ? detail.bytes : "");
    tide_text_release(&detail);
    const bool exact = has_exact_times(model->trace);
    add_table(page,
              &(struct table){"lived", exact ? exact_range : life_range, &time, 1});
    if (all->life_ns.calls[0] > 0 && !exact) {
        tide_page_tab(page, 2);
        tide_page_wrap(
            page, TIDE_INK_DIM,
            "Time is stamped every 85 events of a thread or so, of a single "
            "thread every 0.1 ms or 900 events, and every 10 ms at least. "
            "Lives are no more exact than that; those between two stamps are "
            "told apart below, or by 'tidemark run --times exact'.",
            2);
    }
    tide_page_skip(page);
    add_table(page, &(struct table){"blocks made meanwhile", count_range, &allocs, 1});
    tide_page_skip(page);
    add_table(page, &(struct table){"allocated meanwhile", size_range, &bytes, 1});
}
