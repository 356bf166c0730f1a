/* tests/programs/own_malloc.c - the program defines malloc itself: unharmed by us. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "say.h"

static _Alignas(16) char pool[1 << 22];
static volatile size_t used, mallocs, frees;

void *malloc(size_t size)
{
    const size_t bytes = (size + 31) & ~(size_t)15; /* its size stands before it */
    if (size > sizeof(pool) || used + bytes > sizeof(pool)) {
        errno = ENOMEM;
        return NULL;
    }
    char *const at = pool + used;
    used += bytes;
    mallocs++;
    memcpy(at, &size, sizeof(size));
    return at + 16;
}

void free(void *block)
{
    frees += block != NULL;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* the pool is never used twice */
}

void *realloc(void *block, size_t size)
{
    void *const moved = malloc(size);
    size_t before = 0;
    if (block)
        memcpy(&before, (char *)block - 16, sizeof(before));
    if (moved && block)
        memcpy(moved, block, before < size ? before : size);
    return moved;
}

int main(void)
{
    mallocs = frees = 0; /* since main: the recorder may have no part in it */
    char *volatile text = malloc(100);
    strcpy(text, "mine");
    text = realloc(text, 1000);
    for (int i = 0; i < 1000; i++) {
        void *volatile block = malloc(50);
        free(block);
    }
    say("%s %zu %zu %d\n", text, mallocs, frees,
        (uintptr_t)text >= (uintptr_t)pool &&
            (uintptr_t)text < (uintptr_t)(pool + used));
    return 7;
}
