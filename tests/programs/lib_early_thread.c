/* tests/programs/lib_early_thread.c - small_coroutines.c, but its thread is made by a
 * constructor that comes before the recorder's, and waits for go_on().
 */
#include <semaphore.h>

#include "small_stack.h"

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
    sem_init(&begun, 0, 0);
    if (begin_thread(&early, wait_and_work) != 0)
        abort();
}

int go_on(void)
{
    sem_post(&begun);
    return pthread_join(early, NULL);
}
