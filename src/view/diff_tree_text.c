/* view/diff_tree_text.c - what changed, by call path.
 *
 * A line is a chain of calls: it goes on while all that changed is below one call.  What
 * is not shown is summed up, so that the lines below a line add up to it.  Trees are as
 * deep as stacks are: nothing here recurses.
 */
#include "view/diff_view.h"
#include "view/names.h"
#include "view/report_text.h"
#include "view/utf8.h"

enum {
    TIDE_DIFF_FOLD_PERCENT = 1, /* of all changes: what weighs less is folded */
    TIDE_DIFF_STEP = 3,         /* columns of indentation */
};

struct tree {
    struct tide_page *page;
    const struct tide_diff *diff;
    struct tide_diff_columns columns;
    uint64_t least; /* weight of what is shown */
    size_t limit;   /* lines at most; 0: all */
    bool measure;   /* look at the numbers only */
};

/* --- Which lines --------------------------------------------------------------------- */

static const struct tide_diff_node *at(const struct tree *tree, uint32_t node)
{
    return &tree->diff->nodes[node];
}

static bool has_changes(const struct tree *tree, uint32_t node)
{
    return node && at(tree, node)->changes > 0;
}

static bool is_shown(const struct tree *tree, uint32_t node)
{
    return has_changes(tree, node) && at(tree, node)->weight >= tree->least &&
           (!tree->limit || at(tree, node)->fork <= tree->limit);
}

/* Is all that changed in NODE below one call of it, shown or not? */
static bool has_one_way(const struct tree *tree, uint32_t node)
{
    const uint32_t child = at(tree, node)->first_child;
    return node && tide_change_kind(&at(tree, node)->self) == TIDE_CHANGE_NONE &&
           has_changes(tree, child) && !has_changes(tree, at(tree, child)->next);
}

static bool passes_on(const struct tree *tree, uint32_t node)
{
    return has_one_way(tree, node) && is_shown(tree, at(tree, node)->first_child);
}

static uint32_t tail_of_all(const struct tree *tree, uint32_t head)
{
    while (has_one_way(tree, head))
        head = at(tree, head)->first_child;
    return head;
}

static uint32_t tail_of(const struct tree *tree, uint32_t head)
{
    while (passes_on(tree, head))
        head = at(tree, head)->first_child;
    return head;
}

static uint32_t head_of(const struct tree *tree, uint32_t tail)
{
    while (tail && passes_on(tree, at(tree, tail)->caller))
        tail = at(tree, tail)->caller;
    return tail;
}

/* --- Lines --------------------------------------------------------------------------- */

/* The lines that lead to the chain of HEAD, of very deep ones only those next to it.
 * LAST: what is written now is the last below its caller. */
static void add_lead(const struct tree *tree, uint32_t head, bool last)
{
    const int room = tree->page->style->width - tide_diff_columns_end(&tree->columns);
    bool ends[TIDE_WIDTH_MAX];
    int count = 0;
    const int most = room / 2 / TIDE_DIFF_STEP;
    bool here = last;
    for (uint32_t above = at(tree, head)->caller; above && count < most;) {
        ends[count++] = here;
        head = head_of(tree, above);
        here = !has_changes(tree, at(tree, head)->next);
        above = at(tree, head)->caller;
    }
    while (count-- > 0) {
        const enum tide_glyph bend = ends[count] ? TIDE_GLYPH_LAST : TIDE_GLYPH_FORK;
        const enum tide_glyph by = ends[count] ? TIDE_GLYPH_GAP : TIDE_GLYPH_TRUNK;
        tide_page_add(tree->page, TIDE_INK_DIM,
                      tide_glyph(tree->page->style, count == 0 ? bend : by));
    }
}

static const char *name_of(const struct tree *tree, uint32_t node)
{
    return tree->diff->functions[at(tree, node)->function].name;
}

/* "a > b > ", callers first, for all of the chain but its tail; of a long one the first
 * and those nearest to the tail. */
static void add_callers(const struct tree *tree, uint32_t head, uint32_t tail)
{
    struct tide_page *const page = tree->page;
    const char *const into = tide_glyph(page->style, TIDE_GLYPH_INTO);
    const char *const dots = tide_glyph(page->style, TIDE_GLYPH_ELLIPSIS);
    const int most = tide_page_left(page) / 2;
    struct tide_text near = {0};
    uint32_t from = tail;
    while (from != head) { /* outwards, as far as there is room */
        struct tide_text longer = {0};
        const uint32_t next = at(tree, from)->caller;
        tide_name_brief(&longer, name_of(tree, next), page->style);
        tide_text_addf(&longer, " %s %s", into, near.bytes ? near.bytes : "");
        const bool fits = longer.bytes && tide_columns(longer.bytes) <= most;
        if (!fits) {
            page->out->failed |= longer.failed;
            tide_text_release(&longer);
            break;
        }
        tide_text_release(&near);
        near = longer;
        from = next;
    }
    if (from != head) {
        struct tide_text gap = {0};
        tide_text_addf(&gap, "%s %s ", dots, into);
        tide_page_add(page, TIDE_INK_DIM, gap.bytes ? gap.bytes : "");
        tide_text_release(&gap);
    }
    if (near.bytes)
        tide_page_add(page, TIDE_INK_PLAIN, near.bytes);
    tide_text_release(&near);
}

static void add_chain(struct tree *tree, uint32_t head, uint32_t tail)
{
    struct tide_page *const page = tree->page;
    const struct tide_diff_node *const node = at(tree, tail);
    if (tree->measure) {
        tide_diff_columns_measure(&tree->columns, page->style, &node->all, NULL);
        return;
    }
    tide_diff_columns_line(page, &tree->columns, &node->all, NULL, false);
    add_lead(tree, head, !has_changes(tree, at(tree, head)->next));
    add_callers(tree, head, tail);
    tide_diff_function_words(page, name_of(tree, tail), node->file, node->line,
                             tide_page_left(page));
    tide_page_end(page);
}

/* What TAIL, which calls others that changed too, has itself. */
static void add_itself(struct tree *tree, uint32_t tail)
{
    const struct tide_change *const self = &at(tree, tail)->self;
    const uint32_t child = at(tree, tail)->first_child;
    if (tide_change_kind(self) == TIDE_CHANGE_NONE || !has_changes(tree, child))
        return;
    if (tree->measure) {
        tide_diff_columns_measure(&tree->columns, tree->page->style, self, NULL);
        return;
    }
    tide_diff_columns_line(tree->page, &tree->columns, self, NULL, false);
    add_lead(tree, child, false);
    tide_page_add(tree->page, TIDE_INK_DIM, "[allocated here]");
    tide_page_end(tree->page);
}

/* FIRST and all after it that changed are not shown. */
static void add_more(struct tree *tree, uint32_t first)
{
    struct tide_change sum = {{0}, {0}};
    uint64_t count = 0;
    for (uint32_t node = first; has_changes(tree, node); node = at(tree, node)->next) {
        tide_change_add(&sum, &at(tree, node)->all);
        count++;
    }
    if (count == 1) /* to say that there is one more takes a line too */
        add_chain(tree, first, tail_of_all(tree, first));
    if (count <= 1)
        return;
    if (tree->measure) {
        tide_diff_columns_measure(&tree->columns, tree->page->style, &sum, NULL);
        return;
    }
    tide_diff_columns_line(tree->page, &tree->columns, &sum, NULL, true);
    add_lead(tree, first, true);
    tide_page_more(tree->page, count, "");
}

/* The head that comes after HEAD and all that is below it; 0: none.  On the way up, what
 * is not shown of each caller is summed up. */
static uint32_t next_head(struct tree *tree, uint32_t head)
{
    const uint32_t tail = tail_of(tree, head);
    const uint32_t child = at(tree, tail)->first_child;
    if (is_shown(tree, child))
        return child;
    add_more(tree, child);
    for (uint32_t node = head; node;) {
        const uint32_t next = at(tree, node)->next;
        if (is_shown(tree, next))
            return next;
        add_more(tree, next);
        node = head_of(tree, at(tree, node)->caller);
    }
    return 0;
}

static void walk(struct tree *tree)
{
    const uint32_t first = at(tree, 0)->first_child;
    if (!is_shown(tree, first)) {
        add_more(tree, first);
        return;
    }
    for (uint32_t head = first; head; head = next_head(tree, head)) {
        const uint32_t tail = tail_of(tree, head);
        add_chain(tree, head, tail);
        add_itself(tree, tail);
    }
}

void tide_view_diff_tree(struct tide_page *page, const struct tide_diff_view *view)
{
    struct tree tree = {
        .page = page,
        .diff = view->diff,
        .columns = tide_diff_columns_for(view->diff),
        .limit = view->limit,
        .measure = true,
    };
    tide_diff_heading(page, view);
    if (view->diff->site_count == 0)
        return;
    if (view->limit)
        tree.least = view->diff->nodes[0].weight / 100 * TIDE_DIFF_FOLD_PERCENT;
    walk(&tree);
    tree.measure = false;
    tide_diff_columns_head(page, &tree.columns,
                           tide_diff_knows_callers(view) ? "call path"
                                                         : "allocated in");
    walk(&tree);
}
