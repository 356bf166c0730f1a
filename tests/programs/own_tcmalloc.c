/* tests/programs/own_tcmalloc.c - tcmalloc's functions beside malloc, in known numbers.
 *
 * Says what each function made: site -> [calls, bytes, blocks left].
 */
#include <gperftools/tcmalloc.h>

#include "say.h"

/* In C++ only, says the header. */
void *tc_newarray(size_t size);
void tc_deletearray(void *block);

enum { TIMES = 50 };

#define SITE __attribute__((noinline)) static

static void *volatile kept;

SITE void *make(size_t size)
{
    void *const block = tc_malloc(size);
    kept = block;
    return block;
}

SITE void *clear(size_t count, size_t size)
{
    void *const block = tc_calloc(count, size);
    kept = block;
    return block;
}

SITE void *align(size_t size)
{
    void *block = NULL;
    if (tc_posix_memalign(&block, 256, size) != 0)
        _exit(1);
    kept = block;
    return block;
}

SITE void *grow(void *block, size_t size)
{
    void *const larger = tc_realloc(block, size);
    kept = larger;
    return larger;
}

SITE void *construct(size_t size)
{
    void *const block = tc_newarray(size);
    kept = block;
    return block;
}

int main(void)
{
    for (int i = 0; i < TIMES; i++) {
        tc_free(grow(make(1000), 30000));
        tc_free_sized(clear(3, 700), 2100);
        tc_cfree(align(500));
        void *const built = construct(64);
        if (i % 2)
            tc_deletearray(built);
        kept = tc_realloc(make(1000), 0); /* frees it */
        if (tc_malloc((size_t)-1 / 4))    /* fails */
            return 1;
    }
    say("{\"make\": [%d, %d, 0], \"grow\": [%d, %d, 0], \"clear\": [%d, %d, 0], "
        "\"align\": [%d, %d, 0], \"construct\": [%d, %d, %d]}\n",
        2 * TIMES, 2000 * TIMES, TIMES, 30000 * TIMES, TIMES, 2100 * TIMES, TIMES,
        500 * TIMES, TIMES, 64 * TIMES, TIMES / 2);
    return 0;
}
