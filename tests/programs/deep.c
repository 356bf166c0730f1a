/* tests/programs/deep.c - allocate at a given depth of recursion: deep DEPTH TIMES. */
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static void descend(int depth, int times)
{
    if (depth > 0) {
        descend(depth - 1, times);
        sink++; /* keeps the frame: no tail call */
        return;
    }
    for (int i = 0; i < times; i++) {
        void *volatile block = malloc(10);
        (void)block;
    }
}

int main(int argc, char **argv)
{
    descend(argc > 1 ? atoi(argv[1]) : 10, argc > 2 ? atoi(argv[2]) : 1);
    return 0;
}
