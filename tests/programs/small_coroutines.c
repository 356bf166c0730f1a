/* tests/programs/small_coroutines.c - coroutines below the small stack of a thread. */
#include "small_stack.h"

int main(void)
{
    pthread_t thread;
    return begin_thread(&thread, work) || pthread_join(thread, NULL);
}
