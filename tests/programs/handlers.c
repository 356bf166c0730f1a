/* tests/programs/handlers.c - handlers that allocate, however they are called.
 *
 * Usage: handlers HOW SIGNALS.  To be run on lib_toy_malloc.so.  Main allocates and frees
 * until so many signals came from two timers that fire as fast as they can.
 *   own          on the stack that was interrupted
 *   alternate    on an alternate stack
 *   nested       the handlers interrupt each other and raise a third in themselves
 *   threads      in four threads at once, each with timers of its own
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "say.h"

enum { THREADS = 4, STACK = 64 * 1024, OFTEN_NS = 200000 };

static _Atomic long in_main, in_handler, in_nested, signals;
static long wanted;
static int nested;

__attribute__((noinline)) static void *make_in_main(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_in_handler(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

__attribute__((noinline)) static void *make_in_nested(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void innermost(int number)
{
    (void)number;
    free(make_in_nested(64));
    atomic_fetch_add(&in_nested, 1);
}

static void handler(int number)
{
    (void)number;
    if (atomic_load(&signals) >= wanted)
        return; /* where handlers are slow, they alone would run from here on */
    void *block = make_in_handler(100);
    atomic_fetch_add(&in_handler, 1);
    if (nested)
        raise(SIGUSR2);
    free(block);
    atomic_fetch_add(&signals, 1);
}

static void set_handlers(int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    action.sa_handler = innermost;
    sigaction(SIGUSR2, &action, NULL);
}

static void start_timer(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    const struct itimerspec often = {{0, OFTEN_NS}, {0, OFTEN_NS + number}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &often, NULL) != 0)
        exit(3);
}

static void *work(void *alternate)
{
    const stack_t stack = {.ss_sp = alternate, .ss_size = STACK};
    sigset_t both;
    if (alternate)
        sigaltstack(&stack, NULL);
    start_timer(SIGALRM);
    start_timer(SIGPROF);
    while (atomic_load(&signals) < wanted) {
        free(make_in_main(32));
        atomic_fetch_add(&in_main, 1);
    }
    sigemptyset(&both);
    sigaddset(&both, SIGALRM);
    sigaddset(&both, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    static char alternate[STACK];
    if (argc < 3)
        return 2;
    wanted = atol(argv[2]);
    nested = strcmp(argv[1], "nested") == 0;
    const int on_stack = strcmp(argv[1], "alternate") == 0;
    set_handlers((nested ? SA_NODEFER : 0) | (on_stack ? SA_ONSTACK : 0));
    pthread_t ids[THREADS];
    const int threads = strcmp(argv[1], "threads") == 0 ? THREADS : 0;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, NULL) != 0)
            return 3;
    work(on_stack ? alternate : NULL);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    say("{\"make_in_main\": [%ld, %ld, 0], \"make_in_handler\": [%ld, %ld, 0], "
        "\"make_in_nested\": [%ld, %ld, 0]}\n",
        in_main, in_main * 32, in_handler, in_handler * 100, in_nested, in_nested * 64);
    return 0;
}
