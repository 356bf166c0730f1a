/* tests/programs/named_threads.c - threads that are named before or after they allocate.
 *
 * Three name themselves and end at once; the fourth is named by another and stays, for a
 * moment, so that somebody outside can look.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "say.h"

enum { SHOWN_MS = 400 };

static pthread_barrier_t named;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *before(void *unused)
{
    pthread_setname_np(pthread_self(), "before");
    make(10);
    pthread_barrier_wait(&named);
    return unused;
}

static void *after(void *unused)
{
    make(10);
    pthread_setname_np(pthread_self(), "after");
    make(10);
    pthread_barrier_wait(&named);
    return unused;
}

static void *twice(void *unused)
{
    pthread_setname_np(pthread_self(), "early");
    make(10);
    pthread_setname_np(pthread_self(), "late");
    make(10);
    pthread_barrier_wait(&named);
    return unused;
}

/* Named by another thread, and never allocates again. */
static void *by_other(void *unused)
{
    make(10);
    pthread_barrier_wait(&named);
    for (;;)
        pause();
    return unused;
}

int main(void)
{
    void *(*const work[])(void *) = {before, after, twice, by_other};
    pthread_t ids[4];
    pthread_barrier_init(&named, NULL, 5);
    for (int i = 0; i < 4; i++)
        if (pthread_create(&ids[i], NULL, work[i], NULL) != 0)
            return 3;
    pthread_barrier_wait(&named);
    pthread_setname_np(ids[3], "by other");
    nanosleep(&(struct timespec){.tv_nsec = SHOWN_MS * 1000000L}, NULL);
    return 0;
}
