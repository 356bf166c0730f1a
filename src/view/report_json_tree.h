/* view/report_json_tree.h - call trees in JSON, not deeper than readers of JSON go.
 *
 * For: view/.  A tree is as deep as its deepest stack, and each level is an object in an
 * array.  jq 1.6 takes 256 of these and of the keys between them, so 84 levels, Python's
 * json module some 500.  The children of a row that
 * is TIDE_JSON_LEVELS deep stand in an array of their own, behind the tree.
 */
#ifndef TIDE_VIEW_REPORT_JSON_TREE_H
#define TIDE_VIEW_REPORT_JSON_TREE_H

#include "view/branches.h"
#include "view/report_json.h"

enum { TIDE_JSON_LEVELS = 80 };

/* A tree that was begun, and the rows of it whose children are to come. */
struct tide_json_tree {
    const struct tide_rows *rows;
    struct tide_branches branches;
};

struct tide_json_deferred {
    uint32_t tree;
    size_t branch;
};

/* Trees of one document.  Zeros to start with. */
struct tide_json_trees {
    struct tide_json_tree trees[2]; /* rows, and the callees of a sandwich */
    uint32_t count;
    struct tide_json_deferred *deferred; /* owned */
    size_t deferred_count, deferred_capacity;
};

/* Add the tree of ROWS, as members of the array that is open. */
void tide_json_tree(struct tide_json *json, struct tide_json_trees *trees,
                    const struct tide_report_json *report,
                    const struct tide_rows *rows);
/* Add "deeper", an array of arrays of rows, if there are any. */
void tide_json_deeper(struct tide_json *json, struct tide_json_trees *trees,
                      const struct tide_report_json *report);
void tide_json_trees_release(struct tide_json_trees *trees);

#endif
