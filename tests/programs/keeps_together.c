/* tests/programs/keeps_together.c - four threads that are in one region at the same time.
 *
 * Each is in `produce` before the first of them allocates, and until the last has: one
 * keeps 1000 bytes, the next 2000 and so on.  Then main frees half of it
 * in `drop`.  All of that happens in the phase `whole`.
 */
#include <pthread.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

enum { THREADS = 4, SIZE = 1000 };

static pthread_barrier_t all;
static void *volatile kept[THREADS];

static void *produce(void *number)
{
    const size_t at = (size_t)number;
    tide_region_begin("produce");
    (void)pthread_barrier_wait(&all);
    kept[at] = malloc(SIZE * (at + 1));
    void *volatile temporary = malloc(100000);
    free(temporary);
    (void)pthread_barrier_wait(&all);
    tide_region_end("produce");
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    (void)pthread_barrier_init(&all, NULL, THREADS);
    tide_phase_begin("whole");
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, produce, (void *)i))
            return 1;
    for (size_t i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    tide_region_begin("drop");
    free(kept[0]);
    free(kept[3]);
    tide_region_end("drop");
    tide_phase_end("whole");
    return 0;
}
