/* collect/segment_users.c - who maps a segment, as /proc knows it. */
#include "collect/segment_users.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/procfs.h"
#include "collect/segment.h"

/* Is LINE of a process's maps about the file INODE? */
static bool is_of(const char *line, uint64_t inode)
{
    const char *field = line;
    if (!strstr(line, "memfd:"))
        return false;
    for (int i = 0; field && i < 4; i++) { /* addresses, rights, offset, device */
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return field && strtoull(field, NULL, 10) == inode;
}

static bool maps(uint32_t pid, uint64_t inode, double since)
{
    char path[64];
    char *line = NULL;
    size_t size = 0;
    bool found = false;
    (void)snprintf(path, sizeof(path), "/proc/%u/maps", (unsigned)pid);
    FILE *const file = fopen(path, "re");
    if (!file)
        return (errno == EACCES || errno == EPERM) &&
               tide_procfs_started(pid) >= since && tide_procfs_lives(pid);
    while (!found && getline(&line, &size, file) >= 0)
        found = is_of(line, inode);
    free(line);
    (void)fclose(file);
    return found;
}

bool tide_share_is_mapped(const struct tide_share *share)
{
    struct stat about;
    bool found = false;
    if (fstat(share->fd, &about) != 0)
        return true;
    DIR *const folder = opendir("/proc");
    const struct dirent *item;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (folder && !found && (item = readdir(folder))) {
        char *end;
        const unsigned long pid = strtoul(item->d_name, &end, 10);
        if (*end == '\0' && pid > 0 && pid != (unsigned long)getpid())
            found = maps((uint32_t)pid, about.st_ino, share->session_began);
    }
    if (folder)
        (void)closedir(folder);
    return found || !folder;
}
