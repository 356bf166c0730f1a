/* tests/programs/many_frames.c - allocate below each of many functions.
 *
 * Usage: many_frames STEP [closed].  Below every STEP-th one; closed: in a sandbox that kills
 * for madvise.  Prints how many KiB of the library that has them are in this process's memory.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forbid.h"
#include "say.h"

enum { FUNCTIONS = 32768, FUNCTION_BYTES = 32 };

void many_frames(void (*inside)(void)); /* the first */

__attribute__((noinline)) static void inside(void)
{
    void *volatile block = malloc(24);
    free(block);
}

/* Without stdio, which allocates. */
static long resident_of(const char *name)
{
    static char text[1 << 20];
    size_t length = 0;
    const int file = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    for (ssize_t got; (got = read(file, text + length, sizeof(text) - 1 - length)) > 0;)
        length += (size_t)got;
    close(file);
    long sum = 0;
    for (const char *at = text; (at = strstr(at, name)); at += strlen(name)) {
        const char *const rss = strstr(at, "\nRss:");
        sum += rss ? strtol(rss + strlen("\nRss:"), NULL, 10) : 0;
    }
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2 || (argc > 2 && forbid(SYS_madvise) != 0))
        return 2;
    const uint32_t step = (uint32_t)atoi(argv[1]);
    for (uint32_t i = 0; i < FUNCTIONS; i += step) {
        /* All over the place, each one once: the factor is odd. */
        const uint32_t index = i * 10007 % FUNCTIONS;
        const uintptr_t at = (uintptr_t)many_frames + index * FUNCTION_BYTES;
        ((void (*)(void (*)(void)))at)(inside);
    }
    say("%ld\n", resident_of("lib_many_frames.so"));
    return 0;
}
