/* tests/tsan/registry_storm.c - the registry of listeners under ThreadSanitizer.
 *
 * 300 threads add listeners, tell everybody of allocations, and remove them again, also from
 * inside a callback, while one listener counts everything.  What a listener points to is
 * overwritten as soon as its removal has returned: a call that comes later is a race that the
 * sanitizer sees, and a wrong count.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "capture/process.h"
#include "capture/registry.h"

enum { THREADS = 300, ROUNDS = 20, EVENTS = 5 };

/* --- The storm -------------------------------------------------------------------------- */

struct local {
    long thread; /* plain: only while the listener is there may it be looked at */
    long heard;  /* plain: counted by its own thread only */
};

static struct tide_tally everything;
static atomic_long told;
static _Thread_local long number;

static void count_all(void *user, const struct tide_happening *happening)
{
    tide_tally_alloc(user, happening->shard, happening->requested, happening->used);
}

static void count_own(size_t requested, size_t used, const void *block, void *user)
{
    struct local *const local = user;
    (void)requested, (void)used, (void)block;
    const long whose = local->thread;
    if (number % 8 == 0)
        sched_yield(); /* gives others time to remove what must not be removed now */
    if (local->thread != whose)
        abort();
    if (whose == number)
        local->heard++;
}

static void tell(void)
{
    const struct tide_reader reader = tide_registry_enter((uint32_t)number);
    const struct tide_happening happening = {
        .requested = 10, .used = 24, .shard = (uint32_t)number};
    for (uint32_t i = 0; i < reader.list->count; i++) {
        const struct tide_listener *const listener = reader.list->list[i];
        if (atomic_load(&listener->removed))
            continue;
        if (listener->alloc_heard)
            listener->alloc_heard(listener->user, &happening);
        else
            listener->alloc_called(10, 24, NULL, listener->user);
    }
    tide_registry_leave(&reader);
    told++;
}

/* Removed by a callback: nobody waits, so what it points to has to stay. */
static void remove_in_callback(void)
{
    static struct local lasting = {.thread = -1};
    const struct tide_listener listener = {.alloc_called = count_own, .user = &lasting};
    tide_handle handle;
    bool wait = false;
    const struct tide_reader reader = tide_registry_enter((uint32_t)number);
    tide_registry_add(&listener, &handle);
    if (tide_registry_remove(handle, 0, &wait, NULL) != TIDE_DONE)
        abort();
    tide_registry_leave(&reader);
}

static void *work(void *argument)
{
    number = (long)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        struct local *const local = malloc(sizeof(*local));
        *local = (struct local){.thread = number};
        const struct tide_listener listener = {.alloc_called = count_own,
                                               .user = local};
        tide_handle handle;
        bool wait = true;
        if (tide_registry_add(&listener, &handle) != TIDE_DONE)
            abort();
        for (int k = 0; k < EVENTS; k++)
            tell();
        if (tide_registry_remove(handle, 0, &wait, NULL) != TIDE_DONE || !wait)
            abort();
        if (local->heard != EVENTS) {
            printf("heard %ld of %d\n", local->heard, EVENTS);
            abort();
        }
        local->thread = local->heard = -1;
        free(local);
        if (i % 8 == 0)
            remove_in_callback();
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct tide_stats stats = {0};
    const struct tide_listener all = {
        .alloc_heard = count_all, .user = &everything, .kind = 7};
    tide_handle handle;
    bool wait = true;
    tide_registry_add(&all, &handle);
    for (long i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i))
            abort();
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    if (tide_registry_remove(handle, 0, &wait, NULL) != TIDE_UNKNOWN ||
        tide_registry_remove(handle, 7, &wait, NULL) != TIDE_DONE ||
        tide_registry_count() != 0)
        abort();
    tide_tally_read(&everything, &stats);
    printf("told %ld, counted %lu calls, %lu bytes, peak %ld\n", (long)told,
           (unsigned long)stats.alloc_calls, (unsigned long)stats.requested_bytes,
           (long)stats.peak_bytes);
    const uint64_t expected = (uint64_t)THREADS * ROUNDS * EVENTS;
    return !((uint64_t)told == expected && stats.alloc_calls == expected &&
             stats.requested_bytes == 10 * expected && stats.stddev_bytes == 0 &&
             stats.peak_bytes == (int64_t)(24 * expected));
}
