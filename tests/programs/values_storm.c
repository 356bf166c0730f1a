/* tests/programs/values_storm.c - attributes that end while handlers begin and end others.
 *
 * A thread's values are told again in a child of fork.  The child ends each of them once:
 * what it allocates then has none, unless one was kept twice.  It allocates 1000 bytes with
 * its values and 2000 bytes without.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

enum { VALUES = 8, SIGNALS = 5000, ROUNDS = 300000 };

static const char *const NAMES[VALUES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static atomic_int over, handled;
static pthread_t first;

static void begin_and_end(int number)
{
    (void)number;
    tide_begin_int("handler", 1);
    tide_end("handler");
    handled++;
}

static void *send_all(void *unused)
{
    while (!over) {
        pthread_kill(first, SIGUSR1);
        sched_yield();
    }
    return unused;
}

static void in_child(void)
{
    void *volatile block = malloc(1000);
    for (int i = 0; i < VALUES; i++)
        tide_end(NAMES[i]);
    void *volatile other = malloc(2000);
    free(block);
    free(other);
    _exit(0);
}

int main(void)
{
    pthread_t sender;
    int status = 1;
    signal(SIGUSR1, begin_and_end);
    first = pthread_self();
    begin_and_end(0);
    for (int i = 0; i < VALUES; i++)
        tide_begin_int(NAMES[i], i);
    if (pthread_create(&sender, NULL, send_all, NULL))
        return 2;
    for (int i = 0; i < ROUNDS && handled < SIGNALS; i++) {
        tide_end(NAMES[1]);
        tide_begin_int(NAMES[1], 1);
    }
    over = 1;
    pthread_join(sender, NULL);
    const pid_t child = fork();
    if (child == 0)
        in_child();
    waitpid(child, &status, 0);
    return status;
}
