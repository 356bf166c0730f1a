/* tests/programs/fork_amid_callback.c - fork while another thread is in a callback.
 *
 * The child has no such thread: a window that it closes waits for nobody, so its memory
 * is given back.  Usage: fork_amid_callback [bare], by fork or by _Fork.  Prints ok.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

static _Thread_local int stays;
static atomic_int inside, finished;

static void stay(size_t requested, size_t used, const void *block, void *user)
{
    (void)requested, (void)used, (void)block, (void)user;
    if (!stays)
        return;
    inside = 1;
    while (!finished)
        usleep(1000);
}

static void *allocate(void *unused)
{
    stays = 1;
    free(malloc(10));
    return unused;
}

static unsigned long recorder_bytes(void)
{
    struct tide_recorder_counters counters;
    tide_counters(&counters);
    return counters.recorder_bytes;
}

/* The first window leaves an old list behind that the second gives back as well. */
static int in_child(void)
{
    tide_stop(tide_start(), NULL);
    const unsigned long before = recorder_bytes();
    const int answer = tide_stop(tide_start(), NULL);
    return answer == TIDE_DONE && recorder_bytes() == before ? 0 : 1;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    tide_handle monitor;
    int status = -1;
    (void)argv;
    if (tide_monitor_add(stay, NULL, NULL, &monitor) != TIDE_DONE ||
        pthread_create(&thread, NULL, allocate, NULL) != 0)
        return 2;
    while (!inside)
        usleep(1000);
    const pid_t child = argc > 1 ? _Fork() : fork();
    if (child == 0)
        _exit(in_child());
    waitpid(child, &status, 0);
    finished = 1;
    pthread_join(thread, NULL);
    tide_monitor_remove(monitor);
    puts(status == 0 ? "ok" : "wrong");
    return status != 0;
}
