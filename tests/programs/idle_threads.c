/* tests/programs/idle_threads.c - threads with stacks of their own size that do nothing, one
 * after the other.  With lib_keys.so.
 */
#include <pthread.h>

#include "say.h"

enum { THREADS = 500, STACK = 64 << 10 };

static void *work(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t id;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&id, &attributes, work, NULL) != 0 ||
            pthread_join(id, NULL) != 0)
            return 1;
    say("done\n");
    return 0;
}
