/* tests/programs/cross_frees.c - blocks that end in other threads than they began in.
 *
 * Usage: cross_frees HOW ROUNDS.
 *   queue     producers make, consumers free, through one queue
 *   realloc   threads pass blocks on through slots and make them larger or smaller
 * Ten blocks are kept on purpose.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

enum { PAIRS = 2, QUEUE = 64, SLOTS = 16, KEPT = 10 };

static _Atomic(void *) queue[QUEUE], slots[SLOTS];
static _Atomic long made, bytes, resized, freed, left;
static long rounds;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    atomic_fetch_add(&made, 1);
    atomic_fetch_add(&bytes, (long)size);
    return block;
}

__attribute__((noinline)) static void *resize(void *old, size_t size)
{
    void *volatile block = realloc(old, size);
    atomic_fetch_add(&resized, 1);
    atomic_fetch_add(&bytes, (long)size);
    return block;
}

static void discard(void *block)
{
    if (!block)
        return;
    free(block);
    atomic_fetch_add(&freed, 1);
}

static void *produce(void *argument)
{
    const long own = (long)(intptr_t)argument;
    for (long i = 0; i < rounds; i++) {
        void *block = make((size_t)(16 + (i * 7 + own) % 2000));
        void *empty = NULL;
        for (long at = i;; at++, empty = NULL) {
            if (atomic_compare_exchange_strong(&queue[at % QUEUE], &empty, block))
                break;
            if (at % QUEUE == 0)
                sched_yield();
        }
    }
    atomic_fetch_sub(&left, 1);
    return NULL;
}

static void *consume(void *unused)
{
    int found = 1;
    while (found || atomic_load(&left) > 0) {
        found = 0;
        for (int i = 0; i < QUEUE; i++) {
            void *block = atomic_exchange(&queue[i], NULL);
            found |= block != NULL;
            discard(block);
        }
        if (!found)
            sched_yield();
    }
    return unused;
}

static void *juggle(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 2654435761u + 1;
    for (long i = 0; i < rounds; i++) {
        random = random * 6364136223846793005ull + 1442695040888963407ull;
        const size_t size = 16 + (random >> 33) % 5000;
        _Atomic(void *) *slot = &slots[(random >> 20) % SLOTS];
        void *block = atomic_exchange(slot, NULL);
        block = block ? resize(block, size) : make(size);
        discard(atomic_exchange(slot, block));
    }
    return NULL;
}

static void run(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t ids[2 * PAIRS];
    atomic_store(&left, PAIRS);
    for (int i = 0; i < 2 * PAIRS; i++)
        if (pthread_create(&ids[i], NULL, i % 2 ? one : other, (void *)(intptr_t)i) !=
            0)
            exit(3);
    for (int i = 0; i < 2 * PAIRS; i++)
        pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    rounds = atol(argv[2]);
    if (strcmp(argv[1], "queue") == 0)
        run(produce, consume);
    else
        run(juggle, juggle);
    for (int i = 0; i < QUEUE; i++)
        discard(atomic_exchange(&queue[i], NULL));
    for (int i = 0; i < SLOTS; i++)
        discard(atomic_exchange(&slots[i], NULL));
    for (int i = 0; i < KEPT; i++)
        make(100);
    say("{\"made\": %ld, \"resized\": %ld, \"freed\": %ld, \"bytes\": %ld, \"kept\": %d}\n",
        made, resized, freed, bytes, KEPT);
    return made - freed == KEPT ? 0 : 1;
}
