/* tests/programs/many_frames.c - allocate below each of many functions.
 *
 * Usage: many_frames STEP [closed|started].  Below every STEP-th one; closed: in a sandbox that
 * kills for madvise; started: by itself, in one that kills for munlock.  Prints how many KiB of the library that has them are in this process's memory.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "forbid.h"
#include "many_frames.h"
#include "say.h"

void many_frames(void (*what)(void)); /* the first */

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
    const bool started = argc > 2 && strcmp(argv[2], "started") == 0;
    if (argc < 2 || (argc > 2 && forbid(started ? SYS_munlock : SYS_madvise) != 0))
        return 2;
    if (started) {
        argv[2] = NULL;
        execv(argv[0], argv);
        return 3;
    }
    call_many_frames((uintptr_t)many_frames, (uint32_t)atoi(argv[1]));
    say("%ld\n", resident_of("lib_many_frames.so"));
    return 0;
}
