/* tests/programs/odd_names.c - names that break formats: separators, quotes, controls.
 *
 * A function, a thread, a region and a label are called so; prints what it allocated.
 */
#include <pthread.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>

#include "say.h"

#define ODD "odd;name, \"quoted\"\ttab\nline\033[31m\377"

void *odd_function(size_t bytes) __asm__("\"odd;name, (x) <y>\"");
__attribute__((noinline)) void *odd_function(size_t bytes)
{
    void *volatile block = malloc(bytes);
    return block;
}

static void *run(void *kept)
{
    pthread_setname_np(pthread_self(), "a;\"b\",\t\n\033[1m");
    tide_region_begin(ODD);
    *(void **)kept = odd_function(1234);
    tide_label(*(void **)kept, ODD, 1234);
    tide_region_end(ODD);
    tide_region_begin("never ends");
    return NULL;
}

int main(void)
{
    static void *kept;
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &kept))
        return 1;
    pthread_join(thread, NULL);
    say("{\"bytes\": %d}\n", 1234);
    return kept == NULL;
}
