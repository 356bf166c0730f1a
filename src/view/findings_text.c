/* view/findings_text.c - what a reader of the report should look at first. */
#include "view/names.h"
#include "view/report_text.h"

enum { TIDE_LEFT = 2 };

/* How many more there are, and what shows them. */
static void add_more_findings(struct tide_page *page, size_t count)
{
    struct tide_text words = {0};
    tide_text_addf(&words, "%s %zu more finding%s (-v)",
                   tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS), count,
                   count == 1 ? "" : "s");
    tide_page_add(page, TIDE_INK_DIM, words.bytes ? words.bytes : "");
    page->out->failed |= words.failed;
    tide_text_release(&words);
    tide_page_end(page);
}

void tide_view_findings(struct tide_page *page, const struct tide_findings *findings,
                        size_t limit)
{
    /* The last one is not shown for the line that tells of it: it may have seven. */
    const size_t shown = limit && limit < findings->count ? limit : findings->count;
    if (findings->count == 0)
        return;
    tide_page_heading(page, "Findings", "");
    for (size_t i = 0; i < shown; i++) {
        struct tide_text safe = {0};
        tide_name_safe(&safe, findings->list[i].text, page->style);
        tide_page_tab(page, TIDE_LEFT);
        tide_page_add(page, TIDE_INK_WARM, tide_glyph(page->style, TIDE_GLYPH_BULLET));
        tide_page_add(page, TIDE_INK_PLAIN, " ");
        tide_page_wrap(page, TIDE_INK_PLAIN, safe.bytes ? safe.bytes : "",
                       TIDE_LEFT + 2);
        page->out->failed |= safe.failed;
        tide_text_release(&safe);
    }
    if (shown < findings->count) {
        tide_page_tab(page, TIDE_LEFT);
        add_more_findings(page, findings->count - shown);
    }
}
