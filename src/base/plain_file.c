/* base/plain_file.c - open a file whose name came from somewhere else.
 *
 * O_PATH finds the file without opening it; /proc/self/fd then opens the very file that
 * was looked at, whatever has its name meanwhile.
 */
#include "base/plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TIDE_FD_PATH = 32, TIDE_CONFIGFS = 0x62656570, TIDE_FUSECTL = 0x65735543 };

/* File systems whose files are questions to the kernel. */
static bool holds_no_files(const struct statfs *system)
{
    static const unsigned long MADE_UP[] = {
        PROC_SUPER_MAGIC, SYSFS_MAGIC,    DEBUGFS_MAGIC,      TRACEFS_MAGIC,
        SECURITYFS_MAGIC, SELINUX_MAGIC,  SMACK_MAGIC,        CGROUP_SUPER_MAGIC,
        BPF_FS_MAGIC,     PSTOREFS_MAGIC, EFIVARFS_MAGIC,     CGROUP2_SUPER_MAGIC,
        NSFS_MAGIC,       BINFMTFS_MAGIC, DEVPTS_SUPER_MAGIC, TIDE_CONFIGFS,
        TIDE_FUSECTL,
    };
    for (size_t i = 0; i < sizeof(MADE_UP) / sizeof(MADE_UP[0]); i++)
        if ((unsigned long)system->f_type == MADE_UP[i])
            return true;
    return false;
}

/* PLACE was opened with O_PATH. */
static bool is_plain(int place, struct stat *about)
{
    struct statfs system;
    return fstat(place, about) == 0 && S_ISREG(about->st_mode) &&
           fstatfs(place, &system) == 0 && !holds_no_files(&system);
}

/* Without /proc: open PATH, which was ABOUT just now; nothing else is kept. */
static int open_again(const char *path, int flags, const struct stat *about)
{
    struct stat now;
    const int fd = open(path, flags);
    if (fd < 0 || (fstat(fd, &now) == 0 && now.st_dev == about->st_dev &&
                   now.st_ino == about->st_ino))
        return fd;
    (void)close(fd);
    errno = TIDE_ENOTPLAIN;
    return -1;
}

int tide_plain_file_open(const char *path, int more, struct stat *about)
{
    const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    const int place = open(path, O_PATH | O_CLOEXEC | more);
    int fd = -1;
    if (place < 0)
        return -1;
    errno = TIDE_ENOTPLAIN;
    if (is_plain(place, about)) {
        char name[TIDE_FD_PATH];
        (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
        fd = open(name, flags);
        if (fd < 0 && errno == ENOENT)
            fd = open_again(path, flags | more, about);
    }
    const int problem = errno;
    (void)close(place);
    errno = problem;
    return fd;
}

bool tide_plain_file_barred(const char *path)
{
    struct stat about;
    const int place = open(path, O_PATH | O_CLOEXEC);
    const bool barred = place >= 0 && !is_plain(place, &about);
    if (place >= 0)
        (void)close(place);
    return barred;
}
