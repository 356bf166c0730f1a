/* tests/bench/loads/exchange.c - threads that free each other's blocks.
 *
 * Usage: exchange THREADS PAIRS.  Each thread turns PAIRS blocks over at depth 20: what it
 * makes goes into one of 4096 slots that all share, and what stood there is freed, most
 * often another's.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../../programs/paths.h"

enum { SLOTS = 4096, DEPTH = 14, MOST_THREADS = 256 };

static void *_Atomic slots[SLOTS];
static _Thread_local uint64_t state;
static uint64_t pairs;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

__attribute__((noinline)) void turn_over(uint32_t at)
{
    const uint32_t chosen = next();
    const size_t size = 16 + (chosen & 15 ? (chosen >> 4) % 256 : (chosen >> 4) % 9000);
    free(atomic_exchange(&slots[at % SLOTS], malloc(size)));
}

__attribute__((noinline)) static void descend(int depth)
{
    if (depth > 0) {
        descend(depth - 1);
        STAY(depth);
        return;
    }
    for (uint64_t i = 0; i < pairs; i++)
        first[next() & 3](next(), next());
}

static void *work(void *seed)
{
    state = (uintptr_t)seed * 2654435761u + 1;
    descend(DEPTH);
    return NULL;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 4;
    pthread_t ids[MOST_THREADS];
    pairs = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
    for (intptr_t i = 0; i < threads && i < MOST_THREADS; i++)
        if (pthread_create(&ids[i], NULL, work, (void *)(i + 1)) != 0)
            return 1;
    for (int i = 0; i < threads && i < MOST_THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        free(slots[i]);
    return 0;
}
