/* tests/programs/asks_for_names.c - use an allocator's function if anybody has it.
 *
 * Usage: asks_for_names [LIBRARY].  LIBRARY brings an allocator along, for itself alone.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "say.h"

enum { BYTES = 1000, ZERO = 64 };

typedef void *give(size_t size, int flags);
typedef void take(void *block, int flags);
typedef int use(int times);

/* As programs do that are linked with or without jemalloc. */
void *mallocx(size_t size, int flags) __attribute__((weak));
size_t sallocx(const void *block, int flags) __attribute__((weak));
size_t nallocx(size_t size, int flags) __attribute__((weak));
void dallocx(void *block, int flags) __attribute__((weak));

static bool weak_names_fail(void)
{
    if (!mallocx)
        return false;
    void *const block = mallocx(BYTES, 0);
    const bool wrong = !block || sallocx(block, 0) < BYTES || nallocx(BYTES, 0) < BYTES;
    dallocx(block, 0);
    return wrong;
}

static int use_names(void)
{
    static const char zeros[BYTES];
    give *const make = (give *)dlsym(RTLD_DEFAULT, "mallocx");
    take *const end = (take *)dlsym(RTLD_DEFAULT, "dallocx");
    void *const block = make && end ? make(BYTES, ZERO) : NULL;
    if (block && memcmp(block, zeros, BYTES) != 0)
        return 1;
    if (block)
        end(block, 0);
    return weak_names_fail() ? 2 : 0;
}

int main(int argc, char **argv)
{
    void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    use *const used = library ? (use *)dlsym(library, "use") : NULL;
    if (argc > 1)
        return used ? used(100) : 3;
    return use_names();
}
