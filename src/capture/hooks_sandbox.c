/* capture/hooks_sandbox.c - prctl and syscall: the program shuts itself in.
 *
 * syscall() ends in a jump, not in a call (this file is compiled with
 * -foptimize-sibling-calls), so what it calls finds the stack as without us.  Nothing here
 * may call syscall() itself: that would be the hook.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/raw/kernel.h"
#include "capture/cautions.h"
#include "capture/hooks.h"
#include "capture/lifecycle.h"
#include "capture/real.h"
#include "capture/sandbox.h"

/* Where no call and no look at the clock is allowed any more, recording ends before. */
static bool ends_recording(long option, long value)
{
    return (option == PR_SET_SECCOMP && value == SECCOMP_MODE_STRICT) ||
           (option == PR_SET_TSC && value == PR_TSC_SIGSEGV);
}

static bool sets_filter(long option, long value)
{
    return option == PR_SET_SECCOMP && value == SECCOMP_MODE_FILTER;
}

static void filter_set(bool taken, uintptr_t filter)
{
    const int saved = errno;
    tide_sandbox_end(taken ? (const struct sock_fprog *)filter : NULL);
    errno = saved;
}

static int set_by_prctl(int option, const long argument[4])
{
    if (tide_real.ready && tide_real.prctl)
        return tide_real.prctl(option, argument[0], argument[1], argument[2],
                               argument[3]);
    return (int)tide_program_call(SYS_prctl, (long)option, argument[0], argument[1],
                                  argument[2], argument[3]);
}

TIDE_HOOK int prctl(int option, ...)
{
    va_list rest;
    long argument[4];
    va_start(rest, option);
    for (int i = 0; i < 4; i++)
        argument[i] = va_arg(rest, long);
    va_end(rest);
    if (TIDE_UNLIKELY(ends_recording(option, argument[0])))
        tide_caution_end();
    const bool filter = sets_filter(option, argument[0]);
    if (filter)
        tide_sandbox_begin();
    const int status = set_by_prctl(option, argument);
    if (filter)
        filter_set(status == 0, (uintptr_t)argument[1]);
    if (option == PR_SET_NAME && status == 0) {
        const int saved = errno;
        tide_thread_named(pthread_self(), (const char *)argument[0]);
        errno = saved;
    }
    return status;
}

/* libseccomp asks for the strict mode with flags, in vain, to see whether there is seccomp.
 * A positive result is the descriptor of a listener, or a thread that could not follow:
 * then the filter was not taken, but to keep to it does no harm. */
static TIDE_COLD long shut_in(const struct tide_kernel_call *call)
{
    const long *const a = call->argument;
    const bool by_prctl = call->number == SYS_prctl;
    const bool strict = a[0] == SECCOMP_SET_MODE_STRICT && a[1] == 0 && a[2] == 0;
    if (by_prctl ? ends_recording(a[0], a[1]) : strict)
        tide_caution_end();
    const bool filter =
        by_prctl ? sets_filter(a[0], a[1]) : a[0] == SECCOMP_SET_MODE_FILTER;
    if (!filter)
        return tide_kernel_libc(call);
    tide_sandbox_begin();
    const long status = tide_kernel_libc(call);
    filter_set(status >= 0, (uintptr_t)a[2]);
    return status;
}

/* NOLINTBEGIN(readability-function-size): as many parameters as the kernel may get */
typedef long system_call(long number, long a, long b, long c, long d, long e, long f);
TIDE_HOOK system_call hooked_syscall __asm__("syscall");
TIDE_HOOK long hooked_syscall(long number, long a, long b, long c, long d, long e,
                              long f)
{
    const bool shuts_in = number == SYS_seccomp || number == SYS_prctl;
    if (TIDE_LIKELY(!shuts_in) && TIDE_LIKELY(tide_real.syscall))
        return tide_real.syscall(number, a, b, c, d, e, f);
    const struct tide_kernel_call call = {number, {a, b, c, d, e, f}};
    return shuts_in ? shut_in(&call) : tide_kernel_libc(&call);
}
/* NOLINTEND(readability-function-size) */
