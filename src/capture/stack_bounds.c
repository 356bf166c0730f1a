/* capture/stack_bounds.c - where a thread's stack begins and ends. */
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"
#include "capture/stack.h"

/* The loader's: top of the main thread's stack. */
/* NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming) */
extern void *__libc_stack_end;

static uint64_t longest = 1ull << 26;
static uint64_t longest_of_thread =
    1ull << 21; /* where there is no limit, as glibc has it */

/* Asked once: later the program may be in a sandbox that kills for less. */
void tide_stack_bounds_init(void)
{
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_STACK, NULL, &limit) != 0 ||
        limit.rlim_cur == RLIM_INFINITY)
        return;
    if (limit.rlim_cur < longest)
        longest = limit.rlim_cur;
    longest_of_thread = longest;
}

/* Nothing of pthread is asked: the first allocation of a thread may come from inside it,
 * with its locks held.  glibc keeps a thread's control block at the top of its stack. */
void tide_stack_find_bounds(struct tide_stream *stream)
{
    const bool is_main = stream->tid == tide_process->pid;
    stream->stack_high =
        is_main ? (uintptr_t)__libc_stack_end : (uintptr_t)pthread_self();
    stream->stack_low = stream->stack_high - (is_main ? longest : longest_of_thread);
}
