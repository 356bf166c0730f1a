/* tests/programs/signal_storm.c - allocate in signal handlers that interrupt malloc.
 *
 * To be run on lib_toy_malloc.so, where that is allowed.  A timer fires as fast as it
 * can; the handler allocates and frees.  Some handlers leave by siglongjmp.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>

#include "say.h"

static volatile uint64_t handler_calls, handler_frees, main_calls, main_frees, jumps;
static sigjmp_buf back;
static volatile sig_atomic_t may_jump;

__attribute__((noinline)) static void *make_in_handler(size_t size)
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
    handler_frees++;
    if (may_jump && handler_calls % 16 == 0) {
        jumps++;
        siglongjmp(back, 1);
    }
}

__attribute__((noinline)) static void *make_in_main(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

int main(int argc, char **argv)
{
    const uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000;
    const int jumping = argc > 2;
    const struct sigaction action = {.sa_handler = on_alarm};
    const struct itimerval often = {{0, 50}, {0, 50}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);

    sigsetjmp(back, 1);
    may_jump = jumping;
    while (main_calls < rounds) {
        void *block = make_in_main(32);
        main_calls++;
        free(block);
        main_frees++;
    }
    may_jump = 0;
    const struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    say("{\"main_calls\": %lu, \"main_frees\": %lu, \"handler_calls\": %lu, "
        "\"handler_frees\": %lu, \"jumps\": %lu}\n",
        main_calls, main_frees, handler_calls, handler_frees, jumps);
    return 0;
}
