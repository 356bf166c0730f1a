/* tests/programs/lib_early.c - its constructor allocates before the recorder's has run. */
#include <stdlib.h>

enum { EARLY_BLOCKS = 5000 };

void *early_blocks[EARLY_BLOCKS];

__attribute__((noinline)) static void *make_early(size_t size)
{
    return malloc(size);
}

__attribute__((constructor)) static void begin(void)
{
    for (size_t i = 0; i < EARLY_BLOCKS; i++)
        early_blocks[i] = make_early(i + 1);
    for (size_t i = 0; i < EARLY_BLOCKS; i += 2) {
        free(early_blocks[i]);
        early_blocks[i] = NULL;
    }
}
