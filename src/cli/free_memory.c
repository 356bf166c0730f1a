/* cli/free_memory.c - how much memory this process could still get.
 *
 * A container's limit stands in its control group, not in /proc/meminfo; and a group's
 * parent may have a lower limit than the group.  What the group's file cache takes is
 * given back by the system when it is needed, so it counts as free.
 */
#include "cli/free_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/data_memory.h"

enum { TIDE_PATH = 1024, TIDE_LINE = 512 };

static FILE *open_below(const char *root, const char *path)
{
    char name[TIDE_PATH];
    const int length = snprintf(name, sizeof(name), "%s%s", root, path);
    return length > 0 && (size_t)length < sizeof(name) ? fopen(name, "re") : NULL;
}

/* The number behind KEY at the start of a line of PATH; UINT64_MAX when there is none.
 * "" is the start of the first line. */
static uint64_t read_number(const char *root, const char *path, const char *key)
{
    char line[TIDE_LINE];
    uint64_t number = UINT64_MAX;
    FILE *const file = open_below(root, path);
    if (!file)
        return UINT64_MAX;
    while (number == UINT64_MAX && fgets(line, sizeof(line), file)) {
        char *end = line;
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtoull(line + strlen(key), &end, 10);
        if (end == line || end == line + strlen(key)) /* "max": there is no limit */
            number = UINT64_MAX;
    }
    (void)fclose(file);
    return number;
}

static uint64_t least(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* 0 where OTHER is more, or is not known. */
static uint64_t without(uint64_t one, uint64_t other)
{
    return one > other ? one - other : 0;
}

/* --- Control groups ------------------------------------------------------------------ */

/* The names of a version's files. */
struct version {
    const char *mount, *limit, *used, *inactive, *active;
};
static const struct version SECOND = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                      "inactive_file ", "active_file "};
static const struct version FIRST = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                     "memory.usage_in_bytes", "total_inactive_file ",
                                     "total_active_file "};

static uint64_t number_of_group(const char *root, const char *folder, const char *name,
                                const char *key)
{
    char path[TIDE_PATH];
    const int length = snprintf(path, sizeof(path), "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof(path) ? read_number(root, path, key)
                                                       : UINT64_MAX;
}

static uint64_t left_in_group(const char *root, const char *folder,
                              const struct version *names)
{
    const uint64_t most = number_of_group(root, folder, names->limit, "");
    const uint64_t used = number_of_group(root, folder, names->used, "");
    if (most == UINT64_MAX || used == UINT64_MAX)
        return UINT64_MAX;
    const uint64_t inactive =
        number_of_group(root, folder, "memory.stat", names->inactive);
    const uint64_t active = number_of_group(root, folder, "memory.stat", names->active);
    const uint64_t cache =
        (inactive == UINT64_MAX ? 0 : inactive) + (active == UINT64_MAX ? 0 : active);
    return without(most, without(used, cache));
}

/* Of GROUP and those that it lies in.  In a container the path may be that of the host: then
 * only the outermost of it is there. */
static uint64_t left_in_groups(const char *root, const char *group,
                               const struct version *names)
{
    char folder[TIDE_PATH];
    const size_t outermost = strlen(names->mount);
    const int length = snprintf(folder, sizeof(folder), "%s%s", names->mount, group);
    uint64_t left = UINT64_MAX;
    if (length < 0 || (size_t)length >= sizeof(folder))
        return left;
    for (;;) {
        left = least(left, left_in_group(root, folder, names));
        char *const slash = strrchr(folder, '/');
        if ((size_t)(slash - folder) < outermost)
            return left;
        *slash = '\0';
    }
}

/* LINE of /proc/self/cgroup is NUMBER:CONTROLLERS:/GROUP; without controllers it is of the
 * second version. */
static uint64_t left_by_line(const char *root, char *line)
{
    char *const controllers = strchr(line, ':');
    char *const group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return UINT64_MAX;
    group[strcspn(group, "\n")] = '\0';
    *group = '\0';
    if (controllers + 1 == group)
        return left_in_groups(root, group + 1, &SECOND);
    return strstr(controllers, "memory") ? left_in_groups(root, group + 1, &FIRST)
                                         : UINT64_MAX;
}

static uint64_t left_by_groups(const char *root)
{
    char line[TIDE_PATH];
    uint64_t left = UINT64_MAX;
    FILE *const file = open_below(root, "/proc/self/cgroup");
    if (!file)
        return left;
    while (fgets(line, sizeof(line), file))
        left = least(left, left_by_line(root, line));
    (void)fclose(file);
    return left;
}

/* --- The process --------------------------------------------------------------------- */

static uint64_t left_by_limit(__rlimit_resource_t what, uint64_t used)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return without(limit.rlim_cur, used);
}

uint64_t tide_free_memory(const char *root)
{
    const struct tide_mapped_memory mapped = tide_mapped_memory(root);
    const uint64_t system = read_number(root, "/proc/meminfo", "MemAvailable:");
    const uint64_t bytes = system > UINT64_MAX / 1024 ? UINT64_MAX : system * 1024;
    return least(least(bytes, left_by_groups(root)),
                 least(left_by_limit(RLIMIT_AS, mapped.all),
                       left_by_limit(RLIMIT_DATA, mapped.data)));
}
