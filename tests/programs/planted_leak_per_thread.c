/* tests/programs/planted_leak_per_thread.c - each thread takes a buffer to its grave. */
#include <pthread.h>

#include "planted.h"

enum { THREADS = 8, BUFFER = 16 * 1024 };

APART static char *thread_buffer(void)
{
    char *const buffer = malloc(BUFFER);
    memset(buffer, 1, BUFFER);
    return buffer;
}

static void *work(void *unused)
{
    char *volatile buffer = thread_buffer();
    for (int i = 0; i < 1000; i++)
        buffer[i] = (char)i;
    return unused;
}

int main(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        honest_work(i);
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    confess("leak_per_thread", "thread_buffer", (uint64_t)THREADS * BUFFER, THREADS);
    return 0;
}
