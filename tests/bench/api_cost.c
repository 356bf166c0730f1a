/* bench/api_cost.c - what the calls of tidemark.h cost, and malloc while somebody listens.
 *
 * Run it alone, recorded, and recorded with --live-table.  The least of many short rounds
 * counts, so that what else the machine does is left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <tidemark/tidemark.h>

enum { CALLS = 1000, ROUNDS = 4000 };

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void region_pair(void)
{
    tide_region_begin("region");
    tide_region_end("region");
}

static void malloc_pair(void)
{
    void *volatile block = malloc(100);
    free(block);
}

static void find(void)
{
    struct tide_found_block found;
    tide_find(&found, &found);
}

static void measure(const char *name, void (*pair)(void))
{
    double least = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        const double begun = now_ns();
        for (int j = 0; j < CALLS; j++)
            pair();
        const double each = (now_ns() - begun) / CALLS;
        least = each < least ? each : least;
    }
    printf("%-40s %6.1f ns\n", name, least);
}

static void called(size_t used, const void *block, void *user)
{
    (void)used;
    (void)block;
    (void)user;
}

int main(void)
{
    tide_handle window, monitor;
    measure("region begin and end", region_pair);
    measure("malloc and free", malloc_pair);
    window = tide_window_start("process", TIDE_SCOPE_PROCESS);
    measure("the same in a window of the process", malloc_pair);
    tide_stop(window, NULL);
    window = tide_window_start("thread", TIDE_SCOPE_THREAD);
    measure("in a window of the thread", malloc_pair);
    tide_stop(window, NULL);
    tide_monitor_add(NULL, called, NULL, &monitor);
    measure("with a callback that does nothing", malloc_pair);
    tide_monitor_remove(monitor);
    measure("an address that no block holds", find);
    return 0;
}
