/* view/cells.c - a row of right-aligned numbers, in columns as wide as what is in them. */
#include "view/cells.h"

#include <assert.h>
#include <string.h>

enum { TIDE_CELLS_GAP = 2 };

void tide_cells_add(struct tide_cells *cells, const char *name, int least)
{
    assert(cells->count < TIDE_CELLS_MOST);
    cells->columns[cells->count++] = (struct tide_cells_column){
        .name = name, .least = least, .used = (int)strlen(name)};
}

void tide_cells_measure(struct tide_cells *cells, const struct tide_cells_row *row)
{
    for (size_t i = 0; i < cells->count; i++) {
        const int length = (int)strlen(row->texts[i].text);
        if (length > cells->columns[i].used)
            cells->columns[i].used = length;
    }
}

static int width_of(const struct tide_cells_column *column, bool tight)
{
    const int needed = column->used + TIDE_CELLS_GAP;
    return tight || needed > column->least ? needed : column->least;
}

static int end_of(const struct tide_cells *cells, size_t count, bool tight)
{
    int end = cells->left;
    for (size_t i = 0; i < count; i++)
        end += width_of(&cells->columns[i], tight);
    return end;
}

static bool is_tight(const struct tide_cells *cells, const struct tide_style *style)
{
    return end_of(cells, cells->count, false) + cells->words > style->width;
}

int tide_cells_end(const struct tide_cells *cells, const struct tide_style *style,
                   size_t count)
{
    return end_of(cells, count, is_tight(cells, style));
}

void tide_cells_head(struct tide_page *page, const struct tide_cells *cells)
{
    const bool tight = is_tight(cells, page->style);
    tide_page_tab(page, cells->left);
    for (size_t i = 0; i < cells->count; i++)
        tide_page_add_right(page, TIDE_INK_DIM, cells->columns[i].name,
                            width_of(&cells->columns[i], tight));
}

void tide_cells_line(struct tide_page *page, const struct tide_cells *cells,
                     const struct tide_cells_row *row)
{
    const bool tight = is_tight(cells, page->style);
    tide_page_tab(page, cells->left);
    for (size_t i = 0; i < cells->count; i++)
        tide_page_add_right(page, row->inks[i], row->texts[i].text,
                            width_of(&cells->columns[i], tight));
}
