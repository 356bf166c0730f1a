/* tests/programs/marks.c - regions, labels, events and snapshots, a known number each. */
#include <stdlib.h>
#include <tidemark/tidemark.h>

int main(void)
{
    tide_region_begin("set-up");
    double *x = malloc(100 * sizeof(*x));
    tide_label(x, "x", 100 * sizeof(*x));
    tide_region_end("set-up");
    for (unsigned i = 0; i < 5; i++) {
        tide_event(i);
        tide_region_begin("solve");
        free(malloc(1000));
        tide_region_end("solve");
    }
    tide_snapshot("before the end");
    free(x);
    return 0;
}
