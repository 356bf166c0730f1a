/* tests/programs/sandboxed.c - allow a short list of system calls, then allocate.
 *
 * Usage: sandboxed errno|kill|trap|strict|unheard CALLS.  "errno": everything but the list fails
 * with EPERM.  "kill": everything but a list that threads need ends the process.  "trap": the
 * last of that list and all others go to a handler, which says ENOSYS.  "strict": the
 * kernel's own mode: read, write, exit and sigreturn, or SIGKILL.  "unheard": made by
 * syscall(), all but the list of "errno" ends the process, which ends by _exit.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "say.h"

enum { CALLS_MOST = 64, TRAPPED = 6 };

static const unsigned quiet[] = {SYS_read, SYS_write,  SYS_exit, SYS_exit_group,
                                 SYS_brk,  SYS_munmap, SYS_mmap, SYS_rt_sigreturn};
static const unsigned threaded[] = {
    SYS_read,         SYS_write,         SYS_exit,
    SYS_brk,          SYS_munmap,        SYS_mmap,
    SYS_madvise,      SYS_mprotect,      SYS_futex,
    SYS_clone,        SYS_clone3,        SYS_rt_sigprocmask,
    SYS_rseq,         SYS_clock_gettime, SYS_set_robust_list,
    SYS_rt_sigreturn, SYS_rt_sigaction,  SYS_sched_getaffinity,
    SYS_mremap,       SYS_gettid,        SYS_prctl,
    SYS_sched_yield,  SYS_getpid,        SYS_exit_group};

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void *work(void *calls)
{
    for (long i = 0; i < *(long *)calls; i++)
        free(make((size_t)(i % 300)));
    return NULL;
}

static bool unheard;

static int enter(const struct sock_fprog *program)
{
    if (unheard)
        return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
               syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program);
}

static int allow(const unsigned *list, size_t count, unsigned otherwise)
{
    struct sock_filter rules[CALLS_MOST * 2 + 2];
    unsigned short at = 0;
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        rules[at++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, list[i], 0, 1);
        rules[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    const struct sock_fprog program = {.len = at, .filter = rules};
    return enter(&program);
}

static void refuse(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

static int trap(void)
{
    const struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) ||
           allow(threaded, sizeof(threaded) / sizeof(*threaded) - TRAPPED,
                 SECCOMP_RET_TRAP);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *const how = argv[1];
    long calls = atol(argv[2]);
    pthread_t thread;
    int failed = 0;
    unheard = strcmp(how, "unheard") == 0;
    free(make(100000)); /* the heap is there, with room */
    if (strcmp(how, "errno") == 0)
        failed =
            allow(quiet, sizeof(quiet) / sizeof(*quiet), SECCOMP_RET_ERRNO | EPERM);
    else if (strcmp(how, "kill") == 0)
        failed = allow(threaded, sizeof(threaded) / sizeof(*threaded),
                       SECCOMP_RET_KILL_PROCESS);
    else if (strcmp(how, "trap") == 0)
        failed = trap();
    else if (unheard)
        failed = allow(quiet, sizeof(quiet) / sizeof(*quiet), SECCOMP_RET_KILL_PROCESS);
    else
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    if (failed)
        return 3;
    work(&calls);
    if ((strcmp(how, "kill") == 0 || strcmp(how, "trap") == 0) &&
        (pthread_create(&thread, NULL, work, &calls) || pthread_join(thread, NULL)))
        return 4;
    say("made %ld in the sandbox\n", calls);
    if (unheard)
        _exit(7);
    syscall(SYS_exit, 7);
}
