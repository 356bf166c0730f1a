/* tests/programs/lib_slow_files.c - to be preloaded: a file system that does not answer.
 *
 * Where tidemark opens the file SLOW_OPEN, or asks what SLOW_STAT is, it waits for half a minute.
 * The process that waits is written to the file SLOW_NOTE first.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SECONDS = 30 };

static void wait_for(const char *path, const char *variable)
{
    const char *const slow = getenv(variable);
    const char *const note = getenv("SLOW_NOTE");
    if (!slow || strcmp(slow, path) != 0 || !note ||
        strcmp(program_invocation_short_name, "tidemark") != 0)
        return;
    const int fd = creat(note, 0600);
    if (fd >= 0) {
        (void)dprintf(fd, "%d\n", (int)getpid());
        (void)close(fd);
    }
    (void)sleep(SECONDS);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    wait_for(path, "SLOW_OPEN");
    return openat(AT_FDCWD, path, flags, mode);
}

int __open_2(const char *path, int flags); /* what _FORTIFY_SOURCE makes of open */
int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

int stat(const char *path, struct stat *about)
{
    wait_for(path, "SLOW_STAT");
    return fstatat(AT_FDCWD, path, about, 0);
}
