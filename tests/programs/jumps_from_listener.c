/* tests/programs/jumps_from_listener.c - a handler jumps out of a callback, and life goes on.
 *
 * Says how many allocations the callback heard behind the jump, and whether it took another
 * thread seconds to end a window and the monitor.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <tidemark/tidemark.h>

#include "say.h"

enum { TIMES = 100 };

static sigjmp_buf out;
static volatile int heard, jumps;
static tide_handle monitor, window;

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static void hear(size_t requested, size_t used, const void *block, void *user)
{
    (void)requested;
    (void)used;
    (void)block;
    (void)user;
    heard = heard + 1;
    jumps = jumps + 1;
    if (jumps == 1)
        raise(SIGUSR1);
}

static void *end(void *failed)
{
    *(int *)failed = tide_stop(window, NULL) != TIDE_DONE ||
                     tide_monitor_remove(monitor) != TIDE_DONE;
    return NULL;
}

int main(void)
{
    struct timespec begun, ended;
    pthread_t thread;
    int failed = 1;
    window = tide_start();
    signal(SIGUSR1, jump);
    if (tide_monitor_add(hear, NULL, NULL, &monitor) != TIDE_DONE)
        return 2;
    void *volatile block = NULL;
    if (sigsetjmp(out, 1) == 0)
        block = malloc(10);
    heard = 0;
    for (int i = 0; i < TIMES; i++) {
        block = malloc(10);
        free(block);
    }
    const int behind = heard;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    if (pthread_create(&thread, NULL, end, &failed) != 0 ||
        pthread_join(thread, NULL) != 0 || failed)
        return 3;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    say("heard %d, %s\n", behind,
        ended.tv_sec - begun.tv_sec > 5 ? "waited" : "at once");
    return 0;
}
