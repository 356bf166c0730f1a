/* collect/privileges.c - does a program start with more rights than its caller has?
 *
 * The rules are the kernel's (security/commoncap.c): the set-id bits count when they
 * change who one is, file capabilities when the caller is not root, and neither counts
 * on a file system mounted nosuid or after no_new_privs.
 */
#include "collect/privileges.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Does the kernel look at set-id bits and capabilities of PATH at all? */
static bool bits_count(const char *path)
{
    struct statvfs mounted;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    return statvfs(path, &mounted) != 0 || !(mounted.f_flag & ST_NOSUID);
}

static bool changes_identity(const struct stat *about)
{
    const mode_t set_group = S_ISGID | S_IXGRP; /* without x it means something else */
    return ((about->st_mode & S_ISUID) && about->st_uid != getuid()) ||
           ((about->st_mode & set_group) == set_group && about->st_gid != getgid());
}

static bool has_capabilities(const char *path)
{
    struct vfs_ns_cap_data data = {0};
    const ssize_t got = getxattr(path, "security.capability", &data, sizeof(data));
    if (got < (ssize_t)XATTR_CAPS_SZ_1)
        return false;
    return (data.magic_etc & VFS_CAP_FLAGS_EFFECTIVE) || data.data[0].permitted ||
           data.data[1].permitted;
}

void tide_privileges_check(const char *path, struct tide_checks *out)
{
    static const struct tide_check identity = {
        .name = "setuid",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "record it as its owner (sudo tidemark run ...), or record a copy "
                  "without the bit; for sudo itself: sudo tidemark run PROGRAM",
    };
    static const struct tide_check capable = {
        .name = "capabilities",
        .level = TIDE_LEVEL_REFUSAL,
        .advice = "record it as root (sudo tidemark run ...), or record a copy, which "
                  "has no capabilities",
    };
    struct stat about;
    if (stat(path, &about) != 0 || !bits_count(path))
        return;
    if (changes_identity(&about))
        tide_checks_add(out, &identity,
                        "%s is %s for another user: the loader ignores LD_PRELOAD "
                        "then, so nothing could be recorded",
                        path, about.st_mode & S_ISUID ? "setuid" : "setgid");
    else if (getuid() != 0 && has_capabilities(path))
        tide_checks_add(out, &capable,
                        "%s has file capabilities: the loader ignores LD_PRELOAD then, "
                        "so nothing could be recorded",
                        path);
}
