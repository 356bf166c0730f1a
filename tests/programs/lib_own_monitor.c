/* tests/programs/lib_own_monitor.c - a user's own preloaded library, whose constructor
 * registers a monitor before main: at the end it says what it saw. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <tidemark/tidemark.h>
#include <unistd.h>

static atomic_long allocs, bytes, frees;
static int answer = -1;

static void alloc_called(size_t requested, size_t used, const void *block, void *user)
{
    (void)used, (void)block, (void)user;
    allocs++;
    bytes += (long)requested;
}

static void free_called(size_t used, const void *block, void *user)
{
    (void)used, (void)block, (void)user;
    frees++;
}

__attribute__((constructor)) static void begin(void)
{
    tide_handle monitor;
    answer = tide_monitor_add(alloc_called, free_called, NULL, &monitor);
}

__attribute__((destructor)) static void end(void)
{
    char line[128];
    const int length =
        snprintf(line, sizeof(line), "answer %d allocs %ld bytes %ld frees %ld\n",
                 answer, (long)allocs, (long)bytes, (long)frees);
    if (write(2, line, (size_t)length) != length)
        _exit(1);
}
