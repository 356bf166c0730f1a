/* tests/programs/fork_in_handler.c - fork in a signal handler that interrupted malloc:
 * fork_in_handler COUNT.
 *
 * The handler forks and returns in both: so the child finishes the call that was
 * interrupted, then makes 5 blocks and ends.  It must not allocate in the handler: that
 * would harm a plain program, too.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { IN_CHILD = 5 };

static volatile sig_atomic_t forked, in_child;
static volatile sig_atomic_t wanted;
static pid_t children[10000];

__attribute__((noinline)) static void *parent_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *child_makes(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void handler(int number)
{
    (void)number;
    if (in_child || forked >= wanted)
        return;
    const pid_t child = fork();
    if (child == 0)
        in_child = 1;
    else if (child > 0)
        children[forked++] = child;
}

static void be_child(void)
{
    for (int i = 0; i < IN_CHILD; i++)
        child_makes(60);
    _exit(5);
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const struct itimerval timer = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    unsigned long made = 0;
    int bad = 0;
    wanted = argc > 1 ? atoi(argv[1]) : 10;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (forked < wanted) {
        void *const block = parent_makes(made % 700);
        made++;
        if (in_child)
            be_child();
        free(block);
        if (in_child)
            be_child();
    }
    if (in_child)
        be_child();
    setitimer(ITIMER_REAL, &none, NULL);
    for (int i = 0; i < wanted; i++) {
        int status = -1;
        bad += waitpid(children[i], &status, 0) != children[i] || !WIFEXITED(status) ||
               WEXITSTATUS(status) != 5;
    }
    say("{\"bad\": %d, \"parent\": %lu, \"child\": %d}\n", bad, made,
        (int)wanted * IN_CHILD);
    return bad != 0;
}
