/* tests/programs/ground_threads.c - threads that free each other's blocks, and count.
 *
 * Usage: ground_threads THREADS ROUNDS.  Every thread exchanges blocks with shared slots,
 * so most frees are of another thread's block.  Counts are kept with atomics: a birth
 * after the call that made the block, a death before the call that ends it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "say.h"

enum { SLOTS = 64, SITES = 4, MOST_THREADS = 256 };

struct block {
    uint32_t site;
    uint32_t size;
};

static struct block *_Atomic slots[SLOTS];
static _Atomic uint64_t calls[SITES], bytes[SITES], frees, live, peak;
static uint64_t rounds;

static void count_birth(uint32_t site, uint64_t size)
{
    atomic_fetch_add(&calls[site], 1);
    atomic_fetch_add(&bytes[site], size);
    const uint64_t now = atomic_fetch_add(&live, size) + size;
    uint64_t seen = atomic_load(&peak);
    while (now > seen && !atomic_compare_exchange_weak(&peak, &seen, now))
        ;
}

#define SITE(n)                                                  \
    __attribute__((noinline)) static void *site_##n(size_t size) \
    {                                                            \
        void *volatile block = malloc(size);                     \
        return block;                                            \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3) static void *(*const sites[])(size_t) = {site_0, site_1, site_2, site_3};

static void release(struct block *block)
{
    if (!block)
        return;
    atomic_fetch_add(&frees, 1);
    atomic_fetch_sub(&live, block->size);
    free(block);
}

static void *work(void *seed)
{
    uint64_t state = (uintptr_t)seed * 2654435761u + 1;
    for (uint64_t i = 0; i < rounds; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint32_t site = (uint32_t)(state >> 60) % SITES;
        const uint32_t size = 16 + (uint32_t)(state >> 40) % 3000;
        struct block *block = sites[site](size);
        block->site = site;
        block->size = size;
        count_birth(site, size);
        release(atomic_exchange(&slots[(state >> 33) % SLOTS], block));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 8;
    pthread_t ids[MOST_THREADS];

    rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000;
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, work, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < SLOTS; i += 2) { /* the others stay: they are the live set */
        release(atomic_load(&slots[i]));
        atomic_store(&slots[i], NULL);
    }

    uint64_t blocks[SITES] = {0}, left[SITES] = {0};
    for (int i = 0; i < SLOTS; i++) {
        const struct block *block = atomic_load(&slots[i]);
        if (!block)
            continue;
        blocks[block->site]++;
        left[block->site] += block->size;
    }
    say("{\"frees\": %lu, \"live\": %lu, \"peak\": %lu, \"sites\": {", frees, live,
        peak);
    for (int i = 0; i < SITES; i++)
        say("%s\"site_%d\": {\"calls\": %lu, \"bytes\": %lu, \"live_blocks\": %lu, "
            "\"live_bytes\": %lu}",
            i ? ", " : "", i, calls[i], bytes[i], blocks[i], left[i]);
    say("}}\n");
    return 0;
}
