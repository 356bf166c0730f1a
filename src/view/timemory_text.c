/* view/timemory_text.c - calls by region and function, in the columns of timemory.
 *
 * Others read the table, so it is as wide as it is, unless a terminal or COLUMNS says how
 * wide lines may be: then columns are left out until it fits.  MIN and MAX are those of the calls,
 * and a free counts what it freed, whoever made it.
 */
#include <stdio.h>
#include <string.h>

#include "view/names.h"
#include "view/query_columns.h"
#include "view/timemory_units.h"
#include "view/told_text.h"
#include "view/utf8.h"

#define TIDE_TITLE "MEMORY ALLOCATION FUNCTIONS, BY REGION"

/* One line of the table. */
struct line {
    struct tide_text label;
    uint64_t count;
    uint32_t depth;
    double values[5]; /* sum, mean, least, most, deviation, in units */
    double self;
};

/* The columns behind the label, in timemory's order. */
enum timemory_column {
    TIDE_TIMEMORY_COUNT,
    TIDE_TIMEMORY_DEPTH,
    TIDE_TIMEMORY_METRIC,
    TIDE_TIMEMORY_UNITS,
    TIDE_TIMEMORY_SUM,
    TIDE_TIMEMORY_MEAN,
    TIDE_TIMEMORY_MIN,
    TIDE_TIMEMORY_MAX,
    TIDE_TIMEMORY_STDDEV,
    TIDE_TIMEMORY_SELF,
    TIDE_TIMEMORY_COLUMNS,
};

static const struct {
    const char *title;
    int width; /* without a blank at each side */
} COLUMNS[TIDE_TIMEMORY_COLUMNS] = {
    [TIDE_TIMEMORY_COUNT] = {"  COUNT   ", 10},
    [TIDE_TIMEMORY_DEPTH] = {"  DEPTH   ", 10},
    [TIDE_TIMEMORY_METRIC] = {"   METRIC    ", 13},
    [TIDE_TIMEMORY_UNITS] = {"  UNITS   ", 10},
    [TIDE_TIMEMORY_SUM] = {"   SUM    ", 10},
    [TIDE_TIMEMORY_MEAN] = {"   MEAN   ", 10},
    [TIDE_TIMEMORY_MIN] = {"   MIN    ", 10},
    [TIDE_TIMEMORY_MAX] = {"   MAX    ", 10},
    [TIDE_TIMEMORY_STDDEV] = {"  STDDEV  ", 10},
    [TIDE_TIMEMORY_SELF] = {"  % SELF  ", 10},
};

/* What a narrow terminal does without, the first first. */
static const enum timemory_column NARROWING[] = {
    TIDE_TIMEMORY_METRIC, TIDE_TIMEMORY_DEPTH, TIDE_TIMEMORY_STDDEV, TIDE_TIMEMORY_MIN,
    TIDE_TIMEMORY_SELF,   TIDE_TIMEMORY_UNITS, TIDE_TIMEMORY_MAX,    TIDE_TIMEMORY_MEAN,
};

enum { TIDE_LABEL_LEAST = 12 };

struct table {
    struct tide_text *out;
    const struct tide_style *style;
    int label_width;
    bool hidden[TIDE_TIMEMORY_COLUMNS];
    struct tide_timemory_unit unit;
    bool measuring;
};

/* Of all columns but the label's, with the lines between them. */
static int columns_behind(const struct table *table)
{
    int width = 0;
    for (int i = 0; i < TIDE_TIMEMORY_COLUMNS; i++)
        width += table->hidden[i] ? 0 : COLUMNS[i].width + 3;
    return width;
}

/* Leave out what a terminal has no room for; what is left is cut in the label. */
static void leave_out(struct table *table)
{
    const size_t steps = sizeof(NARROWING) / sizeof(NARROWING[0]);
    const int room = table->style->width - 4;
    if (!table->style->fitted)
        return;
    for (size_t i = 0; i < steps; i++) {
        if (table->label_width + columns_behind(table) <= room)
            return;
        table->hidden[NARROWING[i]] = true;
    }
    const int left = room - columns_behind(table);
    table->label_width = left > TIDE_LABEL_LEAST ? left : TIDE_LABEL_LEAST;
}

static void put_dashes(const struct table *table, int count)
{
    for (int i = 0; i < count; i++)
        tide_text_add(table->out, "-");
}

static void put_rule(const struct table *table, char between)
{
    tide_text_add(table->out, "|");
    put_dashes(table, table->label_width + 2);
    for (int i = 0; i < TIDE_TIMEMORY_COLUMNS; i++) {
        if (table->hidden[i])
            continue;
        tide_text_addf(table->out, "%c", between);
        put_dashes(table, COLUMNS[i].width + 2);
    }
    tide_text_add(table->out, "|\n");
}

static void put_cell(const struct table *table, const struct line *line, int column)
{
    struct tide_text *const out = table->out;
    if (table->hidden[column])
        return;
    if (column == TIDE_TIMEMORY_COUNT)
        tide_text_addf(out, " %10llu |", (unsigned long long)line->count);
    else if (column == TIDE_TIMEMORY_DEPTH)
        tide_text_addf(out, " %10u |", line->depth);
    else if (column == TIDE_TIMEMORY_METRIC)
        tide_text_addf(out, " %-13s |", "malloc_gotcha");
    else if (column == TIDE_TIMEMORY_UNITS)
        tide_text_addf(out, " %-10s |", table->unit.name);
    else if (column == TIDE_TIMEMORY_SELF)
        tide_text_addf(out, " %10.1f |", line->self);
    else
        tide_text_addf(out, " %10.3f |", line->values[column - TIDE_TIMEMORY_SUM]);
}

static void put_line(struct table *table, const struct line *line)
{
    const char *const label = line->label.bytes ? line->label.bytes : "";
    const int columns = tide_columns(label);
    struct tide_text cut = {0};
    if (table->measuring) {
        if (columns > table->label_width)
            table->label_width = columns;
        return;
    }
    tide_query_clamped(&cut, label, table->label_width);
    const char *const shown = cut.bytes ? cut.bytes : "";
    tide_text_addf(table->out, "| %s%*s |", shown,
                   table->label_width - tide_columns(shown), "");
    for (int i = 0; i < TIDE_TIMEMORY_COLUMNS; i++)
        put_cell(table, line, i);
    tide_text_add(table->out, "\n");
    table->out->failed |= cut.failed;
    tide_text_release(&cut);
}

static void begin_label(struct table *table, struct line *line, const char *name)
{
    tide_text_add(&line->label, ">>> ");
    for (uint32_t i = 0; i < line->depth; i++)
        tide_text_add(&line->label, "|_");
    tide_name_safe(&line->label, name, table->style);
}

/* The first call of REGION, or of one after it. */
static size_t first_call(const struct tide_told *told, uint32_t region)
{
    size_t from = 0, to = told->call_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (told->calls[middle].region < region)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void put_calls(struct table *table, const struct tide_told *told,
                      uint32_t region)
{
    for (size_t i = first_call(told, region);
         i < told->call_count && told->calls[i].region == region; i++) {
        const struct tide_told_call *const call = &told->calls[i];
        const struct tide_spread *const sizes = tide_told_counted(told, call);
        if (!sizes->count)
            continue;
        struct line line = {
            .count = sizes->count,
            .depth = told->regions[region].depth,
            .values = {(double)sizes->sum / table->unit.bytes,
                       tide_spread_mean(sizes) / table->unit.bytes,
                       (double)sizes->least / table->unit.bytes,
                       (double)sizes->most / table->unit.bytes,
                       tide_spread_deviation(sizes) / table->unit.bytes},
            .self = sizes->sum ? 100 : 0,
        };
        begin_label(table, &line, tide_told_kind(call->kind));
        put_line(table, &line);
        tide_text_release(&line.label);
    }
}

/* Something in REGION, or in one inside it, was counted. */
static bool is_counted(const struct tide_told *told, uint32_t region)
{
    bool counted = !told->has_windows || told->regions[region].window_visits;
    for (size_t i = first_call(told, region);
         !counted && i < told->call_count && told->calls[i].region == region; i++)
        counted = told->calls[i].in_windows.count > 0;
    for (uint32_t i = told->regions[region].inside; i && !counted;
         i = told->regions[i].next)
        counted = is_counted(told, i);
    return counted;
}

/* How often REGION was entered in what is counted; once, when that began inside it. */
static uint64_t visits_of(const struct tide_told_region *region, bool windows)
{
    if (!windows)
        return region->visits;
    return region->window_visits ? region->window_visits : 1;
}

static void put_region(struct table *table, const struct tide_told *told,
                       uint32_t region)
{
    if (region > 0 && !is_counted(told, region))
        return;
    if (region > 0) {
        struct line line = {.count =
                                visits_of(&told->regions[region], told->has_windows),
                            .depth = told->regions[region].depth - 1};
        begin_label(table, &line, told->regions[region].name);
        put_line(table, &line);
        tide_text_release(&line.label);
    }
    put_calls(table, told, region);
    for (uint32_t i = told->regions[region].inside; i; i = told->regions[i].next)
        put_region(table, told, i);
}

static void put_head(const struct table *table)
{
    const int width = table->label_width + 2 + columns_behind(table);
    char title[64];
    const bool unit = table->hidden[TIDE_TIMEMORY_UNITS];
    const int length = snprintf(title, sizeof(title), "%s%s%s", TIDE_TITLE,
                                unit ? ", IN " : "", unit ? table->unit.name : "");
    const int before = (width - length) / 2;
    put_rule(table, '-');
    tide_text_addf(table->out, "|%*s%s%*s|\n", before, "", title,
                   width - before - length, "");
    put_rule(table, '-');
    tide_text_addf(table->out, "| %*s%*s |", (table->label_width + 5) / 2, "LABEL",
                   table->label_width - (table->label_width + 5) / 2, "");
    for (int i = 0; i < TIDE_TIMEMORY_COLUMNS; i++)
        if (!table->hidden[i])
            tide_text_addf(table->out, " %s |", COLUMNS[i].title);
    tide_text_add(table->out, "\n");
    put_rule(table, '|');
}

void tide_view_timemory(struct tide_page *page, const struct tide_told *told)
{
    const bool bytes = page->style->units == TIDE_UNITS_BYTES;
    struct tide_timemory_unit unit = {"KB", 1e3};
    if (told->memory_units)
        (void)tide_timemory_unit(told->memory_units, &unit);
    if (bytes)
        unit = (struct tide_timemory_unit){"B", 1};
    struct table table = {
        .out = page->out,
        .style = page->style,
        .label_width = TIDE_LABEL_LEAST,
        .unit = unit,
        .measuring = true,
    };
    put_region(&table, told, 0);
    table.measuring = false;
    leave_out(&table);
    put_head(&table);
    put_region(&table, told, 0);
    put_rule(&table, '-');
    if (!is_counted(told, 0))
        tide_text_add(page->out, "Nothing was counted: nothing was allocated or freed "
                                 "while mallocp was on.\n");
}
