/* view/tree_parts.h - internal: what is needed to print the lines of a call tree.
 *
 * For: view/tree_*.c.
 */
#ifndef TIDE_VIEW_TREE_PARTS_H
#define TIDE_VIEW_TREE_PARTS_H

#include "view/branches.h"
#include "view/chain.h"
#include "view/columns.h"
#include "view/line.h"

struct tide_tree_text {
    struct tide_page *page;
    const struct tide_rows *rows;
    struct tide_branches branches;
    struct tide_columns columns;
    int step;   /* columns of indentation a level */
    bool folds; /* the library's inside is left out */
    bool up;    /* callers below: the tree stands on its head */
};

/* Columns of indentation that leave room for names. */
int tide_tree_indent(const struct tide_tree_text *tree);
/* The lines that lead to BRANCH, of very deep ones only those next to it; the last of them
 * bends to the branch (BENDS) or passes by. */
void tide_tree_lead(const struct tide_tree_text *tree, const struct tide_branch *branch,
                    bool bends);
/* CHAIN, which is BRANCH's, in what is left of the line, or on further ones. */
void tide_tree_chain(const struct tide_tree_text *tree,
                     const struct tide_branch *branch, const struct tide_chain *chain);

#endif
