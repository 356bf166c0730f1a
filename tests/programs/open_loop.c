/* tests/programs/open_loop.c - a thread ends in a loop that it has not ended.
 *
 * The loop ends with it: what main allocates afterwards, outside of its own loop, is not in
 * one.  Two loops, with 3 and with 5 calls.
 */
#include <pthread.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

static void allocate(int calls)
{
    while (calls-- > 0)
        free(malloc(10));
}

static void *leave_open(void *unused)
{
    tide_loop_begin("cycle");
    allocate(3);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, leave_open, NULL) != 0)
        return 2;
    pthread_join(thread, NULL);
    allocate(1000);
    tide_loop_begin("cycle");
    allocate(5);
    tide_loop_end("cycle");
    allocate(1000);
    return 0;
}
