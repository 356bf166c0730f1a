/* cli/piped_trace.c - a trace from standard input.
 *
 * Readers of a trace go back and forth in it, and some open it twice, so a pipe is copied
 * first.  The copy has no name: it is gone when this process is.
 */
#include "cli/piped_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"

enum { TIDE_PIPED_BYTES = 64 << 10 };

/* A file without a name in FOLDER; -1 and errno. */
static int make_file(const char *folder)
{
    struct tide_text name = {0};
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    tide_text_addf(&name, "%s/tidemark.XXXXXX", folder); /* file systems without it */
    if (!name.failed)
        fd = mkostemp(name.bytes, O_CLOEXEC);
    if (fd >= 0)
        (void)unlink(name.bytes);
    tide_text_release(&name);
    return fd;
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Copy standard input to FD; the exit status or -1. */
static int copy_to(int fd, const char *folder)
{
    static char buffer[TIDE_PIPED_BYTES];
    for (;;) {
        const ssize_t length = read(STDIN_FILENO, buffer, sizeof(buffer));
        if (length == 0)
            return -1;
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0)
            return tide_fail("standard input: %s", strerrordesc_np(errno));
        if (!write_all(fd, buffer, (size_t)length))
            return tide_fail("%s: the trace from standard input does not fit: %s "
                             "(TMPDIR names another folder)",
                             folder, strerrordesc_np(errno));
    }
}

int tide_piped_trace(void)
{
    struct stat about;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode))
        return -1;
    if (isatty(STDIN_FILENO))
        return tide_fail("standard input is a terminal; a trace comes from a pipe or a "
                         "file");
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    const char *const wish = getenv("TMPDIR");
    const char *const folder = wish && *wish ? wish : "/tmp";
    const int fd = make_file(folder);
    if (fd < 0)
        return tide_fail("%s: no room for the trace from standard input: %s", folder,
                         strerrordesc_np(errno));
    const int result = copy_to(fd, folder);
    if (result < 0)
        (void)dup2(fd, STDIN_FILENO);
    (void)close(fd);
    return result;
}
