/* tests/programs/many_children.c - children of every kind: many_children COUNT.
 *
 * COUNT times fork (the child makes 3 blocks and ends), vfork+exec, and posix_spawn; in a
 * process that has another thread which allocates all the while.
 */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static atomic_int stop;

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *churn(void *unused)
{
    while (!atomic_load(&stop)) {
        void *volatile block = malloc(500);
        free(block);
    }
    return unused;
}

static int wait_for(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 10;
    char name[] = "true";
    char *const words[] = {name, NULL};
    char *const nothing[] = {NULL};
    pthread_t thread;
    volatile int bad = 0;

    pthread_create(&thread, NULL, churn, NULL);
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 3; k++)
                child_makes(77);
            _exit(5);
        }
        bad += !WIFEXITED(wait_for(child));
        child = vfork();
        if (child == 0) {
            execve("/bin/true", words, nothing);
            _exit(9);
        }
        bad += wait_for(child) != 0;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, words, nothing) == 0)
            bad += wait_for(child) != 0;
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    say("%d bad\n", bad);
    return bad != 0;
}
