/* tests/programs/thread_fails.c - pthread_create that fails, then allocation as before.
 *
 * Once more with a second thread, which must still be possible.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

enum { FAILURES = 50, CALLS = 1000 };

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *unused)
{
    for (int i = 0; i < CALLS; i++)
        free(make(20));
    return unused;
}

int main(void)
{
    pthread_t id;
    pthread_attr_t huge;
    int failed = 0;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, (size_t)1 << 46);
    work(NULL);
    for (int i = 0; i < FAILURES; i++) {
        errno = 77;
        const int status = pthread_create(&id, &huge, work, NULL);
        failed += status != 0;
        if (i == 0)
            say("says %d, errno %d\n", status, errno);
        free(make(20));
    }
    if (pthread_create(&id, NULL, work, NULL) != 0)
        return 3;
    pthread_join(id, NULL);
    say("failed %d\n{\"make\": [%d, %d, 0]}\n", failed, 2 * CALLS + FAILURES,
        20 * (2 * CALLS + FAILURES));
    return 0;
}
