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

#include "base/nearest.h"
#include "model/path.h"

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

char *tide_near_trace(const char *path)
{
    enum { TIDE_NAMES_MOST = 256 }; /* more are not compared */
    const char *const base = tide_path_base(path);
    const int length = (int)(base - path);
    char *folder = NULL, *near = NULL, *names[TIDE_NAMES_MOST];
    size_t count = 0;
    if (asprintf(&folder, "%.*s", length ? length : 1, length ? path : ".") < 0)
        return NULL;
    DIR *const dir = opendir(folder);
    const struct dirent *entry;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR is ours alone
    while (dir && count < TIDE_NAMES_MOST && (entry = readdir(dir)))
        if (is_trace_name(entry->d_name) && (names[count] = strdup(entry->d_name)))
            count++;
    const char *const best = tide_nearest(base, (const char *const *)names, count);
    if (best && asprintf(&near, "%.*s%s", length, path, best) < 0)
        near = NULL;
    while (count)
        free(names[--count]);
    if (dir)
        (void)closedir(dir);
    free(folder);
    return near;
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
