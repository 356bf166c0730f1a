/* tests/programs/cancelled.c - threads that are cancelled around their allocations.
 *
 * Usage: cancelled HOW.
 *   pending   a cancel is pending from before the thread's first event: no call that the
 *             recorder hooks may act on it, only pthread_testcancel() does
 *   point     deferred, at a cancellation point after an allocation
 *   cleanup   the cleanup handlers and key destructors of a cancelled thread allocate
 *   async     asynchronous, while the thread spins and allocates nothing
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "say.h"

enum { CALLS = 10000, TIMES = 20, KEPT = 64 };

static _Atomic int go, ready, alive;
static _Atomic long made, maps, freed, cleaned;
static pthread_key_t key;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    atomic_fetch_add(&made, 1);
    return block;
}

static void discard(void *block)
{
    free(block);
    atomic_fetch_add(&freed, 1);
}

__attribute__((noinline)) static void *make_in_cleanup(size_t size)
{
    void *volatile block = malloc(size);
    atomic_fetch_add(&cleaned, 1);
    return block;
}

/* Spinning, so that no wait of its own is a cancellation point. */
static void wait_until_told(void)
{
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&go))
        ;
}

static void *allocates_with_a_cancel_pending(void *unused)
{
    void *kept[KEPT] = {NULL};
    (void)unused;
    wait_until_told();
    for (int i = 0; i < CALLS; i++) {
        void **slot = &kept[i % KEPT];
        if (*slot)
            discard(*slot);
        *slot = make(100);
        *slot = realloc(*slot, 200);
        if (i % 100 == 0) {
            void *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            munmap(map, 8192);
            maps++;
        }
    }
    for (int i = 0; i < KEPT; i++)
        discard(kept[i]);
    atomic_store(&alive, 1); /* to print it now would be a cancellation point */
    pthread_testcancel();
    atomic_store(&alive, 2);
    return NULL;
}

static void *sleeps_after_malloc(void *unused)
{
    (void)unused;
    pthread_cleanup_push(discard, make(100));
    wait_until_told();
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return NULL;
}

static void clean(void *block)
{
    discard(block);
    free(make_in_cleanup(60));
}

static void *is_cleaned_up(void *unused)
{
    (void)unused;
    pthread_setspecific(key, make(100));
    pthread_cleanup_push(clean, make(100));
    wait_until_told();
    for (;;)
        pause();
    pthread_cleanup_pop(1);
    return NULL;
}

static void *spins(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    wait_until_told();
    for (;;)
        ;
    return unused;
}

static int cancel_one(void *(*work)(void *))
{
    pthread_t id;
    void *result = NULL;
    atomic_store(&go, 0);
    atomic_store(&ready, 0);
    if (pthread_create(&id, NULL, work, NULL) != 0)
        return 0;
    while (!atomic_load(&ready))
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    pthread_cancel(id);
    atomic_store(&go, 1);
    pthread_join(id, &result);
    return result == PTHREAD_CANCELED;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *how;
        void *(*work)(void *);
        int times;
    } ways[] = {{"pending", allocates_with_a_cancel_pending, 1},
                {"point", sleeps_after_malloc, TIMES},
                {"cleanup", is_cleaned_up, TIMES},
                {"async", spins, TIMES}};
    int cancelled = 0;
    pthread_key_create(&key, clean);
    for (unsigned i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
        for (int k = 0; strcmp(argv[1], ways[i].how) == 0 && k < ways[i].times; k++)
            cancelled += cancel_one(ways[i].work);
    say("cancelled %d; alive %d after %ld blocks, %ld freed, %ld maps\n", cancelled,
        alive, made, freed, maps);
    say("{\"make\": [%ld, %ld, 0], \"make_in_cleanup\": [%ld, %ld, 0]}\n", made,
        made * 100, cleaned, cleaned * 60);
    return 0;
}
