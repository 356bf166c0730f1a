/* tests/programs/lib_toy_malloc.c - an allocator that may be called in signal handlers.
 *
 * It only ever takes from one array with one atomic add and never gives back, so a test
 * can allocate in a handler that interrupted malloc without breaking any rule.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static _Alignas(64) unsigned char memory[1u << 30];
static _Atomic size_t used;

void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *old, size_t size);
void free(void *block);
size_t malloc_usable_size(void *block);

void *malloc(size_t size)
{
    const size_t bytes = 16 + ((size + 15) & ~(size_t)15);
    const size_t at = atomic_fetch_add(&used, bytes);
    if (at + bytes > sizeof(memory))
        return NULL;
    memcpy(memory + at, &size, sizeof(size));
    return memory + at + 16;
}

size_t malloc_usable_size(void *block)
{
    size_t size = 0;
    if (block)
        memcpy(&size, (unsigned char *)block - 16, sizeof(size));
    return size;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    const size_t kept = malloc_usable_size(old);
    if (block && old)
        memcpy(block, old, kept < size ? kept : size);
    return block;
}

void free(void *block)
{
    (void)block;
}
