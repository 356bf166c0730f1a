/* tests/programs/on_signal.c - do nothing until a signal comes, then allocate: on_signal CALLS.
 *
 * Nothing is allocated before SIGUSR1, so a recorder has written next to nothing by then.
 */
#include <signal.h>
#include <stdlib.h>

#include "say.h"

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    const long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
        return 1;
    say("ready\n");
    if (sigwait(&set, &number) != 0)
        return 2;
    for (long i = 0; i < calls; i++)
        free(make((size_t)(i % 300)));
    say("made %ld\n", calls);
    return 7;
}
