/* tests/programs/lib_deepbind.c - allocates for others and frees what others made.
 *
 * To be loaded with RTLD_DEEPBIND: its malloc is then libc's, whatever is preloaded.
 */
#include <stdlib.h>
#include <string.h>

void *deep_make(size_t size);
void deep_free(void *block);
char *deep_copy(char *old, const char *text);

void *deep_make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

void deep_free(void *block)
{
    free(block);
}

/* Resizes what the other side made. */
char *deep_copy(char *old, const char *text)
{
    char *copy = realloc(old, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}
