/* collect/stranger_reason.c - why a program does not load the recorder.
 *
 * Only what is certain: a program that is merely slow to start has no reason.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/elf_facts.h"
#include "collect/procfs.h"
#include "collect/strangers.h"

enum {
    TIDE_FILE_BYTES = 256 * 1024, /* of an environment or a list of mappings */
};

static const char LIBRARY[] = "libtidemark";
static const char SET_ID[] = "setuid, setgid or with file capabilities";

static const char *judge_bytes(const uint8_t *bytes, size_t size)
{
    struct tide_elf_facts facts;
    tide_elf_look(bytes, size, false, &facts);
    if (facts.kind == TIDE_ELF_STATIC)
        return "statically linked";
    if (facts.kind == TIDE_ELF_FOREIGN)
        return "for another kind of processor";
    return facts.kind == TIDE_ELF_DYNAMIC && strstr(facts.loader, "/ld-musl")
               ? "linked with musl"
               : NULL;
}

static const char *judge_file(const char *path)
{
    struct stat found;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    void *bytes = MAP_FAILED;
    const char *reason = NULL;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0)
        bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) {
        reason = judge_bytes(bytes, (size_t)found.st_size);
        (void)munmap(bytes, (size_t)found.st_size);
    }
    (void)close(fd);
    return reason;
}

const char *tide_stranger_file_reason(const char *path)
{
    struct stat found;
    if (*path != '/' || stat(path, &found) != 0 || !S_ISREG(found.st_mode))
        return NULL;
    if (found.st_mode & (S_ISUID | S_ISGID))
        return SET_ID;
    return judge_file(path);
}

static const char *judge_rights(uint32_t pid)
{
    ElfW(auxv_t) entries[64];
    const ssize_t got = tide_procfs_read(pid, "auxv", (char *)entries, sizeof(entries));
    for (ssize_t i = 0; (i + 1) * (ssize_t)sizeof(entries[0]) <= got; i++) {
        if (entries[i].a_type == AT_SECURE && entries[i].a_un.a_val)
            return SET_ID;
    }
    return NULL;
}

/* Is there a word with BEFORE, and later the recorder, among the LENGTH BYTES? */
static bool mentions(const char *bytes, size_t length, const char *before)
{
    const char *at = bytes;
    const char *const end = bytes + length;
    while ((at = memmem(at, (size_t)(end - at), before, strlen(before)))) {
        if (memmem(at, strnlen(at, (size_t)(end - at)), LIBRARY, strlen(LIBRARY)))
            return true;
        at += strlen(before);
    }
    return false;
}

/* Only once exec has put an environment in place.  Between the two looks it may have begun
 * another program, which has none yet: what is empty is looked at once more. */
static ssize_t read_environment(uint32_t pid, char *buffer)
{
    ssize_t got = 0;
    for (int i = 0; i < 2 && got == 0; i++) {
        if (!tide_procfs_began(pid))
            return -1;
        got = tide_procfs_read(pid, "environ", buffer, TIDE_FILE_BYTES);
    }
    return got;
}

/* Who writes over his own may still have the recorder: that shows among his files. */
static const char *judge_environment(uint32_t pid)
{
    char *const buffer = malloc(TIDE_FILE_BYTES);
    if (!buffer)
        return NULL;
    ssize_t got = read_environment(pid, buffer);
    bool removed = got >= 0 && !mentions(buffer, (size_t)got, "LD_PRELOAD=");
    if (removed) {
        got = tide_procfs_read(pid, "maps", buffer, TIDE_FILE_BYTES);
        removed = got > 0 && !mentions(buffer, (size_t)got, "/");
    }
    free(buffer);
    return removed ? TIDE_STRANGER_WITHOUT_PRELOAD : NULL;
}

/* May everybody pass through all folders of PATH? */
static bool is_open_to_all(const char *path)
{
    char part[128]; /* more than a session folder can have */
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        const int length = (int)(slash - path);
        struct stat found;
        (void)snprintf(part, sizeof(part), "%.*s", length ? length : 1, path);
        if (stat(part, &found) != 0 || !(found.st_mode & S_IXOTH))
            return false;
    }
    struct stat last;
    return stat(path, &last) == 0 && (last.st_mode & S_IXOTH);
}

static const char *judge_user(uint32_t pid, const char *directory)
{
    char path[32];
    struct stat found;
    (void)snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
    if (stat(path, &found) != 0 || found.st_uid == geteuid() || found.st_uid == 0)
        return NULL;
    return is_open_to_all(directory) ? NULL : TIDE_STRANGER_OF_ANOTHER_USER;
}

/* As PID sees the file system, in its own root and with its own mounts. */
static const char *judge_reach(uint32_t pid, const char *directory)
{
    char root[64], path[192];
    struct stat found;
    (void)snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
    (void)snprintf(path, sizeof(path), "%s%s", root, directory);
    return stat(root, &found) == 0 && stat(path, &found) != 0 && errno == ENOENT
               ? "the collector is out of its reach, as in a chroot or behind a private "
                 "/tmp"
               : NULL;
}

const char *tide_stranger_reason(uint32_t pid, const char *directory)
{
    uint64_t device, inode;
    char exe[64];
    if (tide_procfs_program(pid, &device, &inode) == TIDE_PROGRAM_HIDDEN)
        return "setuid or of another user";
    (void)snprintf(exe, sizeof(exe), "/proc/%" PRIu32 "/exe", pid);
    const char *reason = judge_file(exe);
    if (!reason)
        reason = judge_rights(pid);
    if (!reason)
        reason = judge_environment(pid);
    if (!reason)
        reason = judge_reach(pid, directory);
    return reason ? reason : judge_user(pid, directory);
}
