/* view/diff_stacks_text.c - what changed, stack by stack, innermost first. */
#include "view/diff_view.h"
#include "view/report_text.h"

enum { TIDE_CALLS_SHOWN = 5 }; /* of a stack */

/* Calls of the stack that ends in NODE. */
static uint64_t depth_of(const struct tide_diff *diff, uint32_t node)
{
    uint64_t depth = 0;
    for (; node; node = diff->nodes[node].caller)
        depth++;
    return depth;
}

static void begin_caller(struct tide_page *page, int column)
{
    tide_page_tab(page, column);
    tide_page_add(page, TIDE_INK_DIM, tide_glyph(page->style, TIDE_GLYPH_FROM));
    tide_page_add(page, TIDE_INK_DIM, " ");
}

static void add_path(struct tide_page *page, const struct tide_diff *diff,
                     uint32_t node, int column, uint64_t most)
{
    const uint64_t depth = depth_of(diff, node);
    if (depth == 0) {
        tide_page_add(page, TIDE_INK_DIM, "[no stack]");
        tide_page_end(page);
    }
    for (uint64_t i = 0; i < depth && i < most; i++, node = diff->nodes[node].caller) {
        const struct tide_diff_node *const here = &diff->nodes[node];
        if (i > 0)
            begin_caller(page, column);
        tide_diff_function_words(page, diff->functions[here->function].name, here->file,
                                 here->line, tide_page_left(page));
        tide_page_end(page);
    }
    if (depth > most) {
        begin_caller(page, column);
        tide_page_more(page, depth - most, "");
    }
}

void tide_view_diff_stacks(struct tide_page *page, const struct tide_diff_view *view)
{
    const struct tide_diff *const diff = view->diff;
    const size_t shown =
        view->limit && view->limit < diff->site_count ? view->limit : diff->site_count;
    const uint64_t most = view->limit ? TIDE_CALLS_SHOWN : UINT64_MAX;
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
    for (size_t i = 0; i < shown; i++) {
        tide_diff_columns_line(page, &columns, &diff->nodes[diff->sites[i]].self, NULL,
                               false);
        add_path(page, diff, diff->sites[i], tide_diff_columns_end(&columns), most);
    }
    if (shown < diff->site_count) {
        tide_diff_columns_line(page, &columns, &rest, NULL, true);
        tide_page_more(page, diff->site_count - shown,
                       tide_diff_knows_callers(view) ? "stack" : "place");
    }
}
