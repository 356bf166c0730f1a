/* capture/spawn.c - start a collector when there is none: LD_PRELOAD alone was given.
 *
 * The collector must not be a child that the target could wait for, nor tell it anything
 * by a signal: two raw clones without an exit signal, the first of which ends at once.
 * It is told our pid and answers with its session's directory through a pipe.
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
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TIDE_PATH_MAX = 4096,
    TIDE_ENV_MAX = 4096,
    TIDE_PATIENCE_MS = 5000,
    TIDE_OPEN_MOST = 65536
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

static bool is_given_children(void)
{
    int given = 0;
    return syscall(SYS_getpid) == 1 ||
           (syscall(SYS_prctl, PR_GET_CHILD_SUBREAPER, &given, 0, 0, 0) == 0 && given);
}

/* Nothing of the target's is kept meanwhile but its memory. */
static void stay_between(long collector)
{
    const uint64_t all = ~0ull;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    if (syscall(SYS_close_range, 0, ~0u, 0) != 0) /* Linux 5.9 */
        for (int fd = 0; fd < TIDE_OPEN_MOST; fd++)
            syscall(SYS_close, fd);
    syscall(SYS_wait4, collector, NULL, __WALL, NULL);
}

static void become_collector(int answer, bool stay)
{
    char pid[16], fd[16], verb[] = "collect";
    (void)snprintf(fd, sizeof(fd), "%d", answer);
    (void)snprintf(pid, sizeof(pid), "%d", (int)syscall(SYS_getppid));
    char *const arguments[] = {program, verb, pid, fd, NULL};
    syscall(SYS_setsid);
    const long collector = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (collector == 0) {
        syscall(SYS_fcntl, answer, F_SETFD, 0);
        syscall(SYS_execve, program, arguments, environment);
    } else if (collector > 0 && stay) {
        stay_between(collector);
    }
    syscall(SYS_exit_group, 0);
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
    const bool stay = is_given_children();
    const long child = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
    if (child == 0)
        become_collector(ends[1], stay);
    syscall(SYS_close, ends[1]);
    bool answered = false;
    if (child > 0) {
        if (!stay)
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

/* Who has given his rights away can send it nothing: it looks at its page now and then. */
void tide_spawn_farewell(uint32_t collector)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    syscall(SYS_kill, collector, SIGTERM);
    for (int ms = 0; ms < TIDE_PATIENCE_MS && lives(collector); ms++) {
        syscall(SYS_wait4, collector, NULL, WNOHANG | __WALL, NULL);
        syscall(SYS_nanosleep, &nap, NULL);
    }
}
