/* tests/soak/lib_soak.c - a library that allocates; built twice, as SITE and MAKE say. */
#include <stdlib.h>

void *MAKE(size_t size);

__attribute__((noinline)) static void *SITE(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

void *MAKE(size_t size)
{
    void *volatile block = SITE(size);
    return block;
}
