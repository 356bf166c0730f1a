/* view/rank_text.c - what each MPI rank held by itself, as text, JSON and a table. */
#include "view/rank_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/cells.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

/* Ranks that differ less are said to be alike. */
static const double TIDE_RANKS_ALIKE = 1.1;

static const char *const MEASURES[TIDE_RANK_MEASURES] = {
    [TIDE_RANK_PEAK] = "peak",
    [TIDE_RANK_LIVE] = "live",
    [TIDE_RANK_ALLOCATED] = "allocated",
    [TIDE_RANK_CALLS] = "calls",
    [TIDE_RANK_RSS] = "rss",
};

static bool any_margin(const struct tide_ranks *ranks)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (ranks->list[i].peak_margin_bytes)
            return true;
    return false;
}

static size_t shown_of(const struct tide_ranks *ranks, size_t limit)
{
    return limit && limit < ranks->count ? limit : ranks->count;
}

/* --- Text -------------------------------------------------------------------------- */

static struct tide_number label_of(const struct tide_rank *rank)
{
    return rank->ranked ? tide_number_count(rank->rank) : (struct tide_number){"none"};
}

static struct tide_cells_row row_of(const struct tide_rank *rank, bool margins,
                                    enum tide_units units)
{
    struct tide_cells_row row = {0};
    size_t at = 0;
    row.texts[at++] = label_of(rank);
    row.texts[at++] = tide_number_bytes(rank->peak_bytes, units);
    if (margins)
        row.texts[at++] = tide_number_bytes(rank->peak_margin_bytes, units);
    row.texts[at++] = tide_number_bytes(rank->live_bytes, units);
    row.texts[at++] = tide_number_bytes(rank->allocated_bytes, units);
    row.texts[at++] = tide_number_count(rank->alloc_calls);
    if (rank->rss_peak_bytes)
        row.texts[at] = tide_number_bytes(rank->rss_peak_bytes, units);
    row.texts[++at] = tide_number_count(rank->threads);
    return row;
}

static struct tide_cells columns_of(const struct tide_page *page, bool margins)
{
    struct tide_cells cells = {0};
    tide_cells_add(&cells, "rank", 6);
    tide_cells_add(&cells, "own peak", 11);
    if (margins)
        tide_cells_add(&cells, tide_glyph(page->style, TIDE_GLYPH_ABOUT), 10);
    tide_cells_add(&cells, "at its end", 11);
    tide_cells_add(&cells, "allocated", 11);
    tide_cells_add(&cells, "calls", 8);
    tide_cells_add(&cells, "RSS peak", 10);
    tide_cells_add(&cells, "threads", 8);
    return cells;
}

/* The host of all RANKS; NULL: there are several, or it is not known. */
static const char *host_of(const struct tide_ranks *ranks)
{
    const char *const host = ranks->count ? ranks->list[0].trace->host : NULL;
    for (size_t i = 1; i < ranks->count && host; i++) {
        const char *const other = ranks->list[i].trace->host;
        if (!other || strcmp(other, host) != 0)
            return NULL;
    }
    return host;
}

/* "4 of MPI, on node7; live bytes of the heap" */
static void add_heading(struct tide_page *page, const struct tide_ranks *ranks)
{
    struct tide_text words = {0};
    const char *const host = host_of(ranks);
    tide_text_addf(&words, "%zu of MPI", ranks->ranked);
    if (host && *host) {
        tide_text_add(&words, ", on ");
        tide_name_safe(&words, host, page->style);
    }
    tide_text_add(&words, "; live bytes of the heap");
    tide_page_heading(page, "Each rank by itself", words.bytes ? words.bytes : "");
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* "Rank 3 holds 2.1x the median at its peak." */
static void add_spread(struct tide_page *page, const struct tide_ranks *ranks)
{
    static const char *const WORDS[TIDE_RANK_MEASURES][2] = {
        [TIDE_RANK_PEAK] = {"holds", "the median at its peak"},
        [TIDE_RANK_LIVE] = {"has", "the median left at its end"},
        [TIDE_RANK_ALLOCATED] = {"allocates", "the bytes of the median"},
        [TIDE_RANK_CALLS] = {"makes", "the calls of the median"},
        [TIDE_RANK_RSS] = {"has", "the RSS of the median"},
    };
    const struct tide_rank_spread *const widest = &ranks->widest;
    struct tide_text words = {0};
    if (widest->times >= TIDE_RANKS_ALIKE)
        tide_text_addf(&words, "Rank %" PRIu64 " %s %.*f%s %s.", widest->rank,
                       WORDS[widest->measure][0], widest->times < 10 ? 1 : 0,
                       widest->times, tide_glyph(page->style, TIDE_GLYPH_TIMES),
                       WORDS[widest->measure][1]);
    else if (widest->times > 0)
        tide_text_addf(&words, "No rank is more than %.0f %% above the median.",
                       100 * (TIDE_RANKS_ALIKE - 1));
    if (!any_margin(ranks))
        tide_text_addf(&words, "%sThe peak of each is exact.", words.length ? " " : "");
    tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes ? words.bytes : "", 0);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

/* When RANK ended, in seconds of the calendar: each trace has a clock of its own. */
static double end_of(const struct tide_rank *rank)
{
    return (double)rank->trace->start_unix_ns / 1e9 +
           tide_trace_seconds(rank->trace, rank->last->end_ticks);
}

static int by_end(const void *one, const void *other)
{
    const double a = end_of(one);
    const double b = end_of(other);
    return (a > b) - (a < b);
}

/* The ranks that broke off, the first one first; how many.  OUT has room for all. */
static size_t list_broken(const struct tide_ranks *ranks, struct tide_rank *out)
{
    size_t count = 0;
    for (size_t i = 0; i < ranks->ranked; i++)
        if (ranks->list[i].broke_off)
            out[count++] = ranks->list[i];
    if (count)
        qsort(out, count, sizeof(*out), by_end);
    return count;
}

/* "Rank 1 ended at 1.06 s, not seen to exit: killed, it seems.  After it: 0, 2." */
static void add_broken(struct tide_page *page, const struct tide_ranks *ranks)
{
    enum { TIDE_BROKEN_SHOWN = 8 };
    struct tide_rank *const list = calloc(ranks->ranked + 1, sizeof(*list));
    const size_t count = list ? list_broken(ranks, list) : 0;
    struct tide_text words = {.failed = !list};
    if (count > 0) {
        const struct tide_process *const first = list[0].last;
        tide_text_addf(
            &words, "Rank %" PRIu64 " broke off%s, at %s: ", list[0].rank,
            count > 1 ? " first" : "",
            tide_number_seconds(tide_trace_seconds(list[0].trace, first->end_ticks))
                .text);
        tide_words_end(&words, list[0].trace, first);
        tide_text_add(&words, first->status_known ? "."
                                                  : "; a signal killed it, "
                                                    "most likely.");
    }
    for (size_t i = 1; i < count && i <= TIDE_BROKEN_SHOWN; i++)
        tide_text_addf(&words, "%s%" PRIu64, i == 1 ? " After it: " : ", ",
                       list[i].rank);
    if (count > TIDE_BROKEN_SHOWN + 1)
        tide_text_addf(&words, " and %zu more", count - TIDE_BROKEN_SHOWN - 1);
    tide_text_add(&words, count > 1 ? "." : "");
    if (count > 0)
        tide_page_wrap(page, TIDE_INK_ALARM, words.bytes ? words.bytes : "", 0);
    page->out->failed |= words.failed;
    tide_text_release(&words);
    free(list);
}

void tide_view_ranks(struct tide_page *page, const struct tide_ranks *ranks,
                     size_t limit)
{
    const enum tide_units units = page->style->units;
    const bool margins = any_margin(ranks);
    const size_t shown = shown_of(ranks, limit);
    struct tide_cells cells = columns_of(page, margins);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = row_of(&ranks->list[i], margins, units);
        tide_cells_measure(&cells, &row);
    }
    add_heading(page, ranks);
    tide_cells_head(page, &cells);
    tide_page_end(page);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_cells_row row = row_of(&ranks->list[i], margins, units);
        tide_cells_line(page, &cells, &row);
        tide_page_end(page);
    }
    if (shown < ranks->count) {
        tide_page_tab(page, 2);
        tide_page_more(page, ranks->count - shown, "rank");
    }
    tide_page_skip(page);
    add_broken(page, ranks);
    add_spread(page, ranks);
}

/* --- Data -------------------------------------------------------------------------- */

static void add_end(struct tide_json *json, const struct tide_rank *rank)
{
    struct tide_text words = {0};
    if (rank->last)
        tide_words_end(&words, rank->trace, rank->last);
    tide_json_string(json, "end", words.bytes);
    tide_json_bool(json, "broke_off", rank->broke_off);
    tide_json_string(json, "trace", rank->trace->path);
    json->out->failed |= words.failed;
    tide_text_release(&words);
}

void tide_json_ranks(struct tide_json *json, const struct tide_ranks *ranks,
                     size_t limit)
{
    const size_t shown = shown_of(ranks, limit);
    tide_json_open(json, "ranks", '[');
    for (size_t i = 0; i < shown; i++) {
        const struct tide_rank *const rank = &ranks->list[i];
        tide_json_open_row(json, NULL);
        if (rank->ranked)
            tide_json_uint(json, "rank", rank->rank);
        else
            tide_json_null(json, "rank");
        tide_json_uint(json, "processes", rank->processes);
        tide_json_uint(json, "threads", rank->threads);
        tide_json_uint(json, "peak_bytes", rank->peak_bytes);
        tide_json_uint(json, "peak_uncertainty_bytes", rank->peak_margin_bytes);
        tide_json_number(json, "peak_time_s",
                         tide_trace_seconds(rank->trace, rank->peak_ticks));
        tide_json_uint(json, "live_bytes", rank->live_bytes);
        tide_json_uint(json, "live_blocks", rank->live_blocks);
        tide_json_uint(json, "allocated_bytes", rank->allocated_bytes);
        tide_json_uint(json, "alloc_calls", rank->alloc_calls);
        if (rank->rss_peak_bytes)
            tide_json_uint(json, "rss_peak_bytes", rank->rss_peak_bytes);
        else
            tide_json_null(json, "rss_peak_bytes");
        add_end(json, rank);
        tide_json_close(json);
    }
    tide_json_close(json);
    if (ranks->widest.times <= 0) {
        tide_json_null(json, "widest_spread");
        return;
    }
    tide_json_open(json, "widest_spread", '{');
    tide_json_uint(json, "rank", ranks->widest.rank);
    tide_json_string(json, "of", MEASURES[ranks->widest.measure]);
    tide_json_number(json, "times_median", ranks->widest.times);
    tide_json_close(json);
}

static void add_csv_end(struct tide_csv *csv, const struct tide_rank *rank)
{
    struct tide_text words = {0};
    if (rank->last)
        tide_words_end(&words, rank->trace, rank->last);
    tide_csv_uint(csv, rank->broke_off);
    tide_csv_text(csv, words.bytes);
    tide_csv_text(csv, rank->trace->path);
    csv->out->failed |= words.failed;
    tide_text_release(&words);
}

void tide_csv_ranks(struct tide_csv *csv, const struct tide_ranks *ranks, size_t limit)
{
    static const char *const NAMES[] = {"rank",
                                        "processes",
                                        "threads",
                                        "peak_bytes",
                                        "peak_uncertainty_bytes",
                                        "peak_time_s",
                                        "live_bytes",
                                        "live_blocks",
                                        "allocated_bytes",
                                        "alloc_calls",
                                        "rss_peak_bytes",
                                        "broke_off",
                                        "end",
                                        "trace",
                                        NULL};
    const size_t shown = shown_of(ranks, limit);
    tide_csv_head(csv, NAMES);
    for (size_t i = 0; i < shown; i++) {
        const struct tide_rank *const rank = &ranks->list[i];
        if (rank->ranked)
            tide_csv_uint(csv, rank->rank);
        else
            tide_csv_text(csv, NULL);
        tide_csv_uint(csv, rank->processes);
        tide_csv_uint(csv, rank->threads);
        tide_csv_uint(csv, rank->peak_bytes);
        tide_csv_uint(csv, rank->peak_margin_bytes);
        tide_csv_next(csv);
        tide_text_addf(csv->out, "%.9f",
                       tide_trace_seconds(rank->trace, rank->peak_ticks));
        tide_csv_uint(csv, rank->live_bytes);
        tide_csv_uint(csv, rank->live_blocks);
        tide_csv_uint(csv, rank->allocated_bytes);
        tide_csv_uint(csv, rank->alloc_calls);
        tide_csv_known(csv, rank->rss_peak_bytes);
        add_csv_end(csv, rank);
        tide_csv_end(csv);
    }
}
