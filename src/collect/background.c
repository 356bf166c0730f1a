/* collect/background.c - become a process that nobody waits for. */
#include "collect/background.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static void keep(struct tide_inherited *inherited, int fd)
{
    int *const wider = realloc(inherited->fds, (inherited->count + 1) * sizeof(int));
    if (!wider)
        return;
    inherited->fds = wider;
    inherited->fds[inherited->count++] = fd;
}

void tide_inherited_find(struct tide_inherited *inherited)
{
    *inherited = (struct tide_inherited){0};
    DIR *const folder = opendir("/proc/self/fd");
    const struct dirent *item;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this call's own
    while (folder && (item = readdir(folder))) {
        char *end;
        const long fd = strtol(item->d_name, &end, 10);
        if (*end == '\0' && fd > STDERR_FILENO && fd != dirfd(folder))
            keep(inherited, (int)fd);
    }
    if (folder)
        (void)closedir(folder);
}

void tide_inherited_release(struct tide_inherited *inherited)
{
    free(inherited->fds);
    *inherited = (struct tide_inherited){0};
}

void tide_descriptors_take(struct rlimit *before)
{
    if (getrlimit(RLIMIT_NOFILE, before) != 0)
        return;
    const struct rlimit limit = {before->rlim_max, before->rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

void tide_background_leave(struct tide_inherited *inherited)
{
    (void)setsid();
    (void)!chdir("/");
    for (size_t i = 0; i < inherited->count; i++)
        (void)close(inherited->fds[i]);
    inherited->count = 0;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0)
        return;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        (void)dup2(nowhere, fd);
    if (nowhere > STDERR_FILENO)
        (void)close(nowhere);
}
