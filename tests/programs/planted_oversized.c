/* tests/programs/planted_oversized.c - a buffer for a file that never was that large. */
#include "planted.h"

#define BUFFER (512ull << 20)

APART static char *make_buffer(void)
{
    return malloc(BUFFER);
}

int main(void)
{
    char *const buffer = make_buffer();
    if (!buffer)
        return 1;
    memset(buffer, 1, 1 << 20);
    for (unsigned i = 0; i < 20; i++)
        honest_work(i);
    free(buffer);
    confess("oversized", "make_buffer", BUFFER, 1);
    return 0;
}
