/* tests/programs/lib_plugin_one.c - allocates; to be closed and replaced by the other. */
#include <stdlib.h>

void *plugin_make(size_t size);

__attribute__((noinline)) static void *first_plugin_site(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

void *plugin_make(size_t size)
{
    void *volatile block = first_plugin_site(size);
    return block;
}
