/* capture/first_errors.c - standard error, as it was when the program started.
 *
 * The descriptor that is kept has a high number, so that the program's files get the
 * numbers that they would get without us, and is closed by exec.  Whoever closes all may
 * close it, and get its number for a file of his own: before it is used it is compared
 * with the file that it was.  A file that was removed may leave its inode to a new one, so
 * the time at which it was made is compared too, where the file system keeps that.
 *
 * A child that was forked closes it: a daemon that leaves its three descriptors must leave
 * no pipe open, whose reader waits for the end.  It reports while it has standard error.
 */
#include "capture/first_errors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TIDE_HIGHEST = 1024, TIDE_BELOW_HIGHEST = 8 };

static struct statx first; /* what tells files apart of it */
static bool known;
static int kept = -1;

static bool look_at(int descriptor, struct statx *out)
{
    return syscall(SYS_statx, descriptor, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME,
                   out) == 0;
}

static bool is_first(int descriptor)
{
    struct statx now;
    return known && descriptor >= 0 && look_at(descriptor, &now) &&
           now.stx_dev_major == first.stx_dev_major &&
           now.stx_dev_minor == first.stx_dev_minor && now.stx_ino == first.stx_ino &&
           (now.stx_mask & STATX_BTIME) == (first.stx_mask & STATX_BTIME) &&
           (!(now.stx_mask & STATX_BTIME) ||
            (now.stx_btime.tv_sec == first.stx_btime.tv_sec &&
             now.stx_btime.tv_nsec == first.stx_btime.tv_nsec));
}

/* Few programs have a thousand files; more would cost the kernel a larger table. */
static int duplicate(void)
{
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) != 0)
        return -1;
    const int end =
        limit.rlim_cur < TIDE_HIGHEST ? (int)limit.rlim_cur : (int)TIDE_HIGHEST;
    const int least = end > TIDE_BELOW_HIGHEST ? end - TIDE_BELOW_HIGHEST : 0;
    return least > STDERR_FILENO
               ? (int)syscall(SYS_fcntl, STDERR_FILENO, F_DUPFD_CLOEXEC, least)
               : -1;
}

void tide_first_errors_begin(bool keep)
{
    const int saved = errno;
    known = look_at(STDERR_FILENO, &first);
    kept = known && keep ? duplicate() : -1;
    errno = saved;
}

int tide_first_errors(void)
{
    const int saved = errno;
    const int found = is_first(kept)            ? kept
                      : is_first(STDERR_FILENO) ? STDERR_FILENO
                                                : -1;
    errno = saved;
    return found;
}

void tide_first_errors_after_fork(void)
{
    const int saved = errno;
    if (is_first(kept))
        syscall(SYS_close, kept);
    kept = -1;
    errno = saved;
}
