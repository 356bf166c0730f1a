/* tests/programs/thread_farewell.c - key destructors that allocate and free, round by round.
 *
 * Usage: thread_farewell THREADS.  Three keys; the destructor of each makes two blocks,
 * frees the one that it was given and one of the two, and sets the key again until the
 * last round, in which it frees all.
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "say.h"

enum { KEYS = 3 };

static pthread_key_t keys[KEYS];
static _Atomic long made, in_destructors;
static _Thread_local int rounds[KEYS];

__attribute__((noinline)) static void *make_in_thread(size_t size)
{
    void *volatile block = malloc(size);
    atomic_fetch_add(&made, 1);
    return block;
}

__attribute__((noinline)) static void *make_in_destructor(size_t size)
{
    void *volatile block = malloc(size);
    atomic_fetch_add(&in_destructors, 1);
    return block;
}

static void destructor_of(int key, void *value)
{
    free(value);
    void *kept = make_in_destructor(40);
    void *other = make_in_destructor(50);
    free(other);
    if (++rounds[key] < PTHREAD_DESTRUCTOR_ITERATIONS)
        pthread_setspecific(keys[key], kept);
    else
        free(kept);
}

static void first(void *value)
{
    destructor_of(0, value);
}

static void second(void *value)
{
    destructor_of(1, value);
}

static void third(void *value)
{
    destructor_of(2, value);
}

static void *work(void *unused)
{
    for (int i = 0; i < KEYS; i++)
        pthread_setspecific(keys[i], make_in_thread(30));
    return unused;
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 1;
    void (*const destructors[KEYS])(void *) = {first, second, third};
    /* The first key of the process is taken before the recorder takes its own, the
     * others may come after it: both orders are met. */
    for (int i = 0; i < KEYS; i++)
        pthread_key_create(&keys[i], destructors[i]);
    for (int i = 0; i < threads; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, work, NULL) != 0)
            return 3;
        pthread_join(id, NULL);
    }
    say("{\"make_in_thread\": [%ld, %ld, 0], \"make_in_destructor\": [%ld, %ld, 0]}\n",
        made, made * 30, in_destructors, in_destructors * 45);
    return 0;
}
