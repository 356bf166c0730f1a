/* tests/programs/lib_early_thread.c - small_coroutines.c, but its thread is made by a
 * constructor that comes before the recorder's, and waits for go_on().
 */
#include <semaphore.h>

#define main small_main
#include "small_coroutines.c"
#undef main

int go_on(void);

static sem_t begun;
static pthread_t early;

static void *wait_and_work(void *unused)
{
    sem_wait(&begun);
    return work(unused);
}

__attribute__((constructor)) static void begin(void)
{
    pthread_attr_t attributes;
    room = mmap(NULL, ALL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED ||
        mprotect(room + ALL - THREAD, THREAD, PROT_READ | PROT_WRITE) != 0 ||
        mprotect(room + PLACE, LARGE, PROT_READ | PROT_WRITE) != 0)
        abort();
    sem_init(&begun, 0, 0);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, room + ALL - THREAD, THREAD) != 0 ||
        pthread_create(&early, &attributes, wait_and_work, NULL) != 0)
        abort();
}

int go_on(void)
{
    sem_post(&begun);
    return pthread_join(early, NULL);
}
