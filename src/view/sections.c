/* view/sections.c - the pieces that all sections of the text report share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/process_ends.h"
#include "trace/format.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/utf8.h"

enum {
    TIDE_PLACE_LEAST = 4, /* columns of a file's end that say something */
    TIDE_PLACE_GAP = 2,
};

const char *tide_metric_counts(enum tide_metric metric)
{
    return metric == TIDE_METRIC_PEAK || metric == TIDE_METRIC_LEAKS ? "blocks"
                                                                     : "calls";
}

const char *tide_metric_name(enum tide_metric metric)
{
    static const char *const NAMES[] = {
        [TIDE_METRIC_PEAK] = "peak",
        [TIDE_METRIC_LEAKS] = "leaks",
        [TIDE_METRIC_TOTAL] = "total",
        [TIDE_METRIC_CHURN] = "churn",
    };
    return NAMES[metric];
}

struct tide_view_totals tide_totals_of_rows(const struct tide_rows *rows)
{
    return (struct tide_view_totals){
        rows->metric,      rows->space,       rows->total_bytes, rows->total_calls,
        rows->whole_bytes, rows->whole_calls, rows->filtered};
}

struct tide_view_totals tide_totals_of_groups(const struct tide_groups *groups)
{
    return (struct tide_view_totals){groups->metric,      groups->space,
                                     groups->total_bytes, groups->total_calls,
                                     groups->whole_bytes, groups->whole_calls,
                                     groups->filtered};
}

/* The moment that the model stopped at: "12.3 s", or "100 events (12.3 s)". */
static void add_until(struct tide_text *out, const struct tide_model *model)
{
    const struct tide_number seconds = tide_number_seconds(model->until_s);
    if (model->axis == TIDE_AXIS_EVENTS)
        tide_words_count(out, model->axis_until, "event");
    else if (model->axis == TIDE_AXIS_BYTES)
        tide_text_addf(out, "%s allocated",
                       tide_number_bytes(model->axis_until, TIDE_UNITS_IEC).text);
    if (model->axis == TIDE_AXIS_SECONDS)
        tide_text_add(out, seconds.text);
    else
        tide_text_addf(out, " (%s)", seconds.text);
}

/* Add the title of METRIC. */
static void add_title(struct tide_text *out, const struct tide_model *model,
                      enum tide_metric metric)
{
    static const char *const TITLES[] = {
        [TIDE_METRIC_PEAK] = "At the peak",
        [TIDE_METRIC_LEAKS] = "Live at the end",
        [TIDE_METRIC_TOTAL] = "Allocated",
        [TIDE_METRIC_CHURN] = "Temporary",
    };
    if (metric == TIDE_METRIC_LEAKS && model->stopped) {
        tide_text_add(out, "Live at ");
        if (model->moment)
            tide_text_addf(out, "%s (", model->moment);
        add_until(out, model);
        if (model->moment)
            tide_text_add(out, ")");
    } else {
        tide_text_add(out, TITLES[metric]);
    }
}

/* What a metric without any row says. */
static const char *nothing_of(const struct tide_model *model,
                              const struct tide_view_totals *totals)
{
    static const char *const WORDS[] = {
        [TIDE_METRIC_PEAK] = "nothing was ever live",
        [TIDE_METRIC_LEAKS] = "nothing: every block was freed",
        [TIDE_METRIC_TOTAL] = "nothing",
        [TIDE_METRIC_CHURN] =
            "nothing: no block was freed before its thread's next one",
    };
    if (!tide_model_records(model, totals->space))
        return totals->space == TIDE_IN_HEAP
                   ? "the heap was not recorded, as run --spaces asks"
                   : "mapped memory was not recorded, as run --spaces asks";
    if (totals->filtered)
        return "nothing matches the filters";
    if (model->summary[totals->space].alloc_calls == 0 && model->stopped)
        return "nothing by then";
    if (totals->whole_bytes > 0)
        return "nothing but what is suppressed";
    if (model->summary[totals->space].alloc_calls == 0 && totals->space == TIDE_IN_HEAP)
        return "nothing was recorded";
    if (model->summary[totals->space].alloc_calls == 0)
        return "the program mapped no private memory itself";
    return WORDS[totals->metric];
}

/* "1.20 MiB in 30 blocks" */
static void add_totals(struct tide_text *out, const struct tide_view_totals *totals,
                       enum tide_units units)
{
    const bool blocks =
        totals->metric == TIDE_METRIC_PEAK || totals->metric == TIDE_METRIC_LEAKS;
    tide_text_addf(out, "%s %s ", tide_number_bytes(totals->bytes, units).text,
                   blocks ? "in" : "by");
    tide_words_count(out, totals->calls, blocks ? "block" : "call");
    if (totals->filtered)
        tide_text_addf(out, ", of %s in all",
                       tide_number_bytes(totals->whole_bytes, units).text);
}

bool tide_view_knows_callers(const struct tide_trace *trace)
{
    static const char NONE[] = "unwind=none ";
    return !trace->options || strncmp(trace->options, NONE, sizeof(NONE) - 1) != 0;
}

bool tide_view_is_deepest(const struct tide_trace *trace)
{
    static const char DEPTH[] = " depth=";
    const char *const found = trace->options ? strstr(trace->options, DEPTH) : NULL;
    return found && strtoul(found + sizeof(DEPTH) - 1, NULL, 10) >= TIDE_STACK_MAX - 1;
}

void tide_view_part_of_run(struct tide_text *out, const struct tide_model *model,
                           bool until)
{
    if (model->from_s > 0)
        tide_text_addf(out, ", allocated after %s",
                       tide_number_seconds(model->from_s).text);
    if (until && model->stopped) {
        tide_text_add(out, ", up to ");
        add_until(out, model);
    }
}

/* How much it is, and of when. */
static void add_detail(struct tide_text *out, const struct tide_model *model,
                       const struct tide_view_totals *totals, enum tide_units units)
{
    if (totals->bytes == 0 && totals->calls == 0)
        tide_text_add(out, nothing_of(model, totals));
    else
        add_totals(out, totals, units);
    if (totals->metric == TIDE_METRIC_PEAK && totals->calls > 0)
        tide_text_addf(
            out, ", at %s",
            tide_number_seconds(model->summary[totals->space].peak_time_s).text);
    if (totals->metric == TIDE_METRIC_LEAKS && totals->calls > 0 && !model->stopped &&
        (tide_model_killed_by(model) || tide_model_held_bytes(model) > 0))
        tide_words_left(out, model);
}

void tide_view_heading(struct tide_page *page, const struct tide_model *model,
                       const struct tide_view_totals *totals)
{
    struct tide_text title = {0}, detail = {0}, safe = {0};
    add_title(&title, model, totals->metric);
    tide_name_safe(&safe, title.bytes ? title.bytes : "", page->style);
    add_detail(&detail, model, totals, page->style->units);
    tide_view_part_of_run(&detail, model, totals->metric != TIDE_METRIC_LEAKS);
    if (!model->stopped && model->until_s > model->duration_s)
        tide_text_addf(&detail, "; the run ended at %s, before %s",
                       tide_number_seconds(model->duration_s).text,
                       tide_number_seconds(model->until_s).text);
    if (totals->space != TIDE_IN_HEAP || page->both_spaces)
        tide_text_addf(&detail, " (%s)", tide_space_name(totals->space));
    tide_page_heading(page, safe.bytes ? safe.bytes : "",
                      detail.bytes ? detail.bytes : "");
    page->out->failed |= safe.failed || title.failed || detail.failed;
    tide_text_release(&safe);
    tide_text_release(&title);
    tide_text_release(&detail);
}

/* ":12", or nothing. */
static struct tide_number line_words(uint32_t line)
{
    struct tide_number words = {""};
    if (line > 0)
        (void)snprintf(words.text, sizeof(words.text), ":%u", line);
    return words;
}

int tide_place_columns(const char *file, uint32_t line, const struct tide_style *style)
{
    struct tide_text words = {0};
    if (!file || !*file)
        return 0;
    const char *const base = tide_name_base(file);
    tide_name_safe(&words, base, style);
    /* Without memory it is a guess; who writes the place there will say if he has none. */
    const int columns = words.failed  ? (int)strnlen(base, TIDE_WIDTH_MAX)
                        : words.bytes ? tide_columns(words.bytes)
                                      : 0;
    tide_text_release(&words);
    return columns + (int)strlen(line_words(line).text);
}

int tide_place_beside(const char *name, const char *file, uint32_t line, int columns,
                      const struct tide_style *style)
{
    const int wanted = tide_place_columns(file, line, style);
    const int least = (int)strlen(line_words(line).text);
    struct tide_text brief = {0};
    tide_name_brief(&brief, name, style);
    const int left =
        columns - TIDE_PLACE_GAP - (brief.bytes ? tide_columns(brief.bytes) : 0);
    tide_text_release(&brief);
    if (wanted == 0 || left >= wanted)
        return wanted;
    return left > least ? left : least;
}

void tide_page_place(struct tide_page *page, const char *file, uint32_t line,
                     int columns)
{
    const struct tide_number number = line_words(line);
    const char *const dots = tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS);
    const int room = columns - (int)strlen(number.text);
    const int tail = room - tide_columns(dots);
    struct tide_text safe = {0};
    if (!file || !*file || room < 0)
        return;
    tide_name_safe(&safe, tide_name_base(file), page->style);
    const char *const base = safe.bytes ? safe.bytes : "";
    if (tide_columns(base) <= room) {
        tide_page_add(page, TIDE_INK_DIM, base);
    } else if (tail >= TIDE_PLACE_LEAST) { /* files of one library begin alike */
        tide_page_add(page, TIDE_INK_DIM, dots);
        tide_page_add(page, TIDE_INK_DIM, base + tide_columns_suffix(base, tail));
    }
    tide_page_add(page, TIDE_INK_DIM, number.text);
    page->out->failed |= safe.failed;
    tide_text_release(&safe);
}

size_t tide_rows_shown(size_t count, size_t limit)
{
    return limit && limit < count && count - limit > 1 ? limit : count;
}

void tide_page_more(struct tide_page *page, uint64_t count, const char *noun)
{
    struct tide_text words = {0};
    tide_text_addf(&words, "%s %s more%s%s%s",
                   tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS),
                   tide_number_count(count).text, *noun ? " " : "", noun,
                   *noun && count != 1 ? "s" : "");
    tide_page_add(page, TIDE_INK_DIM, words.bytes ? words.bytes : "");
    page->out->failed |= words.failed;
    tide_text_release(&words);
    tide_page_end(page);
}
