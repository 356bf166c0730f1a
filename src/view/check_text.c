/* view/check_text.c - verdicts in words, and as a table in Markdown. */
#include <string.h>

#include "view/check_view.h"
#include "view/names.h"
#include "view/run_words.h"

enum { TIDE_LEFT = 2, TIDE_VERDICT_COLUMNS = 6, TIDE_UNSURE_COLUMNS = 8 };

/* What is known of CHECK. */
static const char *verdict_of(const struct tide_verdict *check)
{
    return check->may_exceed ? "unsure" : check->passed ? "ok" : "FAIL";
}

static size_t count_unsure(const struct tide_verdicts *checks)
{
    size_t count = 0;
    for (size_t i = 0; i < checks->count; i++)
        count += checks->list[i].may_exceed;
    return count;
}

static const struct tide_style UNCUT = {.width = TIDE_WIDTH_MAX, .utf8 = true};

/* --- Pieces -------------------------------------------------------------------------- */

static const struct words {
    const char *name, *title, *noun;
} WORDS[] = {
    {"complete", "trace is complete", "loss"},
    {"baseline_complete", "baseline is complete", "loss"},
    {"peak", "peak", NULL},
    {"leak", "live at the end", NULL},
    {"total", "allocated", NULL},
    {"calls", "allocation calls", "call"},
    {"calls_in", "calls in ", "call"},
    {"growth_peak", "change in peak", NULL},
    {"growth_leak", "change in what is live at the end", NULL},
    {"growth_total", "change in what is allocated", NULL},
    {"growth_calls", "change in allocation calls", "call"},
    {"new_leaks", "stacks that leak now", "stack"},
};

static const struct words *words_of(const struct tide_verdict *check)
{
    static const struct words UNKNOWN = {"", "", NULL};
    static const struct words LIVE_THEN = {"leak", "live at that moment", NULL};
    if (check->stopped && strcmp(check->name, LIVE_THEN.name) == 0)
        return &LIVE_THEN;
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
        if (strcmp(WORDS[i].name, check->name) == 0)
            return &WORDS[i];
    return &UNKNOWN;
}

/* Is CHECK about the trace itself, without a limit? */
static bool is_about_trace(const struct tide_verdict *check)
{
    const char *const noun = words_of(check)->noun;
    return noun && strcmp(noun, "loss") == 0;
}

void tide_check_title(struct tide_text *out, const struct tide_verdict *check)
{
    tide_text_add(out, words_of(check)->title);
    if (check->function)
        tide_text_add(out, check->function);
}

/* UNITS, unless what is too much would read like what is allowed: "5.91 KiB, at most
 * 5.91 KiB". */
static enum tide_units telling(const struct tide_verdict *check, enum tide_units units)
{
    const struct tide_number measured = tide_number_bytes(check->measured, units);
    const struct tide_number limit = tide_number_bytes(check->limit, units);
    return check->passed || strcmp(measured.text, limit.text) != 0 ? units
                                                                   : TIDE_UNITS_BYTES;
}

static void add_value(struct tide_text *out, const struct tide_verdict *check,
                      uint64_t value, enum tide_units units)
{
    const char *const noun = words_of(check)->noun;
    if (check->in_bytes || !noun)
        tide_text_add(out, tide_number_bytes(value, telling(check, units)).text);
    else
        tide_words_count(out, value, noun);
}

void tide_check_measured(struct tide_text *out, const struct tide_verdict *check,
                         enum tide_units units)
{
    if (is_about_trace(check)) {
        tide_text_add(out, check->note ? check->note : "yes");
        return;
    }
    if (check->compared) {
        const char *const noun = words_of(check)->noun;
        tide_text_add(out, "from ");
        if (noun) /* it comes once, with the second number */
            tide_text_add(out, tide_number_count(check->base).text);
        else
            add_value(out, check, check->base, units);
        tide_text_add(out, " to ");
    }
    add_value(out, check, check->measured, units);
}

void tide_check_limit(struct tide_text *out, const struct tide_verdict *check,
                      enum tide_units units)
{
    if (is_about_trace(check))
        return;
    tide_text_add(out, "at most ");
    add_value(out, check, check->limit, units);
}

/* What it may have been at most, so that it does not read like the limit. */
static struct tide_number most(const struct tide_verdict *check, enum tide_units units)
{
    const uint64_t bytes = check->measured <= UINT64_MAX - check->margin
                               ? check->measured + check->margin
                               : UINT64_MAX;
    const struct tide_number words = tide_number_bytes(bytes, units);
    const struct tide_number limit = tide_number_bytes(check->limit, units);
    return strcmp(words.text, limit.text) != 0
               ? words
               : tide_number_bytes(bytes, TIDE_UNITS_BYTES);
}

void tide_check_note(struct tide_text *out, const struct tide_verdict *check,
                     enum tide_units units)
{
    if (check->note)
        tide_text_add(out, check->note);
    else if (check->may_exceed)
        tide_text_addf(out,
                       "it may have been up to %s: the order of events in different "
                       "threads is not always known",
                       most(check, units).text);
}

void tide_check_remarks(struct tide_text *out, const struct tide_verdict *check,
                        enum tide_units units)
{
    struct tide_text note = {0}, safe = {0}; /* it may have names of the trace in it */
    if (is_about_trace(check))
        return;
    tide_check_note(&note, check, units);
    if (note.length > 0) {
        tide_name_safe(&safe, note.bytes, &UNCUT);
        tide_text_addf(out, " (%s)", safe.bytes ? safe.bytes : "");
    }
    out->failed |= note.failed || safe.failed;
    tide_text_release(&note);
    tide_text_release(&safe);
    if (!check->suppressed)
        return;
    tide_text_add(out, " (");
    add_value(out, check, check->suppressed, units);
    tide_text_add(out, check->in_bytes ? " more suppressed)" : " suppressed)");
}

/* --- Words --------------------------------------------------------------------------- */

/* "  ok    peak: 9.23 MiB, at most 2.00 GiB (note)" */
static void add_line(struct tide_page *page, const struct tide_verdict *check,
                     int columns)
{
    struct tide_text raw = {0}, words = {0};
    tide_check_title(&raw, check);
    if (raw.bytes)
        tide_name_safe(&words, raw.bytes, page->style);
    tide_text_add(&words, ": ");
    tide_check_measured(&words, check, page->style->units);
    if (!is_about_trace(check)) {
        tide_text_add(&words, ", ");
        tide_check_limit(&words, check, page->style->units);
        tide_check_remarks(&words, check, page->style->units);
    }
    tide_page_tab(page, TIDE_LEFT);
    tide_page_add(page, check->passed ? TIDE_INK_DIM : TIDE_INK_ALARM,
                  verdict_of(check));
    tide_page_tab(page, TIDE_LEFT + columns);
    tide_page_wrap(page, check->passed ? TIDE_INK_PLAIN : TIDE_INK_BOLD,
                   words.bytes ? words.bytes : "", TIDE_LEFT + columns);
    page->out->failed |= raw.failed || words.failed;
    tide_text_release(&raw);
    tide_text_release(&words);
}

static bool has_failed(const struct tide_verdicts *checks, const char *name)
{
    for (size_t i = 0; i < checks->count; i++)
        if (!checks->list[i].passed && strcmp(checks->list[i].name, name) == 0)
            return true;
    return false;
}

/* Did a limit fail for want of a function? */
static bool has_unmet(const struct tide_verdicts *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        if (!checks->list[i].passed && checks->list[i].unmet)
            return true;
    return false;
}

/* What to look at next. */
static void add_advice(struct tide_text *out, const struct tide_check_view *view)
{
    const struct tide_verdicts *const checks = view->checks;
    const char *const path = view->model->trace->path;
    const char *const trace = strcmp(path, "/dev/fd/0") == 0 ? "-" : path;
    bool compared = has_failed(checks, "new_leaks");
    for (size_t i = 0; i < checks->count; i++)
        compared |= !checks->list[i].passed && checks->list[i].compared;
    const bool leaks =
        has_failed(checks, "new_leaks") || has_failed(checks, "growth_leak");
    if (compared && view->baseline)
        tide_text_addf(out, "tidemark diff %s%s %s",
                       leaks && !has_failed(checks, "growth_peak") ? "--leaks " : "",
                       view->baseline, trace);
    else if (has_failed(checks, "leak"))
        tide_text_addf(out, "tidemark report --leaks %s", trace);
    else if (has_failed(checks, "peak"))
        tide_text_addf(out, "tidemark report --peak %s", trace);
    else if (has_failed(checks, "total") || has_failed(checks, "calls") ||
             has_failed(checks, "calls_in"))
        tide_text_addf(out, "tidemark report --total %s%s",
                       has_unmet(checks) ? "--flat " : "", trace);
}

/* What failed may be meant: functions that are not there; or known: margins. */
static void add_way_out(struct tide_page *page, const struct tide_verdicts *checks)
{
    if (has_unmet(checks))
        tide_page_wrap(
            page, TIDE_INK_PLAIN,
            "With --allow-unknown, a limit on a function that never allocates "
            "passes.",
            0);
    for (size_t i = 0; i < checks->count; i++)
        if (checks->list[i].may_exceed && !checks->list[i].passed)
            tide_page_wrap(page, TIDE_INK_PLAIN,
                           "The limit lies within the margin of the peak, so it is not "
                           "known to be kept. With --allow-margin, it passes.",
                           0);
}

void tide_view_check(struct tide_page *page, const struct tide_check_view *view)
{
    const struct tide_verdicts *const checks = view->checks;
    const size_t unsure = count_unsure(checks);
    struct tide_text words = {0}, advice = {0}, safe = {0};
    for (size_t i = 0; i < checks->count; i++)
        add_line(page, &checks->list[i],
                 unsure ? TIDE_UNSURE_COLUMNS : TIDE_VERDICT_COLUMNS);
    tide_page_skip(page);
    if (checks->failed == 0)
        tide_text_addf(&words, "All limits are kept%s.",
                       unsure ? " by the peaks as measured, not by all of their margins"
                              : "");
    else
        tide_text_addf(&words, "%s of %s failed.",
                       tide_number_count(checks->failed).text,
                       tide_number_count(checks->count).text);
    add_advice(&advice, view);
    if (advice.length > 0) {
        tide_name_safe(&safe, advice.bytes, page->style);
        tide_text_addf(&words, " See: %s", safe.bytes ? safe.bytes : "");
    }
    tide_page_wrap(page, checks->failed ? TIDE_INK_ALARM : TIDE_INK_PLAIN,
                   words.bytes ? words.bytes : "", 0);
    add_way_out(page, checks);
    page->out->failed |= words.failed || advice.failed || safe.failed;
    tide_text_release(&words);
    tide_text_release(&advice);
    tide_text_release(&safe);
}

/* --- Markdown ------------------------------------------------------------------------ */

/* NAME as code in a cell: nothing in it means anything to Markdown. */
static void add_code(struct tide_text *out, const char *name)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, name, &UNCUT);
    tide_text_add(out, "`");
    for (const char *at = safe.bytes; at && *at; at++) {
        if (*at == '|')
            tide_text_add(out, "\\");
        tide_text_add_bytes(out, *at == '`' ? "'" : at, 1);
    }
    tide_text_add(out, "`");
    out->failed |= safe.failed;
    tide_text_release(&safe);
}

/* What is remarked on CHECK, where names in it mean nothing to Markdown. */
static void add_remarks(struct tide_text *out, const struct tide_verdict *check)
{
    struct tide_text words = {0};
    tide_check_remarks(&words, check, TIDE_UNITS_IEC);
    for (const char *at = words.bytes; at && *at; at++) {
        if (strchr("|*_`<>", *at))
            tide_text_add(out, "\\");
        tide_text_add_bytes(out, at, 1);
    }
    out->failed |= words.failed;
    tide_text_release(&words);
}

static bool only_unsure_failed(const struct tide_verdicts *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        if (!checks->list[i].passed && !checks->list[i].may_exceed)
            return false;
    return true;
}

void tide_view_check_markdown(struct tide_text *out, const struct tide_check_view *view)
{
    const struct tide_verdicts *const checks = view->checks;
    tide_text_addf(out, "### tidemark: %s\n\n",
                   checks->failed == 0          ? "within all limits"
                   : only_unsure_failed(checks) ? "perhaps over the limit"
                                                : "over the limit");
    add_code(out, view->model->trace->path);
    if (view->baseline) {
        tide_text_add(out, ", compared with ");
        add_code(out, view->baseline);
    }
    tide_text_add(out, "\n\n| | limit on | measured | allowed |\n|---|---|---|---|\n");
    for (size_t i = 0; i < checks->count; i++) {
        const struct tide_verdict *const check = &checks->list[i];
        tide_text_addf(out, "| %s | %s",
                       check->may_exceed ? "unsure"
                       : check->passed   ? "ok"
                                         : "**FAIL**",
                       words_of(check)->title);
        if (check->function)
            add_code(out, check->function);
        tide_text_add(out, " | ");
        tide_check_measured(out, check, TIDE_UNITS_IEC);
        add_remarks(out, check);
        tide_text_add(out, " | ");
        tide_check_limit(out, check, TIDE_UNITS_IEC);
        tide_text_add(out, " |\n");
    }
}
