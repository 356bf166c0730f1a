/* capture/exec.c - tell the collector of programs that are about to be executed.
 *
 * A child of vfork runs this in its parent's memory.  So nothing that is changed here
 * outlives the call, but for the slot in shared memory, and for `inside`, which names the
 * process that set it: the parent sees another pid there than its own.
 */
#include "capture/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/session.h"

enum {
    TIDE_LIBRARY_BYTES = 4096,
    TIDE_SESSION_BYTES = 108,
    TIDE_CHANGED_MOST = 48 * 1024, /* bytes of an environment that is changed: it stands
                                      on the stack */
    TIDE_WAITS_MOST = 200,         /* of a millisecond each, for a free slot */
};

static char library[TIDE_LIBRARY_BYTES], session[TIDE_SESSION_BYTES];
static char own_socket[TIDE_SESSION_BYTES + sizeof(TIDE_SOCKET_NAME)];
static const struct tide_exec_needs needs = {library, session};
static bool prepared;

/* A pid: that process is in an exec hook of this thread; what stands behind us may call
 * another one. */
static _Thread_local uint32_t inside __attribute__((tls_model("initial-exec")));

void tide_exec_prepare(void)
{
    const char *const list = secure_getenv("LD_PRELOAD");
    const char *const directory = secure_getenv(TIDE_SESSION_ENV);
    if (!list || !tide_exec_own_element(list, library, sizeof(library)))
        return;
    const size_t length = directory ? strlen(directory) : sizeof(session);
    if (length >= sizeof(session))
        return;
    memcpy(session, directory, length + 1);
    memcpy(own_socket, session, length);
    own_socket[length] = '/';
    memcpy(own_socket + length + 1, TIDE_SOCKET_NAME, sizeof(TIDE_SOCKET_NAME));
    prepared = true;
}

/* --- Look ---------------------------------------------------------------------------- */

static bool is_recorded(void)
{
    return prepared && atomic_load(&tide_phase) == TIDE_PHASE_ON &&
           tide_session->magic == TIDE_SESSION_MAGIC && /* zeros: we have left it */
           !atomic_load(&tide_session->stopped) &&
           !atomic_load(&tide_shared_segment->closed);
}

/* As the new program: capabilities that a user kept beyond setuid end with the call of
 * exec, and this system call does not ask for them either. */
static bool may(const char *path, int how)
{
    return syscall(SYS_faccessat, AT_FDCWD, path, how) == 0;
}

/* A path with $ORIGIN and its like, or a bare name, is the loader's to find. */
static bool library_is_there(void)
{
    if (library[0] != '/' || strchr(library, '$'))
        return true;
    return may(library, R_OK) ||
           (errno != ENOENT && errno != EACCES && errno != ENOTDIR);
}

static uint32_t look_at_socket(void)
{
    if (may(own_socket, W_OK) || (errno != ENOENT && errno != EACCES))
        return 0;
    return errno == EACCES ? TIDE_EXEC_NO_RIGHT : TIDE_EXEC_NO_SOCKET;
}

static enum tide_exec_change choose_change(uint32_t flags)
{
    if (flags & TIDE_EXEC_NO_LIBRARY)
        return flags & TIDE_EXEC_NO_PRELOAD ? TIDE_EXEC_KEEP_ALL : TIDE_EXEC_TAKE_OUT;
    if (tide_session->keep_preload && !tide_exec_session_is_off(environ) &&
        flags & (TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_SESSION))
        return TIDE_EXEC_PUT_BACK;
    return TIDE_EXEC_KEEP_ALL;
}

/* *PAGE was found readable, and is AT's page afterwards.  The kernel reads the word there before
 * it finds that signals cannot be held back in the way ~0. */
static bool page_is_readable(uintptr_t *page, const void *at)
{
    const uintptr_t word = (uintptr_t)at & ~(sizeof(uint64_t) - 1);
    const uintptr_t wanted = word & ~(uintptr_t)(TIDE_PAGE - 1);
    if (*page == wanted)
        return true;
    *page = wanted;
    if (wanted == 0) /* where there is no page, and NULL means no word */
        return false;
    return syscall(SYS_rt_sigprocmask, ~0l, word, NULL, sizeof(uint64_t)) == 0 ||
           errno != EFAULT;
}

/* Whoever passes a wrong pointer shall hear EFAULT from the kernel, and not be killed here. */
static bool can_be_read(char *const *environment)
{
    uintptr_t array = 1, entries = 1; /* no page begins there */
    for (; environment; environment++) {
        if (!page_is_readable(&array, environment))
            return false;
        if (!*environment)
            return true;
        if (!page_is_readable(&entries, *environment))
            return false;
    }
    return true;
}

/* A sandbox may not let us ask who we are. */
static void look_around(struct tide_exec *exec)
{
    const long pid = syscall(SYS_getpid);
    exec->pid = pid > 0 ? (uint32_t)pid : 0;
    if (!library_is_there())
        exec->flags |= TIDE_EXEC_NO_LIBRARY;
    exec->flags |= look_at_socket();
}

void tide_exec_look(struct tide_exec *exec, char *const *environment)
{
    *exec = (struct tide_exec){0};
    if (!is_recorded())
        return;
    const int saved = errno;
    const bool readable = can_be_read(environment);
    if (readable) {
        tide_exec_environment_look(environment, &needs, &exec->seen);
        exec->flags = exec->seen.flags;
        look_around(exec);
    }
    errno = saved;
    if (!readable || (exec->pid && inside == exec->pid))
        return;
    inside = exec->pid;
    exec->ticks = tide_ticks();
    exec->change = choose_change(exec->flags);
    if (exec->change == TIDE_EXEC_KEEP_ALL || exec->seen.bytes > TIDE_CHANGED_MOST)
        return;
    exec->bytes = exec->seen.bytes;
    if (exec->change == TIDE_EXEC_PUT_BACK)
        exec->flags &= ~(uint32_t)(TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_SESSION);
}

char *const *tide_exec_environment(const struct tide_exec *exec,
                                   char *const *environment, void *memory)
{
    return exec->bytes ? tide_exec_environment_change(environment, &needs, &exec->seen,
                                                      exec->change, memory)
                       : environment;
}

/* --- Tell ---------------------------------------------------------------------------- */

static struct tide_exec_slot *claim_now(uint32_t serial)
{
    struct tide_exec_slot *const slots = tide_shared_segment->exec_slots;
    for (uint32_t i = 0; i < TIDE_EXEC_SLOTS; i++) {
        struct tide_exec_slot *const slot = &slots[(serial + i) % TIDE_EXEC_SLOTS];
        uint32_t state = TIDE_EXEC_FREE;
        if (atomic_compare_exchange_strong(&slot->state, &state, TIDE_EXEC_CLAIMED))
            return slot;
    }
    return NULL;
}

/* A collector that stands still is waited for once, and not again until it goes on. */
static bool is_worth_waiting(void)
{
    return is_recorded() && atomic_load(&tide_shared_segment->execs_beat) !=
                                1 + atomic_load(&tide_session->heartbeat);
}

/* NULL when the collector does not take any for a while. */
static struct tide_exec_slot *claim(uint32_t serial)
{
    struct tide_segment *const segment = tide_shared_segment;
    const struct timespec nap = {.tv_nsec = 1000000};
    struct tide_exec_slot *slot = claim_now(serial);
    for (int i = 0; !slot && i < TIDE_WAITS_MOST && is_worth_waiting(); i++) {
        tide_session_wake();
        syscall(SYS_nanosleep, &nap, NULL);
        slot = claim_now(serial);
    }
    if (!slot) {
        atomic_store(&segment->execs_beat, 1 + atomic_load(&tide_session->heartbeat));
        atomic_fetch_add(&segment->execs_lost, 1);
        atomic_fetch_add(&segment->execs_posted, 1);
    }
    return slot;
}

/* The end of it says more than its beginning. */
static void copy_name(char out[TIDE_EXEC_NAME_BYTES], const char *name)
{
    const size_t length = strlen(name);
    const size_t over =
        length < TIDE_EXEC_NAME_BYTES ? 0 : length - TIDE_EXEC_NAME_BYTES + 1;
    memcpy(out, name + over, length - over + 1);
    if (over)
        memcpy(out, "...", 3); /* NOLINT(bugprone-not-null-terminated-result) */
}

/* The program that is open as FD. */
static void read_name(char out[TIDE_EXEC_NAME_BYTES], int fd)
{
    static const char FOLDER[] = "/proc/self/fd/";
    char link[32] = "", *begin = link + sizeof(link) - 1;
    for (unsigned left = (unsigned)fd; begin > link + sizeof(FOLDER) - 1; left /= 10) {
        *--begin = (char)('0' + left % 10);
        if (left < 10)
            break;
    }
    begin -= sizeof(FOLDER) - 1;
    memcpy(begin, FOLDER, sizeof(FOLDER) - 1);
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, begin, out, TIDE_EXEC_NAME_BYTES - 1);
    out[length < 0 ? 0 : length] = '\0';
}

static void post(struct tide_exec *exec, const char *name, int fd, uint32_t pid)
{
    struct tide_segment *const segment = tide_shared_segment;
    exec->serial = atomic_fetch_add(&segment->execs, 1);
    struct tide_exec_slot *const slot = claim(exec->serial);
    if (!slot)
        return;
    slot->flags = exec->flags;
    slot->pid = pid;
    slot->serial = exec->serial;
    slot->ticks = exec->ticks;
    if (name)
        copy_name(slot->name, name);
    else
        read_name(slot->name, fd);
    atomic_store(&slot->state, TIDE_EXEC_POSTED);
    atomic_fetch_add(&segment->execs_posted, 1);
    exec->slot = slot;
    tide_session_wake();
}

/* Is there anything to tell of it?  Who cannot be named is only counted. */
static bool is_news(const struct tide_exec *exec, uint32_t pid)
{
    return exec->ticks && (pid || exec->flags & TIDE_EXEC_HOPELESS);
}

/* The kernel would say EFAULT where we would be killed for reading NAME. */
static bool will_be_found(int folder, const char *name)
{
    if (!name || folder == TIDE_EXEC_SEARCHED)
        return true;
    return syscall(SYS_faccessat, folder, name, F_OK) == 0 || errno == EACCES;
}

void tide_exec_post(struct tide_exec *exec, int folder, const char *name)
{
    const int saved = errno;
    tide_monitors_exec(true);
    if (is_news(exec, exec->pid) && will_be_found(folder, name))
        post(exec, name, folder, exec->pid);
    errno = saved;
}

void tide_exec_failed(struct tide_exec *exec)
{
    const int saved = errno;
    tide_monitors_exec(false);
    struct tide_exec_slot *const slot = exec->slot;
    uint32_t state = TIDE_EXEC_POSTED;
    if (exec->ticks)
        inside = 0;
    if (slot &&
        (slot->serial != exec->serial ||
         !atomic_compare_exchange_strong(&slot->state, &state, TIDE_EXEC_FREE))) {
        exec->flags = TIDE_EXEC_FAILED;
        post(exec, "", -1, exec->pid);
    }
    errno = saved;
}

void tide_exec_shell(void)
{
    static const char shell[] = "/bin/sh";
    struct tide_exec exec;
    tide_exec_look(&exec, environ);
    const int saved = errno;
    if (exec.ticks)
        inside = 0;                /* whoever comes next may be left by longjmp */
    exec.flags |= exec.seen.flags; /* its environment cannot be changed */
    if (is_news(&exec, 0) && will_be_found(AT_FDCWD, shell))
        post(&exec, shell, -1, 0);
    errno = saved;
}

void tide_exec_spawned(struct tide_exec *exec, const char *name, uint32_t pid)
{
    const int saved = errno;
    if (exec->ticks)
        inside = 0;
    if (pid && is_news(exec, pid))
        post(exec, name, -1, pid);
    errno = saved;
}
