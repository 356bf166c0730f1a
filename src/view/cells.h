/* view/cells.h - a row of right-aligned numbers, in columns as wide as what is in them.
 *
 * For: view/, tests/.  Rows are measured first and printed after.  A column has at least
 * the width that it is given, so that small tables look alike, unless the page is narrow.
 */
#ifndef TIDE_VIEW_CELLS_H
#define TIDE_VIEW_CELLS_H

#include <stddef.h>

#include "view/line.h"
#include "view/units.h"

enum { TIDE_CELLS_MOST = 8 };

/* One column. */
struct tide_cells_column {
    const char *name;
    int least; /* columns, with the gap before it */
    int used;  /* columns of the widest text so far, its name among them */
};

struct tide_cells {
    int left;  /* where the first column begins */
    int words; /* columns that what follows them needs: for less they draw together */
    size_t count;
    struct tide_cells_column columns[TIDE_CELLS_MOST];
};

/* What stands in a row; an empty text says nothing. */
struct tide_cells_row {
    struct tide_number texts[TIDE_CELLS_MOST];
    enum tide_ink inks[TIDE_CELLS_MOST];
};

/* One more column. */
void tide_cells_add(struct tide_cells *cells, const char *name, int least);
/* Make room for ROW. */
void tide_cells_measure(struct tide_cells *cells, const struct tide_cells_row *row);

/* The names of the columns, and a row; what follows begins behind tide_cells_end(). */
void tide_cells_head(struct tide_page *page, const struct tide_cells *cells);
void tide_cells_line(struct tide_page *page, const struct tide_cells *cells,
                     const struct tide_cells_row *row);
/* Where the COUNT first columns end. */
int tide_cells_end(const struct tide_cells *cells, const struct tide_style *style,
                   size_t count);

#endif
