/* cli/latest_trace.c - which trace is meant when none is named: the newest. */
#include "cli/latest_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_trace_name(const char *name)
{
    const size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".tide") == 0;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Put the newest name of DIR into *BEST (owned); NULL when there is none. */
static enum tide_status find_newest(DIR *dir, char **best)
{
    struct timespec best_time = {0};
    const struct dirent *entry;
    *best = NULL;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR is ours alone
    while ((entry = readdir(dir))) {
        struct stat found;
        if (!is_trace_name(entry->d_name))
            continue;
        if (fstatat(dirfd(dir), entry->d_name, &found, 0) || !S_ISREG(found.st_mode))
            continue;
        if (*best && !is_newer(&found.st_mtim, &best_time))
            continue;
        free(*best);
        *best = strdup(entry->d_name);
        if (!*best)
            return TIDE_ENOMEM;
        best_time = found.st_mtim;
    }
    return *best ? TIDE_OK : TIDE_ENOENT;
}

enum tide_status tide_latest_trace(const char *folder, char **out)
{
    *out = NULL;
    DIR *const dir = opendir(folder);
    if (!dir)
        return errno == ENOENT ? TIDE_ENOENT : TIDE_EIO;
    char *name;
    const enum tide_status status = find_newest(dir, &name);
    (void)closedir(dir);
    if (status || strcmp(folder, ".") == 0) {
        *out = name;
        return status;
    }
    const int length = asprintf(out, "%s/%s", folder, name);
    free(name);
    if (length < 0) {
        *out = NULL;
        return TIDE_ENOMEM;
    }
    return TIDE_OK;
}
