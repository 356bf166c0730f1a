/* view/caution_text.c - what weakens all numbers of a report, above them. */
#include <string.h>

#include "view/names.h"
#include "view/report_text.h"

enum { TIDE_LEFT = 2 };

void tide_view_alarm(struct tide_page *page, const char *words)
{
    struct tide_text safe = {0};
    tide_name_safe(&safe, words, page->style);
    tide_page_add(page, TIDE_INK_ALARM, "! ");
    tide_page_wrap(page, TIDE_INK_ALARM, safe.bytes ? safe.bytes : "", TIDE_LEFT);
    page->out->failed |= safe.failed;
    tide_text_release(&safe);
}

/* The problem as the reader words it, made a sentence. */
static void add_problem(struct tide_text *out, const char *problem)
{
    const bool verb =
        strncmp(problem, "ends", 4) == 0 || strncmp(problem, "is ", 3) == 0;
    const bool state = strncmp(problem, "damaged at", 10) == 0;
    tide_text_addf(out, "This trace%s%s. ",
                   verb    ? " "
                   : state ? " is "
                           : ": ",
                   problem);
}

/* Nothing is wrong with TRACE but that its file was cut. */
static bool is_only_cut(const struct tide_trace *trace)
{
    return !trace->complete &&
           (trace->problem[0] == '\0' || strncmp(trace->problem, "ends", 4) == 0);
}

/* "This trace is cut off: the first 4.89 KiB of its 12.3 KiB could be read, up to 0.53 s of
 * the run." */
static void add_cut(struct tide_text *out, const struct tide_trace *trace,
                    enum tide_units units)
{
    const struct tide_number good = tide_number_bytes(trace->good_bytes, units);
    const struct tide_number whole = tide_number_bytes(trace->file_bytes, units);
    const double seconds = tide_trace_seconds(trace, trace->end_ticks);
    if (trace->good_bytes < trace->file_bytes)
        tide_text_addf(out,
                       "This trace is cut off: the first %s of its %s could be read, "
                       "up to %s of the run. ",
                       good.text, whole.text, tide_number_seconds(seconds).text);
    else
        tide_text_addf(out, "This trace is cut off after %s, at %s of the run. ",
                       good.text, tide_number_seconds(seconds).text);
    tide_text_add(out, "What came later is missing, and how the run ended is not "
                       "known: \"at the end\" is that moment.");
}

void tide_view_warning(struct tide_page *page, const struct tide_trace *trace)
{
    if (trace->complete && trace->problem[0] == '\0')
        return;
    struct tide_text words = {0};
    if (is_only_cut(trace)) {
        add_cut(&words, trace, page->style->units);
    } else {
        add_problem(&words, trace->problem[0] ? trace->problem : "ends early");
        tide_text_add(&words,
                      trace->complete
                          ? "What was lost is not in these numbers."
                          : "The numbers hold for what was recorded up to there.");
    }
    if (words.bytes)
        tide_view_alarm(page, words.bytes);
    if (words.failed)
        page->out->failed = true;
    tide_text_release(&words);
}

/* How many cautions from the first of LIST on, of COUNT, are of one kind. */
static size_t count_alike(const struct tide_caution *list, size_t count)
{
    size_t alike = 1;
    while (alike < count && strcmp(list[alike].kind, list->kind) == 0)
        alike++;
    return alike;
}

/* Of a kind with many, the first few stand for all: the rest is said at the end. */
void tide_view_cautions(struct tide_page *page, const struct tide_cautions *cautions)
{
    enum { TIDE_ALIKE_SHOWN = 4 };
    const size_t before = page->out->length;
    size_t alike;
    for (size_t i = 0; i < cautions->count; i += alike) {
        const struct tide_caution *const list = &cautions->list[i];
        alike = count_alike(list, cautions->count - i);
        const size_t shown = tide_rows_shown(alike, TIDE_ALIKE_SHOWN);
        for (size_t k = 0; k < shown && strcmp(list->kind, TIDE_CAUTION_CUT) != 0; k++)
            tide_view_alarm(page, list[k].text);
        if (shown < alike)
            tide_page_more(page, alike - shown, "such caution");
    }
    if (page->out->length > before)
        tide_page_skip(page);
}
