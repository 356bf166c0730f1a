/* view/tree_end.h - what a line of a call tree leads to that ends in dots.
 *
 * For: view/, tests/.
 */
#ifndef TIDE_VIEW_TREE_END_H
#define TIDE_VIEW_TREE_END_H

#include <stdbool.h>

#include "base/text.h"
#include "model/model.h"
#include "view/style.h"

struct tide_tree_end {
    uint32_t function; /* UINT32_MAX: none stands out */
    uint64_t weight;   /* of what goes through it, or of what it allocates */
};

/* The function below ROW that allocates most of what the row holds, a third at least; where
 * none does, the last one that half of it goes through.  False without memory. */
bool tide_tree_end_down(const struct tide_rows *rows, uint32_t row,
                        struct tide_tree_end *out);
/* The nearest caller with a name of most of what ROW holds, in a tree whose callers are
 * below. */
void tide_tree_end_up(const struct tide_rows *rows, uint32_t row,
                      struct tide_tree_end *out);

/* Add "98 % NAME", END as a part of all that there is, in COLUMNS at most.  Nothing when none
 * stands out, or the name has no room. */
void tide_tree_end_words(struct tide_text *out, const struct tide_rows *rows,
                         struct tide_tree_end end, int columns,
                         const struct tide_style *style);

#endif
