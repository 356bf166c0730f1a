/* tests/programs/no_room_left.c - a thread on a stack of the program's own, when nothing more
 * can be mapped.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "say.h"

enum { STACK = 256 << 10, THREADS = 100, LITTLE = 1 << 20 };

static _Alignas(4096) char stacks[THREADS][STACK];
static pthread_t ids[THREADS];
static pthread_barrier_t all;

static void *work(void *unused)
{
    pthread_barrier_wait(&all); /* they live at the same time */
    return unused;
}

static void limit(rlim_t bytes)
{
    struct rlimit now;
    getrlimit(RLIMIT_AS, &now);
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_AS, &now);
}

int main(void)
{
    pthread_attr_t attributes;
    int made = 0, kept = 0;
    pthread_attr_init(&attributes);
    pthread_barrier_init(&all, NULL, THREADS + 1);
    void *volatile room = malloc(THREADS * 1024); /* pthread allocates for each */
    free(room);
    limit(LITTLE);
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_setstack(&attributes, stacks[i], STACK);
        errno = 77;
        made += pthread_create(&ids[i], &attributes, work, NULL) == 0;
        kept += errno == 77;
    }
    limit(RLIM_INFINITY);
    say("made %d, errno kept %d times\n", made, kept);
    if (made < THREADS)
        return 1;
    pthread_barrier_wait(&all);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
