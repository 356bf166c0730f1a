/* capture/stack_other.c - stacks that are not the thread's own: what may be read there. */
#include "capture/stack_other.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"

enum { TIDE_PAGES_SEEN = 65536, TIDE_PAGE_SHIFT = 12, TIDE_CHANGE_BITS = 20 };

/* Pages that could be read, each with the low bits of tide_other_changes() at that time.  So many are of
 * twenty thousand coroutines; who has none never touches it. */
static _Atomic uint64_t seen[TIDE_PAGES_SEEN];
_Atomic uint64_t tide_other_forgotten;

void tide_other_forget(void)
{
    atomic_fetch_add_explicit(&tide_other_forgotten, 1, memory_order_relaxed);
}

/* The kernel reads the set before it finds that there is no such thing to do with it.  In a
 * sandbox it may refuse to look: then it is left to the frame tables. */
static bool ask(uintptr_t at)
{
    const int saved = errno;
    const bool there =
        syscall(SYS_rt_sigprocmask, -1, at, NULL, sizeof(uint64_t)) != -1 ||
        errno != EFAULT;
    errno = saved;
    return there;
}

bool tide_other_is_there(uintptr_t at)
{
    const uint64_t page = at >> TIDE_PAGE_SHIFT;
    const uint64_t now = tide_other_changes() & ((1u << TIDE_CHANGE_BITS) - 1);
    const uint64_t key = page << TIDE_CHANGE_BITS | now;
    _Atomic uint64_t *const place =
        &seen[(page * 0x9e3779b97f4a7c15ull) >> 40 & (TIDE_PAGES_SEEN - 1)];
    if (TIDE_LIKELY(atomic_load_explicit(place, memory_order_relaxed) == key))
        return true;
    if (tide_process && atomic_load(&tide_process->off)) /* not one call more */
        return false;
    if (!ask(at))
        return false;
    atomic_store_explicit(place, key, memory_order_relaxed);
    return true;
}
