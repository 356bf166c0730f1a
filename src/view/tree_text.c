/* view/tree_text.c - a call tree as text: who called whom, and what each path holds. */
#include "view/report_text.h"
#include "view/run_words.h"
#include "view/runtime.h"
#include "view/tree_parts.h"

enum {
    TIDE_FOLD_PERCENT = 1,
    TIDE_TWINS_MOST = 256, /* lines: each is held against each */
};

static bool is_runtime(const struct tide_rows *rows, uint32_t row)
{
    const uint32_t function = rows->tree[row].function;
    return function < rows->function_count &&
           tide_is_runtime(&rows->functions[function]);
}

/* Does another line below BRANCH's caller end in the same function? */
static bool has_twin(const struct tide_tree_text *tree,
                     const struct tide_branch *branch)
{
    const struct tide_branches *const lines = &tree->branches;
    const struct tide_tree_row *const rows = tree->rows->tree;
    bool twin = false;
    for (size_t i = 0; i < lines->count && lines->count <= TIDE_TWINS_MOST; i++) {
        const struct tide_branch *const other = &lines->list[i];
        twin |= other != branch && other->kind == TIDE_BRANCH_CALLS &&
                other->parent == branch->parent &&
                rows[other->last].function == rows[branch->last].function;
    }
    return twin;
}

/* NULL without memory. */
static struct tide_chain *chain_of(const struct tide_tree_text *tree,
                                   const struct tide_branch *branch)
{
    const struct tide_branch *const lines = tree->branches.list;
    const struct tide_chain_request request = {
        .rows = tree->rows,
        .first = branch->first,
        .last = branch->last,
        .inside = branch->parent != TIDE_NO_BRANCH &&
                  is_runtime(tree->rows, lines[branch->parent].last),
        .folds = tree->folds,
        .tells = tree->up || has_twin(tree, branch), /* up: it is who allocates */
    };
    return tide_chain_new(&request, tree->page->style);
}

/* The words of a line; ends it. */
static void add_branch(const struct tide_tree_text *tree,
                       const struct tide_branch *branch)
{
    if (branch->kind == TIDE_BRANCH_MORE) {
        tide_page_more(tree->page, branch->more, "");
        return;
    }
    if (branch->kind == TIDE_BRANCH_ITSELF) {
        const bool rootless = branch->parent == TIDE_NO_BRANCH;
        tide_page_add(tree->page, TIDE_INK_DIM,
                      rootless   ? "[no stack]"
                      : tree->up ? "[no caller]"
                                 : "[allocated here]");
        tide_page_end(tree->page);
        return;
    }
    struct tide_chain *const chain = chain_of(tree, branch);
    if (chain) {
        tide_tree_chain(tree, branch, chain);
        tide_chain_free(chain);
    } else {
        tree->page->out->failed = true;
    }
    tide_page_end(tree->page);
}

static void add_line(const struct tide_tree_text *tree,
                     const struct tide_branch *branch)
{
    const struct tide_columns_values values = {
        .bytes = branch->bytes,
        .total = tree->rows->total_bytes,
        .count = branch->calls,
        .faint = branch->kind == TIDE_BRANCH_MORE,
    };
    tide_columns_line(tree->page, &tree->columns, &values);
    tide_tree_lead(tree, branch, true);
    add_branch(tree, branch);
}

static const char *title_of(const struct tide_model *model, enum tide_tree_part part)
{
    const bool whole = part == TIDE_TREE_DOWN || part == TIDE_TREE_UP;
    if (whole && !tide_view_knows_callers(model->trace))
        return "allocated in";
    static const char *const TITLES[] = {
        [TIDE_TREE_DOWN] = "call path",
        [TIDE_TREE_UP] = "allocated in, called from",
        [TIDE_TREE_CALLERS] = "called from",
        [TIDE_TREE_CALLEES] = "calls",
    };
    return TITLES[part];
}

/* No stack of ROWS has the function that was asked for. */
static void add_missing(struct tide_page *page, const struct tide_rows *rows)
{
    static const char *const WHERE[] = {
        [TIDE_METRIC_PEAK] = " at the peak",
        [TIDE_METRIC_LEAKS] = " of what is live",
        [TIDE_METRIC_TOTAL] = "",
        [TIDE_METRIC_CHURN] = " of temporary blocks",
    };
    struct tide_text words = {0};
    tide_text_addf(&words, "No stack%s has such a function", WHERE[rows->metric]);
    if (rows->missed_calls > 0) {
        tide_text_add(&words, "; --total has it in ");
        tide_words_count(&words, rows->missed_calls, "call");
    }
    tide_text_add(&words, ".");
    tide_page_tab(page, 2);
    if (words.bytes)
        tide_page_wrap(page, TIDE_INK_PLAIN, words.bytes, 2);
    page->out->failed |= words.failed;
    tide_text_release(&words);
}

void tide_view_tree(struct tide_page *page, const struct tide_model *model,
                    const struct tide_rows *rows, size_t limit)
{
    struct tide_tree_text tree = {
        .page = page,
        .rows = rows,
        .folds = limit > 0,
        .up = rows->part == TIDE_TREE_UP || rows->part == TIDE_TREE_CALLERS,
    };
    const struct tide_branch_options options = {
        .lines = limit,
        .percent = limit ? TIDE_FOLD_PERCENT : 0,
        .chains = true,
        .opens = page->brief && rows->sort != TIDE_SORT_NAME,
    };
    const struct tide_view_totals totals = tide_totals_of_rows(rows);
    if (rows->part != TIDE_TREE_CALLEES) /* these stand below the callers */
        tide_view_heading(page, model, &totals);
    if (tide_branches_build(rows, options, &tree.branches)) {
        page->out->failed = true;
        return;
    }
    tree.columns = tide_columns_for(rows, page->style);
    for (size_t i = 0; i < tree.branches.count; i++)
        tide_columns_measure(&tree.columns, page->style, tree.branches.list[i].bytes,
                             tree.branches.list[i].calls);
    tree.step = tide_tree_indent(&tree);
    if (tree.branches.count > 0) {
        tide_columns_head(page, &tree.columns);
        tide_page_add(page, TIDE_INK_DIM, title_of(model, rows->part));
        tide_page_end(page);
    } else if (rows->part == TIDE_TREE_CALLERS && totals.calls > 0) {
        add_missing(page, rows);
    }
    for (size_t i = 0; i < tree.branches.count; i++)
        add_line(&tree, &tree.branches.list[i]);
    tide_branches_release(&tree.branches);
}
