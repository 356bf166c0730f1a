/* capture/stack_bounds.c - where a thread's stack begins and ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"
#include "capture/stack.h"
#include "capture/trail.h"

/* The loader's: top of the main thread's stack. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming) */
extern void *__libc_stack_end;

/* Where there is no limit, threads have stacks as glibc says.  The main stack has room for
 * any then, since nothing is mapped near it. */
#define TIDE_STACK_ENDLESS  (1ull << 36)
#define TIDE_THREAD_ENDLESS (1ull << 21)
/* So much at least the kernel leaves free below the main stack: half of it is sure to be
 * nothing else, even if the program raises its limit. */
#define TIDE_STACK_GAP      (1ull << 27)

static uint64_t longest = TIDE_STACK_ENDLESS;
static _Atomic uintptr_t mapped_below; /* the main stack: so far up the program has */
static uint64_t longest_of_thread = TIDE_THREAD_ENDLESS;

static pthread_t main_thread; /* 0: not known */

/* Asked once: later the program may be in a sandbox that kills for less. */
void tide_stack_bounds_init(void)
{
    struct rlimit limit;
    if (syscall(SYS_getpid) == syscall(SYS_gettid))
        main_thread = pthread_self();
    if (syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) != 0) {
        longest = TIDE_STACK_GAP / 2;
        return;
    }
    if (limit.rlim_cur == RLIM_INFINITY)
        return;
    longest_of_thread = (limit.rlim_cur + TIDE_PAGE - 1) & ~(uint64_t)(TIDE_PAGE - 1);
    longest = limit.rlim_cur < TIDE_STACK_GAP / 2 ? TIDE_STACK_GAP / 2 : limit.rlim_cur;
    if (longest > TIDE_STACK_ENDLESS)
        longest = TIDE_STACK_ENDLESS;
}

uint64_t tide_stack_bytes_asked(const pthread_attr_t *attributes)
{
    pthread_attr_t usual;
    size_t bytes = 0;
    if (attributes)
        return pthread_attr_getstacksize(attributes, &bytes) == 0 &&
                       bytes != longest_of_thread
                   ? bytes
                   : 0;
    if (pthread_attr_init(&usual) != 0)
        return 0;
    const uint64_t asked = tide_stack_bytes_asked(&usual); /* others may be usual now */
    pthread_attr_destroy(&usual);
    return asked;
}

/* All look for their bounds again, as after code was unloaded. */
void tide_stack_mapped(uintptr_t at, uintptr_t bytes)
{
    const uintptr_t top = (uintptr_t)__libc_stack_end, end = at + bytes;
    uintptr_t before = atomic_load(&mapped_below);
    if (TIDE_LIKELY(top - end >= longest) || end <= before)
        return;
    while (end > before && !atomic_compare_exchange_weak(&mapped_below, &before, end))
        ;
    tide_stack_cfi_flush();
}

/* Nothing of pthread is asked: the first allocation of a thread may come from inside it,
 * with its locks held.  glibc keeps a thread's control block at the top of its stack. */
void tide_stack_find_bounds(struct tide_stream *stream)
{
    /* A child that was forked in another thread goes on with that one's stack. */
    const bool is_main =
        main_thread ? pthread_self() == main_thread : stream->tid == tide_process->pid;
    const struct tide_trail *const trail = tide_self.trail;
    stream->stack_high =
        is_main ? (uintptr_t)__libc_stack_end : (uintptr_t)pthread_self();
    uint64_t bytes = is_main ? longest : longest_of_thread;
    if (!is_main && trail && trail->stack_bytes)
        bytes = trail->stack_bytes;
    stream->stack_low = stream->stack_high > bytes ? stream->stack_high - bytes : 0;
    const uintptr_t others = atomic_load(&mapped_below);
    if (is_main && stream->stack_low < others)
        stream->stack_low = others;
}
