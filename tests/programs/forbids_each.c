/* tests/programs/forbids_each.c - which system calls does a program need to begin?
 *
 * Usage: forbids_each PROGRAM.  For each system call a child shuts itself in with a filter
 * that kills for this call alone, and executes PROGRAM.  Prints the numbers of those that it
 * did not end well with.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MOST = 470 };

static void forbid(unsigned number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof(rules) / sizeof(*rules), rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)
        _exit(2);
}

static int status_without(unsigned number, char **words)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        forbid(number);
        (void)execv(words[0], words);
        _exit(3);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

int main(int argc, char **argv)
{
    for (unsigned number = 0; argc > 1 && number < CALLS_MOST; number++) {
        if (status_without(number, argv + 1) != 0)
            printf("%u\n", number);
    }
    return 0;
}
