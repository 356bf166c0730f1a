/* tests/programs/short_threads.c - many threads, a few at a time; one block is kept of each.
 *
 * Usage: short_threads THREADS AT_ONCE.  A thread makes ten blocks and frees nine.
 */
#include <pthread.h>
#include <stdlib.h>

#include "say.h"

enum { EACH = 10, MOST_AT_ONCE = 1024 };

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *unused)
{
    void *blocks[EACH];
    for (int i = 0; i < EACH; i++)
        blocks[i] = make((size_t)(16 + i));
    for (int i = 1; i < EACH; i++)
        free(blocks[i]);
    return unused;
}

int main(int argc, char **argv)
{
    static pthread_t ids[MOST_AT_ONCE];
    const int threads = argc > 1 ? atoi(argv[1]) : 100;
    const int at_once = argc > 2 ? atoi(argv[2]) : 8;
    if (at_once < 1 || at_once > MOST_AT_ONCE)
        return 2;
    int begun = 0, joined = 0;
    while (joined < threads) {
        while (begun < threads && begun - joined < at_once)
            if (pthread_create(&ids[begun++ % at_once], NULL, work, NULL) != 0)
                return 3;
        pthread_join(ids[joined++ % at_once], NULL);
    }
    say("{\"make\": [%d, %d, %d]}\n", threads * EACH, threads * (16 * EACH + 45),
        threads);
    return 0;
}
