/* tests/programs/fail_call.c - let one system call of the recorder fail.
 *
 * Usage: fail_call N ERRNO PROGRAM [ARGUMENT...].  Runs PROGRAM and makes its N-th system
 * call from inside libtidemark.so fail with ERRNO; with a negative N the (-N)-th and all
 * later ones.  Counted are calls that the kernel may refuse, in all threads.  Ends as
 * PROGRAM ends, or with 77 where it cannot work.  "FAILED k of n" goes to descriptor 2.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)

/* <linux/ptrace.h> and <sys/ptrace.h> do not go together. */
struct call_info {
    uint8_t op, pad[3];
    uint32_t arch;
    uint64_t ip, sp, nr, args[6];
};
enum { ENTRY = 1, EXIT = 2 };
#    define GET_INFO ((enum __ptrace_request)0x420e)

static long nth, failing;
static long counted, failed;
static bool pending[1 << 22]; /* by thread: its call was made to fail */

static const long refusable[] = {
    SYS_mmap,      SYS_mremap,     SYS_madvise, SYS_socket,     SYS_connect,
    SYS_sendto,    SYS_recvmsg,    SYS_futex,   SYS_setsockopt, SYS_prctl,
    SYS_faccessat, SYS_readlinkat, SYS_openat,  SYS_prlimit64};

static bool is_refusable(uint64_t nr)
{
    for (unsigned i = 0; i < sizeof(refusable) / sizeof(*refusable); i++)
        if ((uint64_t)refusable[i] == nr)
            return true;
    return false;
}

/* Is AT in the recorder's code? */
static bool is_ours(pid_t pid, uint64_t at)
{
    char path[64], line[512];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *const maps = fopen(path, "r");
    while (maps && !found && fgets(line, sizeof(line), maps)) {
        unsigned long low, high;
        if (sscanf(line, "%lx-%lx", &low, &high) == 2 && at >= low && at < high)
            found = strstr(line, "/libtidemark.so") != NULL;
    }
    if (maps)
        fclose(maps);
    return found;
}

/* The caller itself, or the caller of libc's syscall(). */
static bool is_from_recorder(pid_t pid, const struct call_info *info)
{
    errno = 0;
    const long caller = ptrace(PTRACE_PEEKDATA, pid, info->sp, NULL);
    return is_ours(pid, info->ip) || (errno == 0 && is_ours(pid, (uint64_t)caller));
}

static void at_call(pid_t pid)
{
    struct call_info info = {0};
    struct user_regs_struct registers;
    if (ptrace(GET_INFO, pid, sizeof(info), &info) < 0)
        return;
    if (info.op == ENTRY && is_refusable(info.nr) && is_from_recorder(pid, &info)) {
        counted++;
        if (counted != nth && !(nth < 0 && counted >= -nth))
            return;
        failed++;
        pending[pid] = true;
        ptrace(PTRACE_GETREGS, pid, NULL, &registers);
        registers.orig_rax = (unsigned long long)-1;
        ptrace(PTRACE_SETREGS, pid, NULL, &registers);
    } else if (info.op == EXIT && pending[pid]) {
        pending[pid] = false;
        ptrace(PTRACE_GETREGS, pid, NULL, &registers);
        registers.rax = (unsigned long long)-failing;
        ptrace(PTRACE_SETREGS, pid, NULL, &registers);
    }
}

static int follow(pid_t main_pid)
{
    int status, ending = -1;
    pid_t pid;
    while ((pid = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == main_pid)
                ending = status;
            continue;
        }
        int number = WSTOPSIG(status);
        if (number == (SIGTRAP | 0x80)) {
            at_call(pid);
            number = 0;
        } else if (number == SIGTRAP || number == SIGSTOP) {
            number = 0; /* a new thread, or exec */
        }
        ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(intptr_t)number);
    }
    return ending;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    nth = atol(argv[1]);
    failing = atol(argv[2]);
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
        return 77;
    ptrace(PTRACE_SETOPTIONS, child, NULL,
           (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL));
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    const int ending = follow(child);
    fprintf(stderr, "FAILED %ld of %ld\n", failed, counted);
    if (WIFSIGNALED(ending))
        raise(WTERMSIG(ending));
    return WEXITSTATUS(ending);
}

#else

int main(void)
{
    return 77; /* how a call is made to fail is written for x86-64 */
}

#endif
