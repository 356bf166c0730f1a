/* tests/programs/counts_signals.c - count SIGUSR1 and SIGTERM until SIGUSR2 comes.
 *
 * Says "ready" and its pid, then a line for each signal.
 */
#include <signal.h>

#include "say.h"

int main(void)
{
    sigset_t counted;
    int number;
    sigemptyset(&counted);
    sigaddset(&counted, SIGUSR1);
    sigaddset(&counted, SIGUSR2);
    sigaddset(&counted, SIGTERM);
    sigprocmask(SIG_BLOCK, &counted, NULL);
    say("ready %d\n", (int)getpid());
    while (sigwait(&counted, &number) == 0 && number != SIGUSR2)
        say("%s\n", number == SIGTERM ? "term" : "usr1");
    return 7;
}
