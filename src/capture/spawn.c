/* capture/spawn.c - start a collector when there is none: LD_PRELOAD alone was given.
 *
 * The collector must not be a child that the target could wait for, nor tell it anything
 * by a signal: two clones without an exit signal, the first of which ends at once.
 * It is told our pid and answers with its session's directory through a pipe.
 *
 * A debugger takes a clone without an exit signal for a thread, unless the clone is a vfork,
 * and follows the collector in place of the target.  So both clones are vforks, on a stack
 * of their own as posix_spawn() has one; and where possible a tracer is not told of them, so
 * that the recorder changes nothing in what gdb and strace show.
 *
 * A target that is given the children of others, as the first process of a container is,
 * would be given the collector.  There the first clone stays between them: as long as it does
 * not become another program, a child without an exit signal is none that anybody waits for.
 */
#include "capture/spawn.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/sandbox.h"
#include "capture/session.h"

enum {
    TIDE_PATH_MAX = 4096,
    TIDE_ENV_MAX = 4096,
    TIDE_PATIENCE_MS = 5000,
    TIDE_WANTED_MS = 2000, /* between two looks whether one who waits is wanted */
    TIDE_OPEN_MOST = 65536,
    TIDE_STACK_BYTES = 16384, /* of a clone: it makes a few system calls */
    TIDE_STATUS_MOST = 8192,
};

static char program[TIDE_PATH_MAX];
static char *environment[TIDE_ENV_MAX];

/* The program stands beside the library in a build folder, in bin when installed. */
static bool find_program(void)
{
    static const char *const places[] = {"/tidemark", "/../../bin/tidemark",
                                         "/../../../bin/tidemark", "/../bin/tidemark"};
    struct dl_find_object object;
    if (_dl_find_object((void *)program, &object) != 0)
        return false;
    const char *library = object.dlfo_link_map->l_name;
    const char *slash = library ? strrchr(library, '/') : NULL;
    const size_t length = slash ? (size_t)(slash - library) : 0;
    if (!slash || length + 32 > sizeof(program))
        return false;
    memcpy(program, library, length);
    for (unsigned i = 0; i < sizeof(places) / sizeof(*places); i++) {
        memcpy(program + length, places[i], strlen(places[i]) + 1);
        if (syscall(SYS_faccessat, AT_FDCWD, program, X_OK) == 0)
            return true;
    }
    return false;
}

/* Ours, without what would make the collector record itself. */
static void copy_environment(void)
{
    unsigned count = 0;
    for (char **entry = environ; entry && *entry && count < TIDE_ENV_MAX - 1; entry++)
        if (strncmp(*entry, "LD_PRELOAD=", 11) != 0)
            environment[count++] = *entry;
    environment[count] = NULL;
}

bool tide_spawn_given_children(void)
{
    int given = 0;
    return syscall(SYS_getpid) == 1 ||
           (syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, &given, 0, 0, 0) == 0 && given);
}

/* Nothing of the target's is kept meanwhile but its memory. */
static void stay_between(int collector)
{
    if (syscall(SYS_close_range, 0, ~0u, 0) != 0) /* Linux 5.9 */
        for (int fd = 0; fd < TIDE_OPEN_MOST; fd++)
            syscall(SYS_close, fd);
    syscall(SYS_wait4, collector, NULL, __WALL, NULL);
}

/* What the two clones need; the first shares the target's memory unless it stays. */
struct spawning {
    char pid[16], answer[16]; /* as the collector is told */
    int answer_fd;
    int flags; /* of both clones */
    bool stay;
};

static _Alignas(16) char first_stack[TIDE_STACK_BYTES], second_stack[TIDE_STACK_BYTES];

static int become_collector(void *context)
{
    struct spawning *const spawning = context;
    char verb[] = "collect";
    char *const arguments[] = {program, verb, spawning->pid, spawning->answer, NULL};
    syscall(SYS_fcntl, spawning->answer_fd, F_SETFD, 0);
    syscall(SYS_execve, program, arguments, environment);
    return 1;
}

static int stand_between(void *context)
{
    const struct spawning *const spawning = context;
    syscall(SYS_setsid);
    const int collector = clone(become_collector, second_stack + TIDE_STACK_BYTES,
                                spawning->flags | CLONE_VM | CLONE_VFORK, context);
    if (collector > 0 && spawning->stay)
        stay_between(collector);
    return 0;
}

/* The number behind NAME in PATH, a file as /proc/PID/status; -1 when there is none. */
static long read_number(const char *path, const char *name)
{
    static char text[TIDE_STATUS_MOST];
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const long got = syscall(SYS_read, fd, text, sizeof(text) - 1);
    syscall(SYS_close, fd);
    text[got > 0 ? got : 0] = '\0';
    const char *const at = strstr(text, name);
    return at ? strtol(at + strlen(name), NULL, 10) : -1;
}

/* Is there a tracer that has no seccomp filter between us?  Whose filter fails the calls of a
 * process that he does not trace must be told of the collector: rr, strace --seccomp-bpf. */
static bool may_go_unseen(void)
{
    static const char filters[] = "\nSeccomp_filters:";
    const long tracer = read_number("/proc/self/status", "\nTracerPid:");
    if (tracer <= 0)
        return false; /* nobody looks */
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/%ld/status", tracer);
    const long ours = read_number("/proc/self/status", filters);
    return ours >= 0 && ours == read_number(path, filters);
}

/* The first clone; -1 when there is none.  It must run none of the target's signal handlers:
 * signals are blocked here, and the collector has them blocked from its start. */
static int clone_first(struct spawning *spawning)
{
    const uint64_t all = ~0ull;
    uint64_t before;
    const int share = spawning->stay ? 0 : CLONE_VM | CLONE_VFORK;
    spawning->flags = may_go_unseen() ? CLONE_UNTRACED : 0;
    (void)snprintf(spawning->pid, sizeof(spawning->pid), "%d",
                   (int)syscall(SYS_getpid));
    (void)snprintf(spawning->answer, sizeof(spawning->answer), "%d",
                   spawning->answer_fd);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    const int child = clone(stand_between, first_stack + TIDE_STACK_BYTES,
                            spawning->flags | share, spawning);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    return child;
}

/* The process that waits for our end, and the one between us that makes it nobody's child. */
struct waiting {
    int pidfd;
    int flags; /* of both clones */
    void (*at_end)(void);
    bool (*wanted)(void);
};

static void close_all_but(int fd)
{
    if ((fd > 0 && syscall(SYS_close_range, 0, fd - 1, 0) != 0) ||
        syscall(SYS_close_range, fd + 1, ~0u, 0) != 0)
        for (int i = 0; i < TIDE_OPEN_MOST; i++)
            if (i != fd)
                syscall(SYS_close, i);
}

/* Nobody tells it that its program has executed another: a pidfd does not know, and the
 * process may live for days, and execute thousands.  An exec that fails is taken back at once. */
static bool sleep_until_end(const struct waiting *waiting)
{
    struct pollfd end = {.fd = waiting->pidfd, .events = POLLIN};
    for (int unwanted = 0; unwanted < 2;) {
        const long ended = syscall(SYS_poll, &end, 1, TIDE_WANTED_MS);
        if (ended > 0 || (ended < 0 && errno != EINTR))
            return end.revents & POLLIN;
        unwanted = waiting->wanted() ? 0 : unwanted + 1;
    }
    return false;
}

/* It keeps nothing of the target's: no file, no folder, no segment of the collector's. */
static int wait_for_end(void *context)
{
    const struct waiting *const waiting = context;
    close_all_but(waiting->pidfd);
    syscall(SYS_chdir, "/");
    syscall(SYS_prctl, PR_SET_NAME, "tidemark", 0, 0, 0);
    if (tide_session)
        tide_session_leave();
    if (sleep_until_end(waiting))
        waiting->at_end();
    return 0;
}

static int leave_waiter(void *context)
{
    const struct waiting *const waiting = context;
    syscall(SYS_setsid);
    return clone(wait_for_end, second_stack + TIDE_STACK_BYTES, waiting->flags,
                 context) > 0
               ? 0
               : 1;
}

bool tide_spawn_waiter(void (*at_end)(void), bool (*wanted)(void))
{
    const uint64_t all = ~0ull;
    uint64_t before;
    int status = -1;
    struct waiting waiting = {.at_end = at_end, .wanted = wanted};
    waiting.flags = may_go_unseen() ? CLONE_UNTRACED : 0;
    waiting.pidfd = (int)syscall(SYS_pidfd_open, syscall(SYS_getpid), 0);
    if (waiting.pidfd < 0)
        return false;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    const int child =
        clone(leave_waiter, first_stack + TIDE_STACK_BYTES, waiting.flags, &waiting);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    if (child > 0)
        syscall(SYS_wait4, child, &status, __WALL, NULL);
    syscall(SYS_close, waiting.pidfd);
    return status == 0;
}

/* What tide_spawn_run() does in the clone. */
struct running {
    const char *path;
    char *const *arguments;
    bool quiet;
};

/* Who waits for it can end it: the target has its signals blocked meanwhile, and in memory that
 * both share none of its handlers may run. */
static void take_signals(void)
{
    const uint64_t none = 0;
    const unsigned long usual[4] = {0};
    for (int number = 1; number < NSIG; number++) {
        unsigned long action[4] = {0}; /* the kernel's: the first is the handler */
        if (syscall(SYS_rt_sigaction, number, NULL, action, sizeof(none)) == 0 &&
            action[0] > (unsigned long)(uintptr_t)SIG_IGN)
            syscall(SYS_rt_sigaction, number, usual, NULL, sizeof(none));
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

static int become_other(void *context)
{
    const struct running *const running = context;
    const int nowhere = running->quiet ? (int)syscall(SYS_openat, AT_FDCWD, "/dev/null",
                                                      O_WRONLY | O_CLOEXEC)
                                       : -1;
    if (nowhere >= 0)
        syscall(SYS_dup3, nowhere, STDERR_FILENO, 0);
    take_signals();
    syscall(SYS_execve, running->path, running->arguments, environment);
    return 127;
}

const char *tide_spawn_program(void)
{
    return *program || find_program() ? program : NULL;
}

/* Its end tells the target nothing by a signal, nor can it be waited for by anybody who does
 * not ask for all clones. */
int tide_spawn_run(const char *path, char *const arguments[], bool quiet)
{
    struct running running = {path, arguments, quiet};
    const uint64_t all = ~0ull;
    uint64_t before;
    int status = -1;
    const int flags = (may_go_unseen() ? CLONE_UNTRACED : 0) | CLONE_VM | CLONE_VFORK;
    if (!tide_sandbox_lets(SYS_clone, flags))
        return -1;
    copy_environment();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
    const int child =
        clone(become_other, first_stack + TIDE_STACK_BYTES, flags, &running);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
    while (child > 0 && syscall(SYS_wait4, child, &status, __WALL, NULL) < 0)
        if (errno != EINTR)
            return -1;
    return child > 0 ? status : -1;
}

/* One line, or nothing when the collector could not start. */
static bool read_answer(int fd, char *directory, size_t size)
{
    size_t length = 0;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    while (length < size && syscall(SYS_poll, &wait, 1, TIDE_PATIENCE_MS) == 1) {
        const long got = syscall(SYS_read, fd, directory + length, size - length);
        if (got <= 0)
            break;
        length += (size_t)got;
        if (directory[length - 1] == '\n') {
            directory[length - 1] = '\0';
            return true;
        }
    }
    return false;
}

bool tide_spawn_collector(char *directory, size_t size)
{
    int ends[2];
    if (!find_program() || syscall(SYS_pipe2, ends, O_CLOEXEC) != 0)
        return false;
    copy_environment();
    struct spawning spawning = {.answer_fd = ends[1],
                                .stay = tide_spawn_given_children()};
    const int child = clone_first(&spawning);
    syscall(SYS_close, ends[1]);
    bool answered = false;
    if (child > 0) {
        if (!spawning.stay)
            syscall(SYS_wait4, child, NULL, __WALL, NULL);
        answered = read_answer(ends[0], directory, size);
    }
    syscall(SYS_close, ends[0]);
    return answered;
}

static bool lives(uint32_t pid)
{
    return syscall(SYS_kill, pid, 0) == 0 || errno == EPERM;
}

/* It is woken by the shared page: who has given his rights away can send it no signal. */
void tide_spawn_farewell(uint32_t collector, uint32_t pid)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    atomic_store(&tide_session->farewell, pid);
    for (int ms = 0; ms < TIDE_PATIENCE_MS && lives(collector); ms++) {
        tide_session_wake();
        if (atomic_load(&tide_session->written) == pid)
            return;
        syscall(SYS_wait4, collector, NULL, WNOHANG | __WALL, NULL);
        syscall(SYS_nanosleep, &nap, NULL);
    }
}
