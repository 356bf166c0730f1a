/* tests/programs/lib_fail_nth.c - let one allocation of tidemark itself fail.
 *
 * Preload it to tidemark with FAIL_NTH=N: the N-th call of malloc, calloc, realloc or mmap
 * of the process fails with ENOMEM; with FAIL_ALL=1 so does every later one.  With
 * FAIL_THREAD=N all calls of the N-th thread that makes any fail, and of later ones.  It
 * takes itself out of the environment, so that the recorded program knows nothing of it.  What
 * libdw and libelf ask for is left alone: they do not survive it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static _Atomic long calls, threads;
static _Thread_local long own_thread; /* 0: not counted yet */
static long nth, nth_thread;
static bool all;

__attribute__((constructor)) static void start(void)
{
    const char *const wish = getenv("FAIL_NTH"), *const thread = getenv("FAIL_THREAD");
    all = getenv("FAIL_ALL") != NULL;
    unsetenv("LD_PRELOAD");
    unsetenv("FAIL_NTH");
    unsetenv("FAIL_ALL");
    unsetenv("FAIL_THREAD");
    nth = wish ? atol(wish) : 0;
    nth_thread = thread ? atol(thread) : 0;
    calls = 0;
}

static bool is_spared(void *caller)
{
    struct dl_find_object found;
    const char *const name =
        _dl_find_object(caller, &found) == 0 ? found.dlfo_link_map->l_name : "";
    return strstr(name, "libdw") || strstr(name, "libelf");
}

static bool is_of_thread(void)
{
    if (own_thread == 0)
        own_thread = atomic_fetch_add(&threads, 1) + 1;
    return nth_thread > 0 && own_thread >= nth_thread;
}

static bool is_nth(void)
{
    const long call = atomic_fetch_add(&calls, 1) + 1;
    return nth > 0 && (call == nth || (all && call > nth));
}

static bool fails(void *caller)
{
    if ((nth == 0 && nth_thread == 0) || is_spared(caller))
        return false;
    if (!is_nth() && !is_of_thread())
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(block, size);
}

void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
    if (fails(__builtin_return_address(0)))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, bytes, prot, flags, fd, offset);
}
