/* tests/programs/lib_plugin_two.c - allocates; to be loaded where the other was. */
#include <stdlib.h>

void *plugin_make(size_t size);

__attribute__((noinline)) static void *second_plugin_site(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

void *plugin_make(size_t size)
{
    volatile char frame[3000];
    frame[0] = 1;
    void *volatile block = second_plugin_site(size * (size_t)frame[0]);
    return block;
}
