/* view/leak_text.c - what tells a leak from what is only kept, in words. */
#include "view/leak_text.h"

#include <string.h>

#include "model/leak.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/run_words.h"

/* Of several processes each has a life of its own. */
static void add_rhythm(struct tide_text *out, const struct tide_leak *leak,
                       uint64_t blocks)
{
    if (blocks == 1)
        tide_text_add(out, "one");
    else if (leak->processes > 1)
        tide_text_addf(out, "in %u processes", leak->processes);
    else if (leak->rhythm == TIDE_RHYTHM_SCATTERED)
        tide_text_add(out, "now and then");
    else if (leak->rhythm == TIDE_RHYTHM_STRETCH)
        tide_text_add(out, "in one stretch");
}

static void add_kind(struct tide_text *out, const struct tide_leak *leak,
                     uint64_t blocks)
{
    switch (leak->kind) {
    case TIDE_LEAK_GROWING:
        if (leak->ended)
            tide_text_addf(out, "grew until %s",
                           tide_number_seconds(leak->last_s).text);
        else
            tide_text_add(out, "grows with the run");
        break;
    case TIDE_LEAK_PER_THREAD:
        tide_text_add(out, "per thread, in ");
        tide_words_count(out, leak->threads, "thread");
        break;
    case TIDE_LEAK_ONCE:
        tide_text_add(out, "once");
        if (leak->processes > 1)
            tide_text_addf(out, " in each of %u processes", leak->processes);
        break;
    case TIDE_LEAK_SOME:
    default:
        add_rhythm(out, leak, blocks);
        break;
    }
}

void tide_words_leak(struct tide_text *out, const struct tide_leak *leak,
                     uint64_t blocks, enum tide_units units)
{
    const size_t before = out->length;
    add_kind(out, leak, blocks);
    const char *const comma = out->length > before ? ", " : "";
    const struct tide_number first = tide_number_seconds(leak->first_s);
    const struct tide_number last = tide_number_seconds(leak->last_s);
    const bool at_once = strcmp(first.text, last.text) == 0;
    if (blocks == 1) {
        tide_text_addf(out, "%sallocated at %s", comma, first.text);
        return;
    }
    if (leak->ended && !at_once)
        tide_text_addf(out, ", from %s on", first.text);
    else if (!leak->ended && at_once)
        tide_text_addf(out, "%sallocated at %s", comma, first.text);
    else if (!leak->ended)
        tide_text_addf(out, "%sallocated from %s to %s", comma, first.text, last.text);
    const bool grows = leak->kind == TIDE_LEAK_GROWING;
    if (leak->bytes_per_second > 0 && leak->bytes_per_second < 1e18 && grows)
        tide_text_addf(out, ", %s/s",
                       tide_number_bytes((uint64_t)leak->bytes_per_second, units).text);
    if (leak->bytes_per_event > 0)
        tide_text_addf(out, ", %s per event",
                       tide_number_bytes(leak->bytes_per_event, units).text);
}

void tide_view_suppressed(struct tide_page *page,
                          const struct tide_suppressions *suppressions)
{
    struct tide_text words = {0};
    bool built_in = false;
    if (suppressions->blocks == 0)
        return;
    for (size_t i = 0; i < suppressions->count; i++)
        built_in |= suppressions->list[i].built_in;
    tide_text_addf(&words, "Suppressed: %s in ",
                   tide_number_bytes(suppressions->bytes, page->style->units).text);
    tide_words_count(&words, suppressions->blocks, "block");
    tide_text_add(&words, built_in ? " that libraries keep (--no-suppressions)." : ".");
    tide_page_tab(page, page->brief ? 2 : 0);
    tide_page_wrap(page, TIDE_INK_DIM, words.bytes ? words.bytes : "",
                   page->brief ? 2 : 0);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}
