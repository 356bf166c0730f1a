/* tests/programs/clean_append.c - lists that grow in small steps, and are never copied.
 *
 * Nothing stands in the way of the one on the heap, and the large one is of pages that
 * the system moves.
 */
#include <stdlib.h>

enum { STEPS = 40000, STEP = 8, LARGE_STEPS = 900, LARGE = 4 << 20, LARGE_STEP = 4096 };

/* A block of FIRST bytes, STEPS times longer by STEP. */
static char *grow(size_t first, size_t steps, size_t step)
{
    char *block = malloc(first);
    for (size_t i = 1; block && i <= steps; i++) {
        char *const wider = realloc(block, first + i * step);
        if (!wider)
            abort();
        block = wider;
        block[first + i * step - 1] = 1;
    }
    return block;
}

int main(void)
{
    char *const small = grow(STEP, STEPS, STEP);
    char *const large = grow(LARGE, LARGE_STEPS, LARGE_STEP);
    free(small);
    free(large);
    return 0;
}
