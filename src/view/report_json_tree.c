/* view/report_json_tree.c - call trees in JSON, not deeper than readers of JSON go. */
#include "view/report_json_tree.h"

#include <stdlib.h>

/* What is written of a tree: the lines from FIRST to END, that are BASE deep and more. */
struct part {
    uint32_t tree;
    size_t first, end;
    uint32_t base;
};

/* Where the lines below line AT end. */
static size_t end_below(const struct tide_branches *branches, size_t at)
{
    size_t end = at + 1;
    while (end < branches->count &&
           branches->list[end].depth > branches->list[at].depth)
        end++;
    return end;
}

static bool has_calls(const struct tide_branches *branches, size_t first, size_t end)
{
    while (first < end && branches->list[first].kind != TIDE_BRANCH_CALLS)
        first++;
    return first < end;
}

static bool defer(struct tide_json_trees *trees, uint32_t tree, size_t branch)
{
    if (trees->deferred_count == trees->deferred_capacity) {
        const size_t wanted = trees->deferred_capacity * 2 + 8;
        struct tide_json_deferred *const list =
            reallocarray(trees->deferred, wanted, sizeof(*list));
        if (!list)
            return false;
        trees->deferred = list;
        trees->deferred_capacity = wanted;
    }
    trees->deferred[trees->deferred_count++] =
        (struct tide_json_deferred){tree, branch};
    return true;
}

/* Open the object of one row of the tree, with its children's bracket. */
static void open_row(struct tide_json *json, const struct tide_rows *rows,
                     uint32_t index)
{
    const struct tide_tree_row *const row = &rows->tree[index];
    const bool known = row->function < rows->function_count;
    tide_json_open_row(json, NULL);
    tide_json_values(json, rows, row->bytes, row->calls);
    tide_json_uint(json, "self_bytes", row->self_bytes);
    tide_json_uint(json, "self_calls", row->self_calls);
    tide_json_function(json, known ? &rows->functions[row->function] : NULL);
    tide_json_place(json, row->file, row->line);
}

static void close_rows(struct tide_json *json, uint32_t count)
{
    for (; count > 0; count--) {
        tide_json_close(json); /* children */
        tide_json_close(json); /* the row */
    }
}

/* The row of line AT; its children's bracket is open. */
static void add_row(struct tide_json *json, struct tide_json_trees *trees,
                    const struct part *part, size_t at)
{
    const struct tide_json_tree *const tree = &trees->trees[part->tree];
    const struct tide_branch *const branch = &tree->branches.list[at];
    const bool deepest = branch->depth - part->base + 1 == TIDE_JSON_LEVELS;
    open_row(json, tree->rows, branch->first);
    if (deepest && has_calls(&tree->branches, at + 1, end_below(&tree->branches, at))) {
        tide_json_uint(json, "deeper", trees->deferred_count);
        if (!defer(trees, part->tree, at))
            json->out->failed = true;
    }
    tide_json_open(json, "children", '[');
}

static void add_part(struct tide_json *json, struct tide_json_trees *trees,
                     const struct tide_report_json *report, struct part part)
{
    const struct tide_branch *const lines = trees->trees[part.tree].branches.list;
    uint32_t open = 0; /* rows whose children may come */
    for (size_t i = part.first; i < part.end; i++) {
        const uint32_t level = lines[i].depth - part.base;
        if (lines[i].kind != TIDE_BRANCH_CALLS || level >= TIDE_JSON_LEVELS)
            continue; /* in the row's own values, or deferred */
        close_rows(json, open - level);
        add_row(json, trees, &part, i);
        open = level + 1;
        tide_report_row_done(report, json->out);
    }
    close_rows(json, open);
}

void tide_json_tree(struct tide_json *json, struct tide_json_trees *trees,
                    const struct tide_report_json *report, const struct tide_rows *rows)
{
    const struct tide_branch_options options = {.lines = report->limit};
    const uint32_t number = trees->count;
    struct tide_json_tree *const tree = &trees->trees[number];
    if (tide_branches_build(rows, options, &tree->branches)) {
        json->out->failed = true;
        return;
    }
    tree->rows = rows;
    trees->count++;
    add_part(json, trees, report,
             (struct part){.tree = number, .end = tree->branches.count});
}

void tide_json_deeper(struct tide_json *json, struct tide_json_trees *trees,
                      const struct tide_report_json *report)
{
    if (trees->deferred_count == 0)
        return;
    tide_json_open(json, "deeper", '[');
    for (size_t i = 0; i < trees->deferred_count; i++) { /* it may become more */
        const struct tide_json_deferred row = trees->deferred[i];
        const struct tide_branches *const branches = &trees->trees[row.tree].branches;
        tide_json_open(json, NULL, '[');
        add_part(json, trees, report,
                 (struct part){.tree = row.tree,
                               .first = row.branch + 1,
                               .end = end_below(branches, row.branch),
                               .base = branches->list[row.branch].depth + 1});
        tide_json_close(json);
    }
    tide_json_close(json);
}

void tide_json_trees_release(struct tide_json_trees *trees)
{
    for (uint32_t i = 0; i < trees->count; i++)
        tide_branches_release(&trees->trees[i].branches);
    free(trees->deferred);
    *trees = (struct tide_json_trees){0};
}
