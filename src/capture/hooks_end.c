/* capture/hooks_end.c - pthread_join, wait, system, popen, _exit and their like: threads and processes
 * end, and others go on.
 *
 * What a thread does behind a join or a wait comes after all that the other one did.  Between
 * lanes only time tells so: behind such a call the next record is stamped.  The collector
 * notices an end later than the parent does, so the parent says when it was told, and who ends
 * by itself says when.
 *
 * All of these may be left by cancellation or by longjmp, so nothing is held meanwhile.
 *
 * A library may have a `wait` or a `system` of its own, with other arguments: that is gone to
 * in a jump, with all of them (this file is compiled with -foptimize-sibling-calls).
 */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "capture/exec.h"
#include "capture/hooks.h"
#include "capture/lifecycle.h"
#include "capture/process.h"
#include "capture/real.h"
#include "capture/record.h"
#include "capture/sandbox.h"
#include "capture/session.h"

/* What this thread records from here on is later than what it has just heard of. */
static void stamp_next(void)
{
    struct tide_stream *const stream = tide_self.stream;
    if (stream)
        stream->limit = 0;
}

/* Where nothing is recorded any more, even a look at the clock may be forbidden. */
static bool is_recorded(void)
{
    return atomic_load(&tide_phase) == TIDE_PHASE_ON && tide_process->pid &&
           !atomic_load(&tide_process->off);
}

/* --- Threads -------------------------------------------------------------------------- */

TIDE_HOOK int pthread_join(pthread_t thread, void **result)
{
    if (!tide_real_resolve() || !tide_real.pthread_join)
        return ENOSYS;
    const int status = tide_real.pthread_join(thread, result);
    stamp_next();
    return status;
}

TIDE_HOOK int pthread_tryjoin_np(pthread_t thread, void **result)
{
    if (!tide_real_resolve() || !tide_real.pthread_tryjoin)
        return ENOSYS;
    const int status = tide_real.pthread_tryjoin(thread, result);
    if (status == 0)
        stamp_next();
    return status;
}

TIDE_HOOK int pthread_timedjoin_np(pthread_t thread, void **result,
                                   const struct timespec *until)
{
    if (!tide_real_resolve() || !tide_real.pthread_timedjoin)
        return ENOSYS;
    const int status = tide_real.pthread_timedjoin(thread, result, until);
    stamp_next();
    return status;
}

TIDE_HOOK int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
                                   const struct timespec *until)
{
    if (!tide_real_resolve() || !tide_real.pthread_clockjoin)
        return ENOSYS;
    const int status = tide_real.pthread_clockjoin(thread, result, clock, until);
    stamp_next();
    return status;
}

TIDE_HOOK int thrd_join(thrd_t thread, int *result)
{
    if (!tide_real_resolve() || !tide_real.thrd_join)
        return thrd_error;
    const int status = tide_real.thrd_join(thread, result);
    stamp_next();
    return status;
}

/* --- Children ------------------------------------------------------------------------- */

/* The child PID has ended. */
static void note_reaped(pid_t pid)
{
    stamp_next();
    if (!is_recorded())
        return;
    struct tide_reaped *const reaped =
        &tide_session->reaped[(uint32_t)pid % TIDE_REAPED_KEPT];
    atomic_store(&reaped->pid, 0);
    atomic_store(&reaped->ticks, tide_ticks());
    atomic_store(&reaped->pid, (uint32_t)pid);
    tide_process_leaves(0); /* it may have been a child of vfork() */
}

/* A wait with OPTIONS has given CHILD, and its status where STATUS is not NULL. */
static pid_t heard_of(pid_t child, const int *status, int options)
{
    if (child > 0 && (status ? WIFEXITED(*status) || WIFSIGNALED(*status)
                             : !(options & (WUNTRACED | WCONTINUED))))
        note_reaped(child);
    return child;
}

static pid_t no_such_call(void)
{
    errno = ENOSYS;
    return -1;
}

/* Each goes on to its own next one: who stands behind us may have hooked only that. */
TIDE_HOOK pid_t wait(int *status)
{
    if (TIDE_UNLIKELY(tide_real.other_wait))
        return tide_real.wait(status);
    if (!tide_real_resolve() || !tide_real.wait)
        return no_such_call();
    return heard_of(tide_real.wait(status), status, 0);
}

TIDE_HOOK pid_t waitpid(pid_t pid, int *status, int options)
{
    if (!tide_real_resolve() || !tide_real.waitpid)
        return no_such_call();
    return heard_of(tide_real.waitpid(pid, status, options), status, options);
}

TIDE_HOOK pid_t wait3(int *status, int options, struct rusage *usage)
{
    if (!tide_real_resolve() || !tide_real.wait3)
        return no_such_call();
    return heard_of(tide_real.wait3(status, options, usage), status, options);
}

TIDE_HOOK pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (!tide_real_resolve() || !tide_real.wait4)
        return no_such_call();
    return heard_of(tide_real.wait4(pid, status, options, usage), status, options);
}

static bool tells_end(const siginfo_t *info)
{
    return info && info->si_pid > 0 &&
           (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
            info->si_code == CLD_DUMPED);
}

TIDE_HOOK int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (!tide_real_resolve() || !tide_real.waitid)
        return no_such_call();
    const int status = tide_real.waitid(type, id, info, options);
    if (status == 0 && tells_end(info))
        note_reaped(info->si_pid);
    return status;
}

/* What was freed before a child begins is not there with what that holds.  Before fork a
 * handler sees to it, but none of these calls fork. */
void tide_hook_stamp(void)
{
    if (is_recorded())
        tide_record_time();
}

TIDE_HOOK int system(const char *command)
{
    if (TIDE_UNLIKELY(tide_real.other_system))
        return tide_real.system(command);
    if (!tide_real_resolve() || !tide_real.system)
        return no_such_call();
    tide_hook_stamp();
    tide_exec_shell();
    const int status = tide_real.system(command);
    stamp_next();
    return status;
}

TIDE_HOOK FILE *popen(const char *command, const char *type)
{
    if (!tide_real_resolve() || !tide_real.popen) {
        errno = ENOSYS;
        return NULL;
    }
    tide_hook_stamp();
    tide_exec_shell();
    FILE *const stream = tide_real.popen(command, type);
    tide_hook_stamp(); /* what was made in there is before what the child makes */
    return stream;
}

TIDE_HOOK int pclose(FILE *stream)
{
    if (!tide_real_resolve() || !tide_real.pclose)
        return no_such_call();
    const int status = tide_real.pclose(stream);
    stamp_next();
    return status;
}

/* --- This process --------------------------------------------------------------------- */

/* A sanitizer that stands behind us has its last word, and its status, in the next one. */
static __attribute__((noreturn)) void end_at_once(void (*next)(int), int status)
{
    tide_recording_ends();
    if (next)
        next(status);
    for (;;)
        tide_program_call(SYS_exit_group, status);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): their names */
TIDE_HOOK __attribute__((noreturn)) void _exit(int status)
{
    end_at_once(tide_real_resolve() ? tide_real.end_posix : NULL, status);
}

TIDE_HOOK __attribute__((noreturn)) void _Exit(int status)
{
    end_at_once(tide_real_resolve() ? tide_real.end_c : NULL, status);
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */
