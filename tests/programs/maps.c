/* tests/programs/maps.c - the mmap family with known sizes; prints its own peak. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "say.h"

enum { MIB = 1 << 20 };

static unsigned long live, peak;

static void add(long bytes)
{
    live = (unsigned long)((long)live + bytes);
    if (live > peak)
        peak = live;
}

__attribute__((noinline)) static char *map_private(size_t bytes)
{
    char *volatile at =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    add((long)bytes);
    return at;
}

int main(void)
{
    char *a = map_private(8 * MIB);
    munmap(a + 2 * MIB, 2 * MIB); /* a hole */
    add(-2 * MIB);

    char *b = map_private(4 * MIB);
    b = mremap(b, 4 * MIB, 16 * MIB, MREMAP_MAYMOVE);
    add(12 * MIB);

    /* reserved only, then a part of it committed */
    char *c = mmap(NULL, 64 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(c, 3 * MIB, PROT_READ | PROT_WRITE);
    add(3 * MIB);
    mmap(c + 32 * MIB, MIB, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    add(MIB);

    /* a file and shared memory: not private */
    const int fd = open("/proc/self/exe", O_RDONLY);
    char *file = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
    char *shared =
        mmap(NULL, 5 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    madvise(b, 16 * MIB, MADV_DONTNEED); /* pages go, the map stays */

    munmap(b, 16 * MIB);
    add(-16 * MIB);
    munmap(file, 4096);
    munmap(shared, 5 * MIB);
    say("{\"peak\": %lu, \"live\": %lu, \"reserved_peak\": %d, \"shared_peak\": %d}\n",
        peak, live, 64 * MIB, 5 * MIB);
    return 0;
}
