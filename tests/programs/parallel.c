/* tests/programs/parallel.c - OpenMP: sections in different regions, with the same threads.
 *
 * Prints, as JSON, how many bytes were made in which region.
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { THREADS = 4, ROUNDS = 100 };

static void *volatile kept[4096];
static int kept_count;

__attribute__((noinline)) static void make(size_t bytes)
{
    void *const block = malloc(bytes);
    int at;
#pragma omp atomic capture
    at = kept_count++;
    kept[at] = block;
}

static void first(void)
{
    TIDE_FUNCTION();
#pragma omp parallel num_threads(THREADS)
    make(1000);
}

static void second(void)
{
    TIDE_FUNCTION();
#pragma omp parallel for schedule(dynamic) num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++) {
        tide_region_begin("part");
        make(10);
        tide_region_end("part");
    }
}

static void third(void)
{
#pragma omp parallel for schedule(static) num_threads(THREADS)
    for (int i = 0; i < ROUNDS; i++)
        make(7);
}

static void sections(void)
{
    TIDE_FUNCTION();
#pragma omp parallel sections num_threads(THREADS)
    {
#pragma omp section
        make(300);
#pragma omp section
        make(400);
    }
}

static void nested(void)
{
    TIDE_FUNCTION();
#pragma omp parallel num_threads(2)
    {
        tide_region_begin("outer");
#pragma omp parallel num_threads(2)
        make(50);
        tide_region_end("outer");
    }
}

int main(void)
{
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
    omp_set_max_active_levels(2);
    for (int i = 0; i < 3; i++) {
        first();
        second();
        third();
        sections();
    }
    nested();
    printf("{\"first\": %d, \"second/part\": %d, \"\": %d, \"sections\": %d,"
           " \"nested/outer\": %d}\n",
           3 * THREADS * 1000, 3 * ROUNDS * 10, 3 * ROUNDS * 7, 3 * 700, 4 * 50);
    return 0;
}
