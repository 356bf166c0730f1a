/* view/query_columns.h - cells of the table and the tree.
 *
 * For: view/ only.
 */
#ifndef TIDE_VIEW_QUERY_COLUMNS_H
#define TIDE_VIEW_QUERY_COLUMNS_H

#include <stdbool.h>

#include "view/query_view.h"

enum { TIDE_QUERY_LEAST = 4 }; /* columns of a column */

/* TEXT in at most COLUMNS: what is too long keeps its ends around "~~". */
void tide_query_clamped(struct tide_text *out, const char *text, int columns);
/* TEXT in WIDTH columns and a blank. */
void tide_query_cell_add(struct tide_text *out, const char *text, int width,
                         bool right);
/* Does VALUE stand at the right?  In trees addresses do as well. */
bool tide_query_right(struct tide_value value, bool tree);
/* How wide each column is, MOST at most; owned by the caller, NULL without memory. */
int *tide_query_widths(struct tide_query_view *view, int most);

#endif
