/* view/timemory_text.c - calls by region and function, in the columns of timemory.
 *
 * The table is as wide as it is: others read it.  MIN and MAX are those of the calls,
 * and a free counts what it freed, whoever made it.
 */
#include <stdio.h>
#include <string.h>

#include "view/names.h"
#include "view/told_text.h"

#define TIDE_TITLE "MEMORY ALLOCATION FUNCTIONS, BY REGION"

/* One line of the table. */
struct line {
    struct tide_text label;
    uint64_t count;
    uint32_t depth;
    double values[5]; /* sum, mean, least, most, deviation, in units */
    double self;
};

struct table {
    struct tide_text *out;
    const struct tide_style *style;
    int label_width;
    double unit;
    const char *unit_name;
    bool measuring;
};

static void put_rule(const struct table *table, char between)
{
    static const int WIDTHS[] = {12, 12, 15, 12, 12, 12, 12, 12, 12, 12};
    tide_text_add(table->out, "|");
    for (int i = 0; i < table->label_width + 2; i++)
        tide_text_add(table->out, "-");
    for (size_t k = 0; k < sizeof(WIDTHS) / sizeof(WIDTHS[0]); k++) {
        tide_text_addf(table->out, "%c", between);
        for (int i = 0; i < WIDTHS[k]; i++)
            tide_text_add(table->out, "-");
    }
    tide_text_add(table->out, "|\n");
}

static void put_line(struct table *table, const struct line *line)
{
    const char *const label = line->label.bytes ? line->label.bytes : "";
    if (table->measuring) {
        if ((int)line->label.length > table->label_width)
            table->label_width = (int)line->label.length;
        return;
    }
    tide_text_addf(table->out, "| %-*s | %10llu | %10u | %-13s | %-10s |",
                   table->label_width, label, (unsigned long long)line->count,
                   line->depth, "malloc_gotcha", table->unit_name);
    for (size_t i = 0; i < 5; i++)
        tide_text_addf(table->out, " %10.3f |", line->values[i]);
    tide_text_addf(table->out, " %10.1f |\n", line->self);
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
        const struct tide_spread *const sizes = &call->sizes;
        struct line line = {
            .count = sizes->count,
            .depth = told->regions[region].depth,
            .values = {(double)sizes->sum / table->unit,
                       tide_spread_mean(sizes) / table->unit,
                       (double)sizes->least / table->unit,
                       (double)sizes->most / table->unit,
                       tide_spread_deviation(sizes) / table->unit},
            .self = sizes->sum ? 100 : 0,
        };
        begin_label(table, &line, tide_told_kind(call->kind));
        put_line(table, &line);
        tide_text_release(&line.label);
    }
}

static void put_region(struct table *table, const struct tide_told *told,
                       uint32_t region)
{
    if (region > 0) {
        struct line line = {.count = told->regions[region].visits,
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
    const int width = table->label_width + 2 + 10 + 15 + 9 * 12;
    const int before = (width - (int)strlen(TIDE_TITLE)) / 2;
    put_rule(table, '-');
    tide_text_addf(table->out, "|%*s%s%*s|\n", before, "", TIDE_TITLE,
                   width - before - (int)strlen(TIDE_TITLE), "");
    put_rule(table, '-');
    tide_text_addf(table->out, "| %*s%*s |", (table->label_width + 5) / 2, "LABEL",
                   table->label_width - (table->label_width + 5) / 2, "");
    tide_text_add(table->out, "   COUNT    |   DEPTH    |    METRIC     |   UNITS    |"
                              "    SUM     |    MEAN    |    MIN     |    MAX     |"
                              "   STDDEV   |   % SELF   |\n");
    put_rule(table, '|');
}

void tide_view_timemory(struct tide_page *page, const struct tide_told *told)
{
    const bool bytes = page->style->units == TIDE_UNITS_BYTES;
    struct table table = {
        .out = page->out,
        .style = page->style,
        .label_width = 12,
        .unit = bytes ? 1 : 1000,
        .unit_name = bytes ? "B" : "KB",
        .measuring = true,
    };
    put_region(&table, told, 0);
    table.measuring = false;
    put_head(&table);
    put_region(&table, told, 0);
    put_rule(&table, '-');
}
