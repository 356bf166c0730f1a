/* tests/bench/loads/lib_floor.c - the least that a preloaded recorder can cost.
 *
 * It forwards and does nothing else: what is below this cannot be saved.
 */
#include <dlfcn.h>
#include <stddef.h>

#define FORWARD __attribute__((visibility("default")))

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *block);

FORWARD void *malloc(size_t size)
{
    return __libc_malloc(size);
}

FORWARD void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

FORWARD void *realloc(void *old, size_t size)
{
    return __libc_realloc(old, size);
}

FORWARD void free(void *block)
{
    __libc_free(block);
}
