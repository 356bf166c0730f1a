/* tests/programs/signal_at_start.c - a signal while the recorder is at work at the start of a
 * thread with a stack of its own size; the handler makes a block.
 *
 * It comes when pthread_setspecific is called, which no thread of the program itself does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "say.h"

enum { THREADS = 10, STACK = 256 << 10 };

static _Thread_local int once;
static volatile int starting, handled;
static void *blocks[THREADS];

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void handler(int number)
{
    (void)number;
    blocks[handled++] = make(77);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    int (*real)(pthread_key_t, const void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_setspecific");
    if (starting && !once++)
        raise(SIGUSR1);
    return real(key, value);
}

static void *work(void *unused)
{
    if (!once++) /* not recorded */
        raise(SIGUSR1);
    return unused;
}

int main(void)
{
    pthread_t id;
    pthread_attr_t attributes;
    signal(SIGUSR1, handler);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int i = 0; i < THREADS; i++) {
        starting = 1;
        once = 1; /* not in this one */
        if (pthread_create(&id, &attributes, work, NULL) != 0 ||
            pthread_join(id, NULL) != 0)
            return 1;
        starting = 0;
    }
    for (int i = 0; i < handled; i++)
        free(blocks[i]);
    say("{\"make\": [%d, %d, 0]}\n", handled, 77 * handled);
    return 0;
}
