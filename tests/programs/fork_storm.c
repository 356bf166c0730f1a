/* tests/programs/fork_storm.c - fork in a loop while a handler allocates at any time.
 *
 * Usage: fork_storm CHILDREN.  To be run on lib_toy_malloc.so, where handlers may allocate.
 * Each child makes 20 blocks; how many went wrong, and what the handler did, is printed.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

static volatile unsigned long handler_calls;

__attribute__((noinline)) static void *make_in_handler(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void on_alarm(int signal)
{
    (void)signal;
    void *block = make_in_handler(100);
    handler_calls++;
    free(block);
}

int main(int argc, char **argv)
{
    const int children = argc > 1 ? atoi(argv[1]) : 100;
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 100}, {0, 100}};
    int bad = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < children; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 20; k++)
                free(child_makes(77));
            _exit(5);
        }
        while (waitpid(child, &status, 0) != child)
            ;
        bad += !WIFEXITED(status) || WEXITSTATUS(status) != 5;
    }
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    say("{\"bad\": %d, \"handler_calls\": %lu}\n", bad, handler_calls);
    return 0;
}
