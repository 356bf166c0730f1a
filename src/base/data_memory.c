/* base/data_memory.c - the memory that this process has mapped, and may still map.
 */
#include "base/data_memory.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TIDE_STATM_FIELDS = 6, TIDE_STATM_PATH = 1024, TIDE_STATM_LINE = 256 };

/* The numbers of /proc/self/statm count pages: the first is all that is mapped, the sixth
 * what is writable and private. */
struct tide_mapped_memory tide_mapped_memory(const char *root)
{
    char path[TIDE_STATM_PATH], line[TIDE_STATM_LINE] = "";
    uint64_t pages[TIDE_STATM_FIELDS] = {0};
    const int length = snprintf(path, sizeof(path), "%s/proc/self/statm", root);
    const int fd = length > 0 && (size_t)length < sizeof(path)
                       ? open(path, O_RDONLY | O_CLOEXEC)
                       : -1;
    if (fd < 0 || read(fd, line, sizeof(line) - 1) <= 0)
        line[0] = '\0';
    if (fd >= 0)
        (void)close(fd);
    char *at = line;
    for (size_t i = 0; i < TIDE_STATM_FIELDS; i++)
        pages[i] = strtoull(at, &at, 10);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (struct tide_mapped_memory){pages[0] * page, pages[5] * page};
}

uint64_t tide_data_left(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    const uint64_t used = tide_mapped_memory("").data;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

void tide_data_allow(uint64_t bytes)
{
    struct rlimit limit;
    const uint64_t used = tide_mapped_memory("").data;
    if (bytes >= RLIM_INFINITY - used || getrlimit(RLIMIT_DATA, &limit))
        return;
    limit.rlim_cur = used + bytes < limit.rlim_max ? used + bytes : limit.rlim_max;
    (void)setrlimit(RLIMIT_DATA, &limit);
}
