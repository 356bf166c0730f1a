/* view/diff_stacks_text.c - what changed, stack by stack, innermost first. */
#include <stdlib.h>

#include "model/diff_places.h"
#include "view/diff_view.h"
#include "view/report_text.h"
#include "view/stack_text.h"

/* The stacks that end in NODE; PLACES are theirs. */
static void add_path(struct tide_page *page, const struct tide_diff_places *places,
                     uint32_t node, int column, bool folds)
{
    const struct tide_diff *const diff = places->diff;
    struct tide_stack_call *const calls = calloc(places->count + 1, sizeof(*calls));
    if (!calls) {
        page->out->failed = true;
        return;
    }
    for (size_t i = 0; i < places->count; i++, node = diff->nodes[node].caller)
        calls[i] = (struct tide_stack_call){
            .name = diff->functions[diff->nodes[node].function].name,
            .function = diff->nodes[node].function,
            .file = places->list[i].file,
            .line = places->list[i].line,
        };
    if (places->count == 0) {
        tide_page_add(page, TIDE_INK_DIM, "[no stack]");
        tide_page_end(page);
    }
    tide_page_stack(page, calls, places->count, column, folds);
    free(calls);
}

static void add_rows(struct tide_page *page, const struct tide_diff_view *view,
                     const struct tide_diff_columns *columns, size_t shown)
{
    const struct tide_diff *const diff = view->diff;
    struct tide_diff_places places;
    enum tide_status status = tide_diff_places_init(&places, diff);
    for (size_t i = 0; i < shown && !status; i++) {
        const uint32_t site = diff->sites[i];
        status = tide_diff_places_find(&places, site);
        tide_diff_columns_line(page, columns, &diff->nodes[site].self, NULL, false);
        add_path(page, &places, site, tide_diff_columns_end(columns), view->limit > 0);
    }
    page->out->failed |= status != TIDE_OK;
    tide_diff_places_release(&places);
}

void tide_view_diff_stacks(struct tide_page *page, const struct tide_diff_view *view)
{
    const struct tide_diff *const diff = view->diff;
    const size_t shown =
        view->limit && view->limit < diff->site_count ? view->limit : diff->site_count;
    struct tide_diff_columns columns = tide_diff_columns_for(diff);
    struct tide_change rest = {{0}, {0}};
    tide_diff_heading(page, view);
    if (diff->site_count == 0)
        return;
    for (size_t i = 0; i < diff->site_count; i++) {
        const struct tide_change *const self = &diff->nodes[diff->sites[i]].self;
        if (i >= shown)
            tide_change_add(&rest, self);
        tide_diff_columns_measure(&columns, page->style, i < shown ? self : &rest,
                                  NULL);
    }
    tide_diff_columns_head(page, &columns, "allocated in");
    add_rows(page, view, &columns, shown);
    if (shown < diff->site_count) {
        tide_diff_columns_line(page, &columns, &rest, NULL, true);
        tide_page_more(page, diff->site_count - shown,
                       tide_diff_knows_callers(view) ? "stack" : "place");
    }
}
