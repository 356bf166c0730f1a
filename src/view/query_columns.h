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
/* How wide each column is, MOST at most, -1: it is not shown; owned by the caller, NULL
 * without memory. */
int *tide_query_widths(struct tide_query_view *view, int most);
/* Does COLUMN hold nothing but numbers? */
bool tide_query_numeric(const struct tide_query_view *view, size_t column);

/* Make the COUNT WIDTHS fit into ROOM, with a blank behind each, where texts suffer it:
 * columns that are not NUMERIC.  Where they do not, no width is more than ROOM.  ROOM 0:
 * there is enough. */
void tide_query_fit(int *widths, const bool *numeric, size_t count, int room);
/* The end of the columns from FROM on that fit into ROOM together; at least one does. */
size_t tide_query_block(const int *widths, size_t count, size_t from, int room);

#endif
