/* tests/programs/fork_goes_on.c - fork in a handler that interrupts the recorder.
 *
 * Usage: fork_goes_on CHILDREN.  The child returns from the handler into whatever was
 * interrupted, goes on, makes 50 blocks and ends.  With one thread this is allowed even in
 * the middle of malloc: each of the two processes has a malloc of its own to finish.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

enum { AT_ONCE = 8, CHILD_BLOCKS = 50 };

static volatile int wanted, forked, alive, is_child;

__attribute__((noinline)) static void *main_makes(size_t size)
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
    if (is_child || forked == wanted || alive == AT_ONCE)
        return;
    if (fork() == 0) {
        is_child = 1;
        return;
    }
    forked++;
    alive++;
}

static void live_as_child(void)
{
    for (int i = 0; i < CHILD_BLOCKS; i++)
        free(child_makes(33));
    _exit(0);
}

/* How many of the children that have ended ended badly. */
static int reap(void)
{
    int status, bad = 0;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        alive--;
        bad += status != 0;
    }
    return bad;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, 150}, {0, 150}};
    sigset_t alarm_only;
    unsigned long calls = 0;
    int bad = 0;
    wanted = argc > 1 ? atoi(argv[1]) : 100;
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    while (forked < wanted || alive > 0) {
        for (int i = 0; i < 100; i++) {
            void *block = main_makes(16 + calls % 500);
            if (is_child)
                live_as_child();
            calls++;
            free(block);
            if (is_child)
                live_as_child();
        }
        sigprocmask(SIG_BLOCK, &alarm_only, NULL);
        bad += reap();
        sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
    }
    say("{\"forked\": %d, \"bad\": %d, \"calls\": %lu}\n", forked, bad, calls);
    return 0;
}
