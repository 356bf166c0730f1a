/* examples/kinds/work.c - an annotated function: a grid of 10 x 20 numbers, in a region.
 *
 * The same source goes into programs and libraries of every kind: see build.sh.
 */
#include <stdlib.h>

#include <tidemark/tidemark.h>

int work(void);

int work(void)
{
    TIDE_FUNCTION();
    const size_t extents[] = {10, 20};
    double *const grid = malloc(200 * sizeof(*grid));
    if (!grid)
        return 1;
    tide_label_shape(grid, "grid", sizeof(*grid), extents, 2);
    for (int i = 0; i < 200; i++)
        grid[i] = i;
    const int wrong = grid[199] < 199;
    free(grid);
    return wrong;
}
