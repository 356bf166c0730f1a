/* tests/programs/shows_itself.c - print all that a process gets from whoever started it.
 *
 * One line per fact: words, folder, descriptors, signals, limits, priorities, rights, terminal.
 * What must differ between two runs (pids, times) is left out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "say.h"

enum { DESCRIPTORS = 1024 };

static void show_words(int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        say("word %d:", i);
        for (const char *c = argv[i]; *c; c++)
            say(" %02x", (unsigned char)*c);
        say("\n");
    }
}

/* Without a folder stream, which would be a descriptor of its own. */
static void show_descriptors(void)
{
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        if (flags < 0)
            continue;
        struct stat found;
        fstat(fd, &found);
        say("descriptor %d: type %o, flags %d %o, offset %ld\n", fd,
            found.st_mode & S_IFMT, flags, fcntl(fd, F_GETFL),
            (long)lseek(fd, 0, SEEK_CUR));
    }
}

static void show_signals(void)
{
    sigset_t blocked, pending;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    sigpending(&pending);
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0)
            say("signal %d: %s, flags %x, %s, %s\n", i,
                action.sa_handler == SIG_DFL   ? "default"
                : action.sa_handler == SIG_IGN ? "ignored"
                                               : "handled",
                (unsigned)action.sa_flags,
                sigismember(&blocked, i) ? "blocked" : "open",
                sigismember(&pending, i) ? "pending" : "none");
    }
    stack_t alternate;
    sigaltstack(NULL, &alternate);
    say("alternate stack: %d\n", alternate.ss_flags);
}

static void show_limits(void)
{
    for (int i = 0; i < RLIMIT_NLIMITS; i++) {
        struct rlimit limit;
        if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
            say("limit %d: %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
                (unsigned long long)limit.rlim_max);
    }
}

static void show_scheduling(void)
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    say("nice %d, policy %d, %d cpus, io priority %ld, slack %d\n",
        getpriority(PRIO_PROCESS, 0), sched_getscheduler(0), CPU_COUNT(&allowed),
        syscall(SYS_ioprio_get, 1, 0), prctl(PR_GET_TIMERSLACK));
}

static void show_rights(void)
{
    gid_t groups[256];
    int death = -1, reaper = -1;
    prctl(PR_GET_PDEATHSIG, &death);
    prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    say("users %u %u, groups %u %u", getuid(), geteuid(), getgid(), getegid());
    const int count = getgroups(256, groups);
    for (int i = 0; i < count; i++)
        say(" %u", groups[i]);
    say("\ndumpable %d, no new rights %d, parent death %d, reaper %d, secure %d, "
        "keeps rights %d\n",
        prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), death, reaper,
        prctl(PR_GET_SECUREBITS), prctl(PR_GET_KEEPCAPS));
}

static void show_place(void)
{
    char folder[4096] = "?";
    const mode_t mask = umask(0);
    umask(mask);
    if (!getcwd(folder, sizeof(folder)))
        say("no folder\n");
    const int terminal = open("/dev/tty", O_RDWR | O_NOCTTY);
    say("folder %s, umask %o, personality %x\n", folder, mask, personality(0xffffffff));
    say("group %s, session %s, terminal %s\n",
        getpgid(0) == getpgid(getppid()) ? "of the parent" : "other",
        getsid(0) == getsid(getppid()) ? "of the parent" : "other",
        terminal >= 0                    ? "yes"
        : errno == ENXIO || errno == EIO ? "none"
                                         : "hidden");
    if (terminal >= 0)
        close(terminal);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, since it may be put together in any order; ours are the two that may be new. */
static void show_environment(char **environment)
{
    static char *entries[4096];
    size_t count = 0;
    for (; environment[count] && count < 4096; count++)
        entries[count] = environment[count];
    qsort(entries, count, sizeof(*entries), by_name);
    for (size_t i = 0; i < count; i++)
        say("environment %.3000s\n", entries[i]);
}

int main(int argc, char **argv, char **environment)
{
    show_words(argc, argv);
    show_descriptors();
    show_signals();
    show_limits();
    show_scheduling();
    show_rights();
    show_place();
    show_environment(environment);
    return 5;
}
