/* tests/programs/maps_no_more.c - threads on stacks of the program's own, in a sandbox that
 * kills for mmap.
 */
#include <pthread.h>

#include "forbid.h"
#include "say.h"

enum { STACK = 256 << 10, THREADS = 8 };

static _Alignas(4096) char stacks[THREADS][STACK];
static pthread_t ids[THREADS];

static void *work(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    /* What happens once has happened. */
    if (pthread_create(&ids[0], NULL, work, NULL) != 0 ||
        pthread_join(ids[0], NULL) != 0)
        return 1;
    if (forbid(SYS_mmap) != 0)
        return 2;
    for (int i = 0; i < THREADS; i++) {
        pthread_attr_setstack(&attributes, stacks[i], STACK);
        if (pthread_create(&ids[i], &attributes, work, NULL) != 0)
            return 3;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    say("done\n");
    return 7;
}
