/* tests/programs/early.c - ends what a library began before main. */
#include <stdlib.h>

extern void *early_blocks[5000];

int main(void)
{
    for (size_t i = 0; i < sizeof(early_blocks) / sizeof(early_blocks[0]); i++)
        free(early_blocks[i]);
    return 0;
}
