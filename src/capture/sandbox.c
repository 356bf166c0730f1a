/* capture/sandbox.c - the recorder keeps to the system calls that the program may make.
 *
 * A program that shuts itself in with seccomp lists what it needs, not what the recorder
 * needs, and may have told the kernel to kill it for anything else.  The filters pass
 * through our hooks of prctl() and syscall(), so they can be kept here and asked before
 * each call of ours.  That a filter is one thread's only is not told apart: all threads
 * of the recorder keep to it.
 *
 * What else needs a look here is rare enough for that: calls are made in cold paths only.
 */
#include "capture/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/kernel.h"
#include "capture/cautions.h"
#include "capture/filter_eval.h"
#include "capture/process.h"
#include "capture/session.h"
#include "capture/stack.h"
#include "trace/ring.h"

enum {
    TIDE_RULES_MAX = 16384, /* instructions of all filters together */
    TIDE_FILTERS_MAX = 256,
    TIDE_WAIT_NS = 20000000,
    TIDE_LOOKS = 20000, /* at about a microsecond each */
    TIDE_LOOKS_AT_SET = 10000000,
};

#if defined(__x86_64__)
#    define TIDE_AUDIT_ARCH AUDIT_ARCH_X86_64
#else
#    define TIDE_AUDIT_ARCH AUDIT_ARCH_AARCH64
#endif

static struct sock_filter rules[TIDE_RULES_MAX];
static struct {
    const struct sock_filter *rules;
    _Atomic uint32_t count; /* 0: not there yet.  Written last */
} filters[TIDE_FILTERS_MAX];
static _Atomic uint32_t rules_used, filters_used;
static _Atomic uint32_t
    being_set;                    /* filters that the kernel may have, and we not yet */
static _Atomic bool has_lost_one; /* there was no place for one: nothing is known */
static _Atomic bool is_shut_in;   /* there is any of this */

/* --- What may be called -------------------------------------------------------------- */

/* Of several filters the sternest verdict counts: the lowest, taken as signed. */
static uint32_t verdict_on(const struct tide_kernel_call *call)
{
    struct seccomp_data data = {.nr = (int)call->number, .arch = TIDE_AUDIT_ARCH};
    for (int i = 0; i < 6; i++)
        data.args[i] = (uint64_t)call->argument[i];
    data.instruction_pointer = (uint64_t)(uintptr_t)&tide_program_call;
    uint32_t sternest = SECCOMP_RET_ALLOW;
    const uint32_t used = atomic_load(&filters_used);
    for (uint32_t i = 0; i < used && i < TIDE_FILTERS_MAX; i++) {
        const uint32_t count = atomic_load(&filters[i].count);
        if (count == 0)
            continue;
        const uint32_t verdict = tide_filter_verdict(filters[i].rules, count, &data) &
                                 SECCOMP_RET_ACTION_FULL;
        if ((int32_t)verdict < (int32_t)sternest)
            sternest = verdict;
    }
    return sternest;
}

/* It takes the kernel microseconds to set a filter.  A signal handler that comes meanwhile
 * must not wait for its own thread for ever. */
static bool is_known(void)
{
    for (int i = 0; atomic_load(&being_set) != 0; i++)
        if (i == TIDE_LOOKS_AT_SET)
            return false;
    return !atomic_load(&has_lost_one);
}

static bool passes(const struct tide_kernel_call *call)
{
    if (!is_known())
        return false;
    const uint32_t verdict = verdict_on(call);
    return verdict == SECCOMP_RET_ALLOW || verdict == SECCOMP_RET_LOG;
}

#define TIDE_TAKE_CALL(call, first)                  \
    do {                                             \
        va_list rest;                                \
        va_start(rest, first);                       \
        (call).number = (first);                     \
        for (int i = 0; i < 6; i++)                  \
            (call).argument[i] = va_arg(rest, long); \
        va_end(rest);                                \
    } while (0)

long tide_program_call(long number, ...)
{
    struct tide_kernel_call call;
    TIDE_TAKE_CALL(call, number);
    return tide_kernel_libc(&call);
}

/* What the recorder calls syscall(). */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's */
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
    struct tide_kernel_call call;
    TIDE_TAKE_CALL(call, number);
    if (TIDE_LIKELY(!atomic_load(&is_shut_in)) || passes(&call))
        return tide_kernel_libc(&call);
    errno = EPERM;
    return -1;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

bool tide_sandbox_lets(long number, long first_argument)
{
    const struct tide_kernel_call call = {number, {first_argument}};
    return !atomic_load(&is_shut_in) || passes(&call);
}

static void look_again(const _Atomic uint32_t *word, uint32_t seen)
{
    for (int i = 0; i < TIDE_LOOKS && atomic_load(word) == seen; i++) {
        (void)syscall(SYS_sched_yield);
        for (int j = 0; j < 8; j++)
            atomic_thread_fence(memory_order_seq_cst);
    }
}

void tide_wait_while(_Atomic uint32_t *word, uint32_t seen)
{
    const struct timespec patience = {.tv_nsec = TIDE_WAIT_NS};
    if (syscall(SYS_futex, word, FUTEX_WAIT, seen, &patience, NULL, 0) != 0 &&
        errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT)
        look_again(word, seen);
}

/* --- A new filter --------------------------------------------------------------------- */

/* What the recorder needs so that threads that begin later have memory and stacks. */
static bool has_memory(void)
{
    static const struct tide_kernel_call needed[] = {
        {SYS_mmap,
         {0, TIDE_PAGE, PROT_READ | PROT_WRITE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0}},
        {SYS_madvise, {TIDE_PAGE, TIDE_PAGE, MADV_WIPEONFORK}},
        {SYS_mremap, {TIDE_PAGE, 0, TIDE_PAGE, MREMAP_MAYMOVE}},
    };
    for (unsigned i = 0; i < sizeof(needed) / sizeof(*needed); i++)
        if (!passes(&needed[i]))
            return false;
    return true;
}

/* Would the recorder of a program that this one executes be killed as it starts? */
static bool kills_starters(void)
{
    enum { TIDE_LIBUNWINDS = 5 }; /* the last ones are libunwind's */
    static const struct tide_kernel_call made[] = {
        {SYS_socket, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0}},
        {SYS_connect, {3, TIDE_PAGE, 110}},
        {SYS_setsockopt, {3, SOL_SOCKET, SO_RCVTIMEO, TIDE_PAGE, 16}},
        {SYS_sendto, {3, TIDE_PAGE, 16, MSG_NOSIGNAL}},
        {SYS_recvmsg, {3, TIDE_PAGE, MSG_CMSG_CLOEXEC}},
        {SYS_faccessat, {-100, TIDE_PAGE}},
        {SYS_readlinkat, {-100, TIDE_PAGE, TIDE_PAGE, 4096}},
        {SYS_sched_getaffinity, {0, 1024, TIDE_PAGE}},
        {SYS_getpid, {0}},
        {SYS_getppid, {0}},
        {SYS_gettid, {0}},
        {SYS_prctl, {PR_GET_NAME, TIDE_PAGE}},
        {SYS_prlimit64, {0, 7, 0, TIDE_PAGE}},
        {SYS_madvise, {TIDE_PAGE, TIDE_PAGE, MADV_WIPEONFORK}},
        {SYS_rt_sigprocmask, {0, TIDE_PAGE, TIDE_PAGE, 8}},
        {SYS_uname, {TIDE_PAGE}},
        {SYS_getrandom, {TIDE_PAGE, 8, 0}},
        {SYS_futex, {TIDE_PAGE, FUTEX_WAKE_PRIVATE, INT_MAX}},
        {SYS_pipe2, {TIDE_PAGE, O_CLOEXEC | O_NONBLOCK}},
        {SYS_mincore, {TIDE_PAGE, TIDE_PAGE, TIDE_PAGE}},
        {SYS_write, {4, TIDE_PAGE, 1}},
    };
    size_t count = sizeof(made) / sizeof(*made);
    if (tide_session->unwind != TIDE_UNWIND_LIBUNWIND)
        count -= TIDE_LIBUNWINDS;
    for (size_t i = 0; i < count; i++) {
        const uint32_t verdict = verdict_on(&made[i]);
        if ((int32_t)verdict < (int32_t)SECCOMP_RET_ERRNO)
            return true;
    }
    return false;
}

/* Filters outlive exec, what is kept here does not: so what is executed is told, by a
 * session without a name, to record nothing. */
static void warn_successors(void)
{
    static const char name[] = TIDE_SESSION_ENV "=";
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, name, sizeof(name) - 1) == 0)
            (*entry)[sizeof(name) - 1] = '\0';
}

static void say_consequences(void)
{
    static const struct tide_kernel_call forks = {SYS_clone, {SIGCHLD}};
    static const struct tide_kernel_call executes = {SYS_execve, {TIDE_PAGE}};
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON)
        return;
    if (passes(&executes) && kills_starters()) {
        warn_successors();
        tide_caution_sandbox(TIDE_SANDBOX_EXEC);
    }
    if ((passes(&forks) || atomic_load(&tide_process->multi)) && !has_memory())
        tide_caution_sandbox(TIDE_SANDBOX_MEMORY);
}

/* The kernel has read FILTER, so it can be read.  False: there are too many. */
static bool keep(const struct sock_fprog *filter)
{
    const uint32_t first = atomic_fetch_add(&rules_used, filter->len);
    const uint32_t at = atomic_fetch_add(&filters_used, 1);
    if (at >= TIDE_FILTERS_MAX || first + filter->len > TIDE_RULES_MAX)
        return false;
    memcpy(&rules[first], filter->filter, filter->len * sizeof(*rules));
    filters[at].rules = &rules[first];
    atomic_store(&filters[at].count, filter->len);
    return true;
}

void tide_sandbox_begin(void)
{
    atomic_fetch_add(&being_set, 1);
    atomic_store(&is_shut_in, true);
    tide_stack_shut_in();
}

void tide_sandbox_end(const struct sock_fprog *filter)
{
    const bool kept = filter && keep(filter);
    if (filter && !kept)
        atomic_store(&has_lost_one, true); /* no call is made any more */
    atomic_fetch_sub(&being_set, 1);
    if (kept)
        say_consequences();
    else if (filter)
        tide_caution_end();
}
