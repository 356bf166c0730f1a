/* tests/programs/ring.c - many events with a small live set.
 *
 * Usage: ring PAIRS [DEPTH [PATHS [threads]]].  A ring of 1024 blocks of 16 bytes to 9 KiB
 * is turned over PAIRS times, under call paths that are chosen among 64 at `random`, follow
 * each other in a `cycle` of 16, or are `one`.  With `threads` there has been a second
 * thread before, which did nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"

enum { SLOTS = 1024 };

static void *slots[SLOTS];
static uint64_t state = 1;

static uint32_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

__attribute__((noinline)) void turn_over(uint32_t at)
{
    free(slots[at % SLOTS]);
    slots[at % SLOTS] = malloc(16 + (next() & 15 ? next() % 256 : next() % 9000));
}

enum paths { RANDOM, CYCLE, ONE };

static uint32_t path_of(enum paths paths, uint64_t turn)
{
    return paths == RANDOM ? next() : paths == CYCLE ? (uint32_t)turn % 16 : 0;
}

__attribute__((noinline)) static void descend(int depth, uint64_t pairs,
                                              enum paths paths)
{
    if (depth > 0) {
        descend(depth - 1, pairs, paths);
        STAY(depth);
        return;
    }
    for (uint64_t i = 0; i < pairs; i++) {
        const uint32_t path = path_of(paths, i);
        first[path & 3](path >> 2, next());
    }
}

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t id;
    if (argc > 4 && pthread_create(&id, NULL, nothing, NULL) == 0)
        pthread_join(id, NULL);
    const uint64_t pairs = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
    const char *paths = argc > 3 ? argv[3] : "random";
    descend(argc > 2 ? atoi(argv[2]) : 4, pairs,
            strcmp(paths, "one") == 0     ? ONE
            : strcmp(paths, "cycle") == 0 ? CYCLE
                                          : RANDOM);
    return 0;
}
