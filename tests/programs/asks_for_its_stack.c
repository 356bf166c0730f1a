/* tests/programs/asks_for_its_stack.c - a thread whose first allocation is inside pthread.
 *
 * pthread_getattr_np allocates while it holds the thread's lock, as runtimes with a
 * garbage collector make it do at thread start.
 */
#include <pthread.h>

#include "say.h"

static void *work(void *unused)
{
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0)
        pthread_attr_destroy(&attributes);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    say("done\n");
    return 0;
}
