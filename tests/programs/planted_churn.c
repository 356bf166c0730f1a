/* tests/programs/planted_churn.c - a scratch buffer for every item. */
#include "planted.h"

enum { ITEMS = 600000 };

static uint64_t bytes;

APART static unsigned checksum(unsigned item)
{
    const size_t size = 64 + item % 64;
    unsigned char *volatile scratch = malloc(size);
    scratch[item % 64] = (unsigned char)item;
    const unsigned sum = scratch[item % 64];
    free(scratch);
    bytes += size;
    return sum;
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 10; i++)
        honest_work(i);
    for (unsigned i = 0; i < ITEMS; i++)
        sum += checksum(i);
    confess("churn", "checksum", bytes, ITEMS);
    return sum == 0;
}
