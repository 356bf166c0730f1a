/* tests/programs/moves_maps.c - one thread moves a mapping, another maps what becomes free.
 *
 * The second keeps what it maps: KEPT mappings of BYTES are live at the end.  It sends the
 * first one signals: a handler that comes between the move and what is said of it rests.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "say.h"

enum { KEPT = 1500, BYTES = 16384, REST_US = 300 };

static _Atomic int over;
static _Atomic(void *) place; /* of the mapping that is moved */
static pthread_t mover;

static void rest(int number)
{
    (void)number;
    usleep(REST_US);
}

/* At WISH, if that is free. */
__attribute__((noinline)) static char *map(void *wish, size_t bytes)
{
    char *const at =
        mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void *keep(void *unused)
{
    for (int i = 0; i < KEPT; i++) {
        if (i % 3 == 0) {
            pthread_kill(mover, SIGUSR1);
            usleep(REST_US / 4);
        }
        if (!map((char *)atomic_load(&place) + BYTES, BYTES))
            _exit(2);
    }
    atomic_store(&over, 1);
    return unused;
}

__attribute__((noinline)) static void *move(void *at, size_t from, size_t to)
{
    void *const now = mremap(at, from, to, MREMAP_MAYMOVE);
    if (now == MAP_FAILED)
        _exit(3);
    return now;
}

int main(void)
{
    pthread_t thread;
    void *at = map(NULL, BYTES);
    mover = pthread_self();
    signal(SIGUSR1, rest);
    if (pthread_create(&thread, NULL, keep, NULL) != 0)
        return 1;
    size_t bytes = BYTES;
    while (!atomic_load(&over)) {
        at = move(at, bytes, bytes == BYTES ? 4 * BYTES : BYTES);
        bytes = bytes == BYTES ? 4 * BYTES : BYTES;
        atomic_store(&place, at);
    }
    pthread_join(thread, NULL);
    munmap(at, bytes);
    say("kept %d\n", KEPT);
    return 0;
}
