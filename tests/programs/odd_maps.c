/* tests/programs/odd_maps.c - overlays, holes and moves, counted in /proc/self/maps.
 *
 * All maps lie in a range of its own, so that the kernel's list says what is there: read
 * at the end and summed by kind.  sbrk and a shared map with a forked child come along.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"

#define BASE ((char *)0x200000000000ul)
#define MIB  (1ul << 20)
#ifndef MREMAP_DONTUNMAP
#    define MREMAP_DONTUNMAP 4
#endif
enum { RW = PROT_READ | PROT_WRITE };

static char *map(size_t at_mib, size_t mib, int prot, int flags)
{
    char *const at = mmap(BASE + at_mib * MIB, mib * MIB, prot,
                          flags | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (at == MAP_FAILED)
        _exit(3);
    return at;
}

/* Private writable, PROT_NONE and shared MiB that the kernel has in our range. */
static void look(unsigned long sums[3])
{
    static char text[1 << 16];
    size_t length = 0;
    ssize_t got;
    const int fd = open("/proc/self/maps", O_RDONLY);
    while ((got = read(fd, text + length, sizeof(text) - 1 - length)) > 0)
        length += (size_t)got;
    close(fd);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        unsigned long low, high;
        char kind[5];
        if (sscanf(line, "%lx-%lx %4s", &low, &high, kind) != 3 ||
            low < (uintptr_t)BASE || low >= (uintptr_t)BASE + 4096 * MIB)
            continue;
        const int class = kind[3] == 's' ? 2 : strncmp(kind, "---", 3) == 0 ? 1 : 0;
        sums[class] += high - low;
    }
}

int main(void)
{
    unsigned long sums[3] = {0, 0, 0};
    map(0, 64, RW, MAP_PRIVATE);
    map(16, 8, PROT_NONE, MAP_PRIVATE);     /* overlay: reserved in the middle */
    munmap(BASE + 4 * MIB, 3 * MIB);        /* a hole */
    map(5, 1, RW, MAP_PRIVATE);             /* partly filled again */
    mprotect(BASE + 18 * MIB, 2 * MIB, RW); /* committed out of the reserve */
    mprotect(BASE + 40 * MIB, 4 * MIB, PROT_READ);
    mprotect(BASE + 50 * MIB, 2 * MIB, PROT_NONE);
    madvise(BASE, 4 * MIB, MADV_DONTNEED); /* pages go, the map stays */
    munmap(BASE + 60 * MIB, 8 * MIB);      /* beyond its end */
    if (munmap(BASE, SIZE_MAX) == 0 || munmap(BASE, (size_t)-1 - MIB) == 0 ||
        munmap((void *)4096ul, 1ul << 62) == 0) /* nothing is unmapped */
        return 1;
    map(100, 10, RW, MAP_PRIVATE);
    mremap(BASE + 100 * MIB, 10 * MIB, 30 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED,
           BASE + 200 * MIB);                       /* moved and grown */
    mremap(BASE + 200 * MIB, 30 * MIB, 7 * MIB, 0); /* shrunk */
    map(320, 3, RW, MAP_PRIVATE);
    if (mremap(BASE + 320 * MIB, 3 * MIB, 3 * MIB, MREMAP_MAYMOVE | MREMAP_DONTUNMAP,
               BASE + 330 * MIB) !=
        BASE + 330 * MIB) /* moved; its place stays mapped */
        return 2;
    map(203, 20, PROT_NONE, MAP_PRIVATE); /* over the end of it */
    char *const shared = map(300, 5, RW, MAP_SHARED);
    const void *const refused =
        mmap(NULL, 2 * MIB, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    if (refused != MAP_FAILED)
        munmap((void *)(uintptr_t)refused, 2 * MIB);
    const pid_t child = fork();
    if (child == 0) {
        shared[0] = 5;
        munmap(BASE, 64 * MIB); /* the child's own copy */
        _exit(0);
    }
    waitpid(child, NULL, 0);
    char *const broke = sbrk(65536);
    memset(broke, 1, 65536);
    look(sums);
    say("{\"private\": %lu, \"reserved\": %lu, \"shared\": %lu, \"seen\": %d}\n",
        sums[0], sums[1], sums[2], shared[0]);
    return 0;
}
