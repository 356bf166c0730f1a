/* tests/programs/frees_twice.c - frees blocks twice and lives: frees_twice TIMES.
 *
 * glibc without its caches of threads lets a small block be freed again when another one was
 * freed in between.  So it must run with GLIBC_TUNABLES=glibc.malloc.tcache_count=0.
 */
#include <stdlib.h>

enum { SIZE = 40 };

__attribute__((noinline)) static void *make(void)
{
    void *volatile block = malloc(SIZE);
    return block;
}

__attribute__((noinline)) static void drop(void *block)
{
    void *volatile gone = block;
    free(gone);
}

int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 1;
    void *volatile blocks[64];
    for (int i = 0; i < 2 * times && i < 64; i++)
        blocks[i] = make();
    for (int i = 0; i < times && i < 32; i++) {
        drop(blocks[2 * i]);
        drop(blocks[2 * i + 1]);
        drop(blocks[2 * i]);
    }
    _Exit(7);
}
