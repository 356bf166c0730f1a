/* tests/programs/other_frames.c - another library takes the place of one with large frame
 * tables, which was open at start.
 *
 * Usage: EARLY=LIBRARY other_frames LIBRARY STEP.  Allocates below every STEP-th function of
 * the second one, and says whether it is where the first one was.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "many_frames.h"
#include "opens_early.h"
#include "say.h"

int main(int argc, char **argv)
{
    if (argc < 3 || !opened_early || gap_early == MAP_FAILED)
        return 2;
    const uintptr_t before = (uintptr_t)dlsym(opened_early, "many_frames");
    if (dlclose(opened_early) != 0 || munmap(gap_early, GAP_BYTES) != 0)
        return 3;
    void *const library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        return 4;
    const uintptr_t first = (uintptr_t)dlsym(library, "many_frames");
    call_many_frames(first, (uint32_t)atoi(argv[2]));
    say(before == first ? "same place\n" : "another place\n");
    return 0;
}
