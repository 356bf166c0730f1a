/* tests/programs/late_names.c - more names than are kept, the last ones by a new thread.
 *
 * The thread has done nothing else before, so the recorder does not know it yet.
 */
#include <pthread.h>
#include <stdio.h>
#include <tidemark/tidemark.h>

enum { KEPT = 65536 / 4 * 3 };

static void name(int number)
{
    char text[32];
    (void)snprintf(text, sizeof(text), "name %d", number);
    tide_region_begin(text);
    tide_region_end(text);
}

static void *go_on(void *unused)
{
    name(KEPT);
    return unused;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < KEPT; i++)
        name(i);
    return pthread_create(&thread, NULL, go_on, NULL) || pthread_join(thread, NULL);
}
