/* tests/tsan/registry_stays.c - readers who stay too long, under ThreadSanitizer.
 *
 * A look at the clock takes a second, so whoever waits soon gives up on readers that are
 * well and still look at what is there: none of it may be given back.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "capture/process.h"
#include "capture/registry.h"

enum { THREADS = 24, ROUNDS = 200, KIND = 5 };

static atomic_long now, given_up, certain;

int clock_gettime(clockid_t id, struct timespec *out)
{
    (void)id;
    *out = (struct timespec){.tv_sec = now++};
    return 0;
}

/* --- The storm -------------------------------------------------------------------------- */

static void look(uint32_t shard, int naps)
{
    const struct tide_reader reader = tide_registry_enter(shard);
    for (uint32_t i = 0; reader.list && i < reader.list->count; i++) {
        const long *const user = reader.list->list[i]->user;
        if (!atomic_load(&reader.list->list[i]->removed) && *user < 0)
            abort();
        for (int k = 0; k < naps; k++)
            sched_yield();
        if (reader.list->list[i]->kind != KIND)
            abort();
    }
    tide_registry_leave(&reader);
}

static void *work(void *argument)
{
    const uint32_t number = (uint32_t)(uintptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        long *const own = malloc(sizeof(*own));
        *own = i;
        const struct tide_listener listener = {.user = own, .kind = KIND};
        tide_handle handle;
        bool wait = true;
        if (tide_registry_add(&listener, &handle) != TIDE_DONE)
            abort();
        look(number, number % 4 == 0 ? 20 : 0);
        if (tide_registry_remove(handle, KIND, &wait, NULL) != TIDE_DONE)
            abort();
        if (wait) { /* otherwise somebody may look for ever */
            *own = -1;
            free(own);
        }
        ++*(wait ? &certain : &given_up);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            abort();
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("certain %ld, given up %ld\n", (long)certain, (long)given_up);
    return !(certain > 0 && given_up > 0 && tide_registry_count() == 0);
}
