/* tests/programs/told_loop.c - a loop with labelled blocks, for `report --regions` and such.
 *
 * What it makes is known to the byte: tests/e2e/test_told.py has the same loop.
 */
#include <stdlib.h>
#include <tidemark/tidemark.h>

static void *kept[16];

int main(void)
{
    struct tide_stats stats;
    tide_region_begin("setup");
    char *volatile first = malloc(1000);
    tide_region_end("setup");
    tide_loop_begin("cycle");
    const tide_handle window = tide_window_start("loop", TIDE_SCOPE_PROCESS);
    for (int i = 0; i < 10; i++) {
        tide_iteration(i);
        tide_region_begin("work");
        const size_t size = 100 * (size_t)(i + 1);
        char *volatile temporary = malloc(size);
        tide_label(temporary, "tmp", size);
        tide_region_end("work");
        free(temporary);
        char *volatile same = calloc(2, 250);
        const size_t extents[] = {5, 25};
        tide_label_shape(same, "same", 4, extents, 2);
        free(same);
        if (i % 2) {
            kept[i] = malloc(50);
            tide_label(kept[i], "kept", 50);
        }
    }
    tide_stop(window, &stats);
    tide_loop_end("cycle");
    tide_region_begin("end");
    first = realloc(first, 5000);
    tide_label(first, "first", 5000);
    free(first);
    tide_region_end("end");
    return 0;
}
