/* tests/programs/lib_locks.c - whatever is mapped after its constructor is locked, if that is
 * allowed. */
#include <sys/mman.h>

__attribute__((constructor)) static void lock(void)
{
    (void)mlockall(MCL_FUTURE);
}
