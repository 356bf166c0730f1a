/* tests/programs/odd_huge.c - blocks and maps above 4 GiB, untouched; its own count. */
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "tally.h"

#define GIB (1ul << 30)

int main(void)
{
    void *volatile five = born(malloc(5 * GIB), 5 * GIB);
    void *volatile zeroed = born(calloc(5, GIB), 5 * GIB);
    void *volatile moved = born(malloc(9 * GIB / 2), 9 * GIB / 2);
    if (!five || !zeroed || !moved)
        return 3;
    moved = born(realloc(moved, 5 * GIB), 5 * GIB);
    tally.frees++;
    tally.reallocs++;
    void *volatile aligned = born(memalign(1 << 21, 4 * GIB + 1), 4 * GIB + 1);
    void *const reserved = mmap(NULL, 8 * GIB, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *const committed = mmap(NULL, 6 * GIB, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!moved || !aligned || reserved == MAP_FAILED || committed == MAP_FAILED)
        return 4;
    free(five);
    tally.frees++;
    say_tally();
    return 0;
}
