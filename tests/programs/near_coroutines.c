/* tests/programs/near_coroutines.c - coroutines on stacks that are mapped near the main one:
 * near_coroutines BELOW, in MiB.
 */
#include <sys/mman.h>

#include "one_place.h"

static void unmap(char *from, size_t bytes)
{
    munmap(from, bytes);
}

int main(int argc, char **argv)
{
    const uintptr_t below = (uintptr_t)(argc > 1 ? atoi(argv[1]) : 32) << 20;
    void *const place = (void *)(((uintptr_t)&argc - below) & ~(uintptr_t)(PAGE - 1));
    make_another();
    if (mmap(place, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
             0) != place)
        return 1;
    use_place(place, unmap);
    return 0;
}
