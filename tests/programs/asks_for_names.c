/* tests/programs/asks_for_names.c - use an allocator's function if anybody has it.
 *
 * Usage: asks_for_names [LIBRARY].  LIBRARY brings an allocator along, for itself alone.
 */
#include <dlfcn.h>
#include <string.h>

#include "say.h"

enum { BYTES = 1000, ZERO = 64 };

typedef void *give(size_t size, int flags);
typedef void take(void *block, int flags);
typedef int use(int times);

static int use_names(void)
{
    static const char zeros[BYTES];
    give *const mallocx = (give *)dlsym(RTLD_DEFAULT, "mallocx");
    take *const dallocx = (take *)dlsym(RTLD_DEFAULT, "dallocx");
    void *const block = mallocx && dallocx ? mallocx(BYTES, ZERO) : NULL;
    if (block && memcmp(block, zeros, BYTES) != 0)
        return 1;
    if (block)
        dallocx(block, 0);
    return 0;
}

int main(int argc, char **argv)
{
    void *const library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    use *const used = library ? (use *)dlsym(library, "use") : NULL;
    if (argc > 1)
        return used ? used(100) : 3;
    return use_names();
}
