/* programs/uses_malloc_check.c - print what is usable of a block of 21 bytes: 21 with
 * MALLOC_CHECK_ (and libc_malloc_debug.so), 24 without.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    char *const block = malloc(21);
    if (!block)
        return 1;
    printf("%zu\n", malloc_usable_size(block));
    free(block);
    return 0;
}
