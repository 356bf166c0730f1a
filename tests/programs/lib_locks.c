/* tests/programs/lib_locks.c - whatever is mapped after its constructor is locked, where that
 * may be as much as anybody likes. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

__attribute__((constructor)) static void lock(void)
{
    struct rlimit limit;
    if (geteuid() == 0 ||
        (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY))
        (void)mlockall(MCL_FUTURE);
}
