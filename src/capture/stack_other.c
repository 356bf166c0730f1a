/* capture/stack_other.c - stacks that are not the thread's own: what may be read there.
 *
 * What is remembered holds until the program changes what is mapped.  glibc unmaps large blocks
 * past the hook of munmap, so from the first page on that is remembered it is looked at what is
 * freed.  Programs that have no such stacks do not pay for it.
 */
#include "capture/stack_other.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"
#include "capture/real.h"

enum { TIDE_PAGES_SEEN = 65536, TIDE_PAGE_SHIFT = 12, TIDE_CHANGE_BITS = 20 };

/* Pages that could be read, each with the low bits of tide_other_changes() at that time.  So
 * many are of twenty thousand coroutines; who has none never touches it. */
static _Atomic uint64_t seen[TIDE_PAGES_SEEN];
_Atomic uint64_t tide_other_forgotten;

void tide_other_forget(void)
{
    atomic_fetch_add_explicit(&tide_other_forgotten, 1, memory_order_relaxed);
}

static void (*next_free)(void *);
static void *(*next_realloc)(void *, size_t);

static void free_and_forget(void *block)
{
    const bool mapped = tide_glibc_mapped(block);
    next_free(block);
    if (TIDE_UNLIKELY(mapped))
        tide_other_forget();
}

static void *realloc_and_forget(void *block, size_t size)
{
    const bool mapped = block && tide_glibc_mapped(block);
    void *const moved = next_realloc(block, size);
    if (TIDE_UNLIKELY(mapped))
        tide_other_forget();
    return moved;
}

/* Hooks of other threads call what they find there: this one or the one behind it. */
static TIDE_COLD void attend_frees(void)
{
    static _Atomic bool attended;
    if (!tide_real.glibc || atomic_exchange(&attended, true))
        return;
    next_free = tide_real.free;
    next_realloc = tide_real.realloc;
    __atomic_store_n(&tide_real.free, free_and_forget, __ATOMIC_RELEASE);
    __atomic_store_n(&tide_real.realloc, realloc_and_forget, __ATOMIC_RELEASE);
}

/* The kernel reads the set before it finds that there is no such thing to do with it.  In a
 * sandbox it may refuse to look: then the walk ends here. */
static bool ask(uintptr_t at)
{
    const int saved = errno;
    const bool there =
        syscall(SYS_rt_sigprocmask, -1, at, NULL, sizeof(uint64_t)) == -1 &&
        errno == EINVAL;
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
    attend_frees();
    atomic_store_explicit(place, key, memory_order_relaxed);
    return true;
}
