/* tests/programs/tight_sandbox.c - allow what malloc and threads need and nothing else.
 *
 * Usage: tight_sandbox errno|kill|trap prctl|syscall|tsync THREADS CALLS.  What is not allowed
 * fails with EPERM, ends the process, or goes to a handler that allocates.  tsync: the
 * filter comes over threads that are at work.  The program itself makes allowed calls
 * only.  "tight_sandbox exec": nothing but socket() kills, and the program is executed
 * once more.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "forbid.h"
#include "say.h"

enum { CALLS_MOST = 64, THREADS_MOST = 8, ALONE = 5 };

/* The first ALONE suffice for one thread. */
static const unsigned allowed[] = {SYS_write,
                                   SYS_brk,
                                   SYS_munmap,
                                   SYS_mremap,
                                   SYS_exit_group,
                                   SYS_futex,
                                   SYS_mprotect,
                                   SYS_madvise,
                                   SYS_clone,
                                   SYS_clone3,
                                   SYS_rseq,
                                   SYS_exit,
                                   SYS_rt_sigreturn,
                                   SYS_set_robust_list,
                                   SYS_rt_sigprocmask,
                                   SYS_rt_sigaction,
                                   SYS_sched_getaffinity};

static _Atomic long trapped;

__attribute__((noinline)) static void *make(size_t size)
{
    void *volatile block = malloc(size);
    return block;
}

static void refuse(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    atomic_fetch_add(&trapped, 1);
    for (size_t i = 0; i < 10; i++)
        free(make(100 + i));
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

static void *work(void *calls)
{
    for (long i = 0; i < *(long *)calls; i++)
        free(make((size_t)(i % 300)));
    return NULL;
}

/* mmap with other rights than malloc's is not allowed either. */
static unsigned short write_rules(struct sock_filter *rules, size_t count,
                                  unsigned otherwise)
{
    const unsigned rights = offsetof(struct seccomp_data, args[2]);
    unsigned short at = 0;
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                               offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count; i++) {
        rules[at++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        rules[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    rules[at++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3);
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, rights);
    rules[at++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0);
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    rules[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    return at;
}

static int enter(const char *by, size_t count, unsigned otherwise)
{
    struct sock_filter rules[CALLS_MOST * 2 + 6];
    const struct sock_fprog program = {.len = write_rules(rules, count, otherwise),
                                       .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    if (strcmp(by, "prctl") == 0)
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                        strcmp(by, "tsync") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0,
                        &program);
}

static unsigned action_of(const char *how)
{
    const struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO};
    if (strcmp(how, "errno") == 0)
        return SECCOMP_RET_ERRNO | EPERM;
    if (strcmp(how, "kill") == 0)
        return SECCOMP_RET_KILL_PROCESS;
    sigaction(SIGSYS, &action, NULL);
    return SECCOMP_RET_TRAP;
}

int main(int argc, char **argv)
{
    char *const again[] = {argv[0], "kill", "prctl", "0", "100", NULL};
    pthread_t ids[THREADS_MOST];
    if (argc == 2)
        return forbid(SYS_socket) != 0 ? 3 : execv(argv[0], again);
    if (argc < 5)
        return 2;
    const bool before = strcmp(argv[2], "tsync") == 0;
    const int threads = atoi(argv[3]);
    const size_t count =
        threads > 0 ? sizeof(allowed) / sizeof(*allowed) : (size_t)ALONE;
    long calls = atol(argv[4]);
    const unsigned action = action_of(argv[1]);
    free(make(100000)); /* the heap is there, with room */
    for (int i = 0; before && i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, &calls) != 0)
            return 4;
    if (enter(argv[2], count, action) != 0)
        return 3;
    work(&calls);
    for (int i = 0; !before && i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, &calls) != 0)
            return 4;
    for (int i = 0; i < threads; i++)
        if (pthread_join(ids[i], NULL) != 0)
            return 5;
    say("made %ld in the sandbox, trapped %ld\n", calls, atomic_load(&trapped));
    _exit(7);
}
