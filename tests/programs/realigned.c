/* tests/programs/realigned.c - allocates DEPTH calls down, each with a realigned stack. */
#include <stdlib.h>

static volatile int zero;

__attribute__((noinline)) static int go_down(int depth)
{
    _Alignas(64) volatile char here[64];
    here[0] = (char)depth;
    if (depth > 0)
        return go_down(depth - 1) + here[zero];
    for (int i = 0; i < 5; i++) {
        void *volatile block = malloc(24);
        free(block);
    }
    return here[zero];
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int i = 0; i < 3; i++)
        go_down(atoi(argv[1]));
    return 0;
}
