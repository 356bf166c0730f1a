/* tests/programs/addresses.c - blocks whose addresses it tells, with all that happens.
 *
 * Prints JSON: where blocks are that live, died, were freed by another thread, were moved
 * by realloc, and two that had the same address one after the other, with a snapshot
 * between them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

#include "say.h"

#define APART __attribute__((noinline))

static void *volatile kept;
static int global; /* no block */

APART static void *make_live(void)
{
    void *const block = malloc(100);
    tide_label(block, "answer", 100);
    kept = block;
    return block;
}

APART static void *make_grid(void)
{
    static const size_t extents[] = {30, 20};
    double *const grid = calloc(30 * 20, sizeof(double));
    tide_label_shape(grid, "grid", sizeof(double), extents, 2);
    kept = grid;
    return grid;
}

APART static void *make_for_other(void)
{
    kept = malloc(200);
    return kept;
}

APART static void *make_to_move(void)
{
    kept = malloc(300);
    return kept;
}

APART static void *make_first(void)
{
    kept = malloc(5000);
    return kept;
}

APART static void *make_second(void)
{
    kept = malloc(5000);
    return kept;
}

static void *free_it(void *block)
{
    (void)pthread_setname_np(pthread_self(), "gull");
    free(block);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    char *const live = make_live();
    void *const freed = make_for_other();
    const unsigned long freed_at = (unsigned long)freed;
    if (pthread_create(&thread, NULL, free_it, freed) || pthread_join(thread, NULL))
        return 1;

    void *const small = make_to_move();
    const unsigned long small_at = (unsigned long)small;
    void *const large = realloc(small, 1000000); /* too large to stay where it is */

    double *const grid = make_grid();
    void *const first = make_first();
    const unsigned long first_at = (unsigned long)first;
    tide_snapshot("first");
    free(first);
    tide_snapshot("between");
    void *const second = make_second();
    tide_snapshot("second");
    say("{\"live\": %lu, \"freed\": %lu, \"small\": %lu, \"large\": %lu, \"first\": %lu, "
        "\"second\": %lu, \"grid\": %lu, \"grid_7_13\": %lu, \"global\": %lu, \"pid\": "
        "%d}\n",
        (unsigned long)live, freed_at, small_at, (unsigned long)large, first_at,
        (unsigned long)second, (unsigned long)grid, (unsigned long)&grid[7 * 20 + 13],
        (unsigned long)&global, getpid());
    return 0;
}
