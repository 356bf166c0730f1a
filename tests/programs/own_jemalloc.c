/* tests/programs/own_jemalloc.c - jemalloc's functions beside malloc, in known numbers.
 *
 * Says what each function made: site -> [calls, bytes, blocks left].  "own_jemalloc arena"
 * uses an arena of its own, too.
 */
#include <jemalloc/jemalloc.h>
#include <string.h>

#include "say.h"

enum { TIMES = 50 };

#define SITE __attribute__((noinline)) static

static void *volatile kept;

SITE void *make(size_t size, int flags)
{
    void *const block = mallocx(size, flags);
    kept = block;
    return block;
}

SITE void *grow(void *block, size_t size)
{
    void *const larger = rallocx(block, size, MALLOCX_ALIGN(64));
    kept = larger;
    return larger;
}

SITE size_t stretch(void *block, size_t size)
{
    const size_t real = xallocx(block, size, 0, 0);
    kept = block;
    return real;
}

int main(int argc, char **argv)
{
    unsigned stretched = 0;
    unsigned long bytes = 0;
    for (size_t i = 1; i <= TIMES; i++) {
        void *const first = make(1000 * i, MALLOCX_ZERO),
                    *second = make(100, MALLOCX_LG_ALIGN(8));
        bytes += 1000 * i + 100;
        if (stretch(first, 990 * i) >= 990 * i)
            stretched++;
        second = grow(second, 5000);
        dallocx(second, 0);
        if (i % 2)
            sdallocx(first, 990 * i, 0);
    }
    if (argc > 1 && strcmp(argv[1], "arena") == 0) {
        unsigned arena = 0;
        size_t size = sizeof(arena);
        if (mallctl("arenas.create", &arena, &size, NULL, 0) != 0)
            return 1;
        dallocx(make(100, MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE),
                MALLOCX_TCACHE_NONE);
        return 7;
    }
    say("{\"make\": [%d, %lu, 0], \"grow\": [%d, %d, 0], \"stretch\": [%u, %d, %d]}\n",
        2 * TIMES, bytes, TIMES, 5000 * TIMES, stretched, 990 * TIMES * (TIMES + 1) / 2,
        TIMES / 2);
    return 0;
}
