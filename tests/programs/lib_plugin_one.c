/* tests/programs/lib_plugin_one.c - allocates; to be closed and replaced by the other.
 *
 * Equal code at equal places, but for the size of a frame: who takes the one for the other
 * loses his way.
 */
#include <stdlib.h>

void *plugin_make(size_t size);

__attribute__((noinline)) static void *first_plugin_site(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

void *plugin_make(size_t size)
{
    volatile char frame[1000];
    frame[0] = 1;
    void *volatile block = first_plugin_site(size * (size_t)frame[0]);
    return block;
}
