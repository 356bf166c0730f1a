/* tests/programs/fills.c - take memory until there is no more, or enough.
 *
 * Usage: fills MIB THREADS.  Each thread makes blocks of 8 KiB, MIB in all, and touches
 * them.  Prints what it got and what it did not get.  Status 7: all; 3: a call failed with
 * ENOMEM; 4: a thread could not be made.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static _Atomic long made;
static _Atomic long failed;

__attribute__((noinline)) static char *make(size_t size)
{
    char *const block = malloc(size);
    if (block)
        atomic_fetch_add(&made, 1);
    else if (errno != ENOMEM)
        _exit(5);
    return block;
}

static void *work(void *mib)
{
    for (long i = 0; i < *(long *)mib * 128; i++) {
        errno = 0;
        char *const block = make(8192);
        if (block)
            memset(block, 1, 8192);
        else
            atomic_fetch_add(&failed, 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    long mib = argc > 1 ? atol(argv[1]) : 1;
    const int threads = argc > 2 ? atoi(argv[2]) : 0;
    pthread_t ids[16];
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, &mib))
            _exit(4);
    work(&mib);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    say("made %ld failed %ld\n", made, failed);
    _exit(failed ? 3 : 7);
}
