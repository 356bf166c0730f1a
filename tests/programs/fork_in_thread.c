/* tests/programs/fork_in_thread.c - a thread forks under a frame of 3 MiB, and the child goes
 * on there.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { TIMES = 10, FRAME = 3 << 20, STACK = 5 << 20 };

static volatile int sum;

__attribute__((noinline)) static void make(void)
{
    void *volatile block = malloc(100);
    free(block);
    sum++;
}

__attribute__((noinline)) static int fork_here(void)
{
    volatile char array[FRAME];
    int status = 1;
    array[0] = 1;
    const pid_t child = fork();
    for (int i = 0; child == 0 && i < TIMES; i++)
        make();
    if (child == 0)
        _exit(0);
    waitpid(child, &status, 0);
    return status + array[0] - 1;
}

static void *work(void *failed)
{
    *(int *)failed |= fork_here();
    sum++;
    return failed;
}

int main(void)
{
    pthread_t id;
    pthread_attr_t attributes;
    int failed = 0;
    pthread_attr_init(&attributes);
    for (int own = 0; own < 2; own++) {
        if (own)
            pthread_attr_setstacksize(&attributes, STACK);
        if (pthread_create(&id, &attributes, work, &failed) != 0 ||
            pthread_join(id, NULL) != 0)
            return 1;
    }
    say("done\n");
    return failed;
}
