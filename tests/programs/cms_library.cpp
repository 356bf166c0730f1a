/* tests/programs/cms_library.cpp - a program with a registry compiled against CMS's own.
 *
 * Prints, as JSON, whether the preload was there, what the registry was told of 100 blocks,
 * and the usable bytes of these.  With an argument, it makes its blocks again and again, but
 * for MaxMemory's monitor only the first ones.
 */
#include <cstdio>
#include <cstdlib>
#include <malloc.h>

#include "say.h"

extern "C" bool registry_begin();
extern "C" void registry_end();
extern "C" long registry_told(int what);
void pauseMaxMemoryPreload();
void unpauseMaxMemoryPreload();

static void *volatile kept;

static unsigned long make_blocks()
{
    unsigned long usable = 0;
    for (std::size_t i = 1; i <= 100; i++) {
        kept = i % 2 ? malloc(i) : ::operator new(i);
        usable += malloc_usable_size(kept);
        if (i % 2)
            free(kept);
        else
            ::operator delete(kept);
    }
    return usable;
}

int main(int argc, char **)
{
    make_blocks(); /* before: not told */
    if (argc > 1) {
        pauseMaxMemoryPreload();
        make_blocks();
        pauseMaxMemoryPreload(); /* not counted: one unpause ends it */
        make_blocks();
        unpauseMaxMemoryPreload();
        free(malloc(7));
        return 0;
    }
    const bool begun = registry_begin();
    const unsigned long usable = make_blocks();
    registry_end();
    make_blocks(); /* behind */
    say("[%d, %ld, %ld, %ld, %ld, %ld, %lu]\n", begun, registry_told(0),
        registry_told(1), registry_told(2), registry_told(3), registry_told(4), usable);
    return 0;
}
