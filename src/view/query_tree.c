/* view/query_tree.c - the answer of a query as a tree of paths.
 *
 * Caliper's layout, with two differences: siblings stand in the order in which they first
 * come, and what belongs to no path is shown, under "(outside)".
 */
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/pairs.h"
#include "view/query_columns.h"
#include "view/query_view.h"
#include "view/utf8.h"

enum {
    TIDE_QUERY_TREE_WIDTH = 48, /* of a column, at most */
    TIDE_QUERY_PATH_LEAST = 24, /* that a narrow terminal leaves to the path */
};

struct branch {
    uint32_t text; /* of view->names */
    uint32_t level;
    size_t parent, first_child, last_child, next; /* + 1; 0: none */
    size_t first_row, last_row;                   /* + 1 */
};

struct tree {
    struct tide_query_view *view;
    struct branch *branches; /* owned; 0 is the root */
    size_t count, capacity;
    struct tide_pairs known;          /* parent and text of each branch but the root */
    size_t *next_row;                 /* owned, per row: + 1 */
    size_t path_cells[8], path_count; /* that make the path */
    int *widths;                      /* owned */
    int path_width;
    size_t from, to; /* columns that are being written */
};

/* The child of PARENT for TEXT, new or known. */
static size_t child_of(struct tree *tree, size_t parent, uint32_t text)
{
    uint32_t number;
    const enum tide_status status =
        tide_pairs_find(&tree->known, (struct tide_pair){parent, text}, &number);
    struct branch *const grown = status
                                     ? NULL
                                     : tide_grown(tree->branches, &tree->capacity,
                                                  (size_t)number + 2, sizeof(*grown));
    if (!grown) {
        tree->view->status = TIDE_ENOMEM;
        return parent;
    }
    tree->branches = grown;
    if ((size_t)number + 1 < tree->count)
        return (size_t)number + 1;
    grown[tree->count] = (struct branch){
        .text = text, .level = parent ? grown[parent].level + 1 : 0, .parent = parent};
    if (grown[parent].last_child)
        grown[grown[parent].last_child].next = tree->count;
    else
        grown[parent].first_child = tree->count;
    grown[parent].last_child = tree->count;
    return tree->count++;
}

/* The branch of PATH below BRANCH: outermost first. */
static size_t follow(struct tree *tree, size_t branch, uint64_t path)
{
    struct tide_names *const names = &tree->view->names;
    const uint32_t depth = tide_names_depth(names, path);
    uint32_t *const texts = calloc(depth + 1, sizeof(*texts));
    if (!texts) {
        tree->view->status = TIDE_ENOMEM;
        return branch;
    }
    for (uint32_t i = depth; i > 0; path = tide_names_parent(names, path))
        texts[--i] = tide_names_leaf(names, path);
    for (uint32_t i = 0; i < depth; i++)
        branch = child_of(tree, branch, texts[i]);
    free(texts);
    return branch;
}

static void add_row(struct tree *tree, size_t row)
{
    struct tide_query_view *const view = tree->view;
    const struct tide_value *const cells = tide_query_kept(view, row);
    size_t branch = 0;
    for (size_t i = 0; i < tree->path_count; i++) {
        const struct tide_value value = cells[tree->path_cells[i]];
        if (value.type == TIDE_VALUE_PATH)
            branch = follow(tree, branch, value.id);
        else if (value.type)
            branch =
                child_of(tree, branch,
                         tide_names_text(&view->names, tide_query_safe(view, value)));
    }
    if (!branch)
        branch = child_of(tree, 0, tide_names_text(&view->names, "(outside)"));
    struct branch *const here = &tree->branches[branch];
    if (here->last_row)
        tree->next_row[here->last_row - 1] = row + 1;
    else
        here->first_row = row + 1;
    here->last_row = row + 1;
}

/* --- Lines ------------------------------------------------------------------------------- */

static bool in_path(const struct tree *tree, size_t cell)
{
    for (size_t i = 0; i < tree->path_count; i++)
        if (tree->path_cells[i] == cell)
            return true;
    return false;
}

static void add_cells(const struct tree *tree, size_t row)
{
    struct tide_query_view *const view = tree->view;
    for (size_t i = tree->from; i < tree->to; i++) {
        const struct tide_value value =
            tide_query_kept(view, row)[view->plan->columns[i].cell];
        if (tree->widths[i] >= 0)
            tide_query_cell_add(&view->out->text, tide_query_safe(view, value),
                                tree->widths[i], tide_query_right(value, true));
    }
}

static void indent(struct tide_text *text, uint32_t level)
{
    for (uint32_t i = 0; i < level; i++)
        tide_text_add(text, "  ");
}

static void add_label(const struct tree *tree, const struct branch *branch)
{
    struct tide_query_view *const view = tree->view;
    const int room = tree->path_width - 2 * (int)branch->level;
    struct tide_text label = {0};
    if (room <= 0) {
        indent(&label, (uint32_t)(tree->path_width - 2) / 2);
        tide_text_add(&label, "..");
    } else {
        indent(&label, branch->level);
        tide_query_clamped(
            &label, tide_query_safe(view, tide_value_string(branch->text)), room);
    }
    tide_query_cell_add(&view->out->text, label.length ? label.bytes : "",
                        tree->path_width, false);
    tide_text_release(&label);
}

static void add_branch(const struct tree *tree, const struct branch *branch)
{
    struct tide_text *const out = &tree->view->out->text;
    add_label(tree, branch);
    if (branch->first_row && branch->first_row == branch->last_row) {
        add_cells(tree, branch->first_row - 1);
    } else {
        struct tide_text mark = {0};
        indent(&mark, branch->level);
        tide_text_add(&mark, " |-");
        for (size_t row = branch->first_row; row; row = tree->next_row[row - 1]) {
            tide_text_add(out, "\n");
            tide_query_cell_add(out, mark.length ? mark.bytes : "", tree->path_width,
                                false);
            add_cells(tree, row - 1);
        }
        tide_text_release(&mark);
    }
    tide_text_add(out, "\n");
}

/* The titles, and all lines, depth first, without recursion: down, else on, else up and on. */
static void add_branches(const struct tree *tree)
{
    const struct branch *const list = tree->branches;
    size_t at = list[0].first_child;
    if (tree->from > 0)
        tide_text_add(&tree->view->out->text, "\n");
    tide_query_cell_add(&tree->view->out->text, "Path", tree->path_width, false);
    for (size_t i = tree->from; i < tree->to; i++)
        if (tree->widths[i] >= 0)
            tide_query_cell_add(&tree->view->out->text, tide_query_title(tree->view, i),
                                tree->widths[i], false);
    tide_text_add(&tree->view->out->text, "\n");
    while (at && !tree->view->status) {
        add_branch(tree, &list[at]);
        if (!tide_out_rest(tree->view->out))
            tree->view->status = TIDE_EIO;
        if (list[at].first_child) {
            at = list[at].first_child;
            continue;
        }
        while (at && !list[at].next)
            at = list[at].parent;
        at = at ? list[at].next : 0;
    }
}

static void measure(struct tree *tree, int most)
{
    tree->path_width = TIDE_QUERY_LEAST;
    for (size_t i = 1; i < tree->count; i++) {
        const struct branch *const branch = &tree->branches[i];
        const uint32_t level = branch->level < 1000 ? branch->level : 1000;
        const int width =
            2 * (int)level +
            tide_columns(tide_query_safe(tree->view, tide_value_string(branch->text)));
        if (width > tree->path_width)
            tree->path_width = width;
    }
    if (tree->path_width > most)
        tree->path_width = most < TIDE_QUERY_LEAST ? TIDE_QUERY_LEAST : most;
    tree->widths = tide_query_widths(tree->view, most);
    for (size_t i = 0; tree->widths && i < tree->view->plan->column_count; i++)
        if (in_path(tree, tree->view->plan->columns[i].cell))
            tree->widths[i] = -1;
}

/* Keep to the terminal's width: the path gives way first. */
static void fit(struct tree *tree)
{
    const struct tide_query_view *const view = tree->view;
    const size_t count = view->plan->column_count;
    int others = 0;
    if (!view->width)
        return;
    for (size_t i = 0; i < count; i++)
        others += tree->widths[i] >= 0 ? tree->widths[i] + 1 : 0;
    const int left = view->width - 1 - others;
    const int least = left > TIDE_QUERY_PATH_LEAST ? left : TIDE_QUERY_PATH_LEAST;
    tree->path_width = tree->path_width > least ? least : tree->path_width;
    for (size_t i = 0; i < count; i++)
        if (tree->widths[i] > view->width - tree->path_width - 2)
            tree->widths[i] = view->width - tree->path_width - 2;
}

/* --- Which path --------------------------------------------------------------------------- */

static void choose_path(struct tree *tree)
{
    struct tide_query_view *const view = tree->view;
    const char *list = tide_query_argument(view, "path-attributes");
    while (list && *list && tree->path_count < 8) {
        const size_t length = strcspn(list, ",");
        char *const name = strndup(list, length);
        const size_t cell = name ? tide_query_cell_called(view->plan, name) : SIZE_MAX;
        free(name);
        if (cell != SIZE_MAX)
            tree->path_cells[tree->path_count++] = cell;
        list += length + (list[length] == ',');
    }
    const size_t path = tide_query_path_cell(view->plan);
    if (!tree->path_count && path != SIZE_MAX)
        tree->path_cells[tree->path_count++] = path;
}

static void tree_end(struct tide_query_view *view)
{
    struct tree tree = {.view = view, .count = 1};
    const int most = tide_query_number(view, "column-width", TIDE_QUERY_TREE_WIDTH);
    tree.branches = tide_grown(NULL, &tree.capacity, 1, sizeof(*tree.branches));
    tree.next_row = calloc(view->row_count + 1, sizeof(*tree.next_row));
    if (!tree.branches || !tree.next_row)
        view->status = TIDE_ENOMEM;
    choose_path(&tree);
    for (size_t i = 0; i < view->row_count && !view->status; i++)
        add_row(&tree, i);
    if (!view->status)
        measure(&tree, most);
    if (!view->status) {
        tide_query_globals(view);
        fit(&tree);
    }
    do {
        if (view->status)
            break;
        const int room = view->width ? view->width - tree.path_width - 1 : 0;
        tree.from = tree.to;
        tree.to =
            tide_query_block(tree.widths, view->plan->column_count, tree.from, room);
        add_branches(&tree);
    } while (tree.to < view->plan->column_count);
    tide_pairs_release(&tree.known);
    free(tree.branches);
    free(tree.next_row);
    free(tree.widths);
}

static const char *const TREE_KEYS[] = {"path-attributes", "column-width", NULL};
static const char *const TREE_FLAGS[] = {"print-globals", NULL};

const struct tide_query_format tide_query_tree = {
    .name = "tree",
    .words = "the regions, one inside the other: (\"path,attributes\", column-width=N)",
    .keys = TREE_KEYS,
    .flags = TREE_FLAGS,
    .places = TREE_KEYS,
    .keeps = true,
    .end = tree_end,
};
