/* symbol/name_child.c - names are read in a process of their own.
 *
 * The child is forked, not executed: it needs no program of its own, and has what it is
 * asked about at hand.  It shares our pages until one of us writes there, and its limit
 * counts what it maps itself.
 */
#include "symbol/name_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/data_memory.h"
#include "symbol/debuginfod.h"
#include "symbol/name_server.h"
#include "symbol/name_wire.h"

enum {
    TIDE_CHILD_PATIENCE_MS = 600000, /* for the next byte; it may fetch a large file */
    TIDE_CHILD_LOOK_MS = 20,         /* how often a limit is looked at */
    TIDE_CHILD_END_MS = 200,         /* for a child that was killed to end */
    TIDE_CHILD_BUFFER = 64 * 1024,
};
#define TIDE_CHILD_MEMORY_MOST (4ull << 30) /* bytes */

struct tide_name_child {
    struct tide_debuginfod *debuginfod; /* borrowed; may be NULL */
    pid_t pid;                          /* 0: there is none */
    int fd;
    uint32_t started; /* children so far */
    uint32_t modules; /* numbers given so far */
    struct tide_name_limit limit;
    bool over;     /* the limit was reached */
    uint64_t lent; /* bytes of our limit that the child has; 0: there is no limit */
    const char *known[TIDE_NAME_PLACES];   /* borrowed from the module's pool */
    const struct tide_child_module *asked; /* whose texts are in KNOWN */
    size_t from, until;                    /* of BUFFER: to be read */
    char buffer[TIDE_CHILD_BUFFER];
};

/* --- The process ------------------------------------------------------------------- */

/* Keep nothing open but the socket FD: a file system that does not answer may keep the child from
 * ending, and nobody who reads what we write shall wait for that.  What the child says on its way
 * down is of no use to who reads a report.  Returns the socket. */
static int leave_all(int fd)
{
    const int first = STDERR_FILENO + 1;
    const int moved = dup2(fd, first);
    (void)close_range((unsigned)first + 1, ~0u, 0);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO && nowhere >= 0; i++)
        (void)dup2(nowhere, i);
    if (nowhere > first)
        (void)close(nowhere);
    return moved;
}

/* What this process does at a signal (remove its unfinished file, say) is not for the child
 * to do.  The limit of processor time ends it, even where our caller ignores that signal. */
static void default_signals(void)
{
    static const int NUMBERS[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                                  SIGABRT, SIGINT, SIGTERM, SIGHUP};
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t time_is_up;
    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        struct sigaction before;
        if (sigaction(NUMBERS[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(NUMBERS[i], &usual, NULL);
    }
    (void)sigaction(SIGXCPU, &usual, NULL);
    (void)sigemptyset(&time_is_up);
    (void)sigaddset(&time_is_up, SIGXCPU);
    (void)pthread_sigmask(SIG_UNBLOCK, &time_is_up, NULL);
}

/* Nobody takes the answers when PARENT is killed, or the thread of it that asks ends. */
static void end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
}

_Noreturn static void live(const struct tide_name_child *child, int fd)
{
    const struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    default_signals();
    if (child->lent)
        tide_data_allow(child->lent);
    if (child->limit.memory && child->limit.memory < tide_data_left())
        tide_data_allow(child->limit.memory);
    /* What servers have to say is of use, and what they are asked with is open. */
    tide_name_serve(child->debuginfod ? fd : leave_all(fd), child->debuginfod);
    _exit(0);
}

/* The child gets half of what we may still take, and we the other. */
static void lend_memory(struct tide_name_child *child)
{
    const uint64_t left = tide_data_left();
    child->lent = 0;
    if (left == UINT64_MAX)
        return;
    child->lent = left / 2 < TIDE_CHILD_MEMORY_MOST ? left / 2 : TIDE_CHILD_MEMORY_MOST;
    tide_data_allow(left - child->lent);
}

static void take_memory_back(struct tide_name_child *child)
{
    const uint64_t left = tide_data_left();
    if (child->lent && left != UINT64_MAX)
        tide_data_allow(left + child->lent);
    child->lent = 0;
}

/* A child of another thread, forked meanwhile, would keep the other end of ours open: then
 * nobody would notice that ours has ended.  Nor may two threads change the limit at once. */
static pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

static bool start(struct tide_name_child *child)
{
    int ends[2];
    bool started = false;
    (void)pthread_mutex_lock(&starting);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        lend_memory(child);
        const pid_t parent = getpid();
        const pid_t pid = fork();
        if (pid == 0) {
            end_with(parent);
            (void)close(ends[0]);
            live(child, ends[1]);
        }
        (void)close(ends[1]);
        started = pid > 0;
        if (started) {
            child->pid = pid;
            child->fd = ends[0];
            child->started++;
            child->from = child->until = 0;
            child->asked = NULL;
        } else {
            (void)close(ends[0]);
            take_memory_back(child);
        }
    }
    (void)pthread_mutex_unlock(&starting);
    return started;
}

/* Who waits for all of this process's children may have waited for it: then its pid may be
 * another's by now.  A file system that does not answer may keep it from ending: then it is
 * left, and ends when it can. */
static void end_process(const struct tide_name_child *child)
{
    struct pollfd ended = {.fd = child->fd};
    if (waitpid(child->pid, NULL, WNOHANG) != 0)
        return;
    (void)kill(child->pid, SIGKILL);
    if (poll(&ended, 1, TIDE_CHILD_END_MS) == 0)
        return;
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

static void stop(struct tide_name_child *child)
{
    if (!child->pid)
        return;
    end_process(child);
    (void)close(child->fd);
    child->pid = 0;
    (void)pthread_mutex_lock(&starting);
    take_memory_back(child);
    (void)pthread_mutex_unlock(&starting);
}

enum tide_status tide_name_child_new(struct tide_debuginfod *debuginfod,
                                     struct tide_name_child **out)
{
    struct tide_name_child *const child = *out = calloc(1, sizeof(*child));
    if (!child)
        return TIDE_ENOMEM;
    child->debuginfod = debuginfod;
    return TIDE_OK;
}

void tide_name_child_limit(struct tide_name_child *child,
                           const struct tide_name_limit *limit)
{
    child->limit = *limit;
}

void tide_name_child_free(struct tide_name_child *child)
{
    if (child)
        stop(child);
    free(child);
}

/* --- Bytes ------------------------------------------------------------------------- */

/* Is there no time any more? */
static bool is_over(struct tide_name_child *child)
{
    const struct tide_name_limit *const limit = &child->limit;
    struct timespec now;
    if (limit->until_ns && clock_gettime(CLOCK_MONOTONIC, &now) == 0)
        child->over |= (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec >=
                       limit->until_ns;
    child->over |= limit->cancelled && limit->cancelled(limit->context);
    return child->over;
}

/* Wait until the child has something to read, or room for more, as EVENTS says; false: that
 * will not be. */
static bool wait_for(struct tide_name_child *child, short events)
{
    struct pollfd waits = {.fd = child->fd, .events = events};
    const bool limited = child->limit.until_ns || child->limit.cancelled;
    const int step_ms = limited ? TIDE_CHILD_LOOK_MS : TIDE_CHILD_PATIENCE_MS;
    for (int waited_ms = 0; waited_ms < TIDE_CHILD_PATIENCE_MS; waited_ms += step_ms) {
        if (limited && is_over(child))
            return false;
        const int ready = poll(&waits, 1, step_ms);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return ready > 0;
    }
    return false;
}

static bool send_all(struct tide_name_child *child, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size > 0) {
        const ssize_t done = send(child->fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        const bool full = done < 0 && errno == EAGAIN;
        if (done == 0 || (done < 0 && !full && errno != EINTR))
            return false;
        if (full && !wait_for(child, POLLOUT))
            return false;
        at += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

/* Fill the buffer; false when nothing comes any more. */
static bool receive_more(struct tide_name_child *child)
{
    ssize_t done = -1;
    do {
        if (!wait_for(child, POLLIN))
            return false;
        done = recv(child->fd, child->buffer, sizeof(child->buffer), 0);
    } while (done < 0 && errno == EINTR);
    child->from = 0;
    child->until = done > 0 ? (size_t)done : 0;
    return done > 0;
}

static bool receive(struct tide_name_child *child, void *bytes, size_t size)
{
    char *at = bytes;
    while (size > 0) {
        if (child->from == child->until && !receive_more(child))
            return false;
        const size_t ready = child->until - child->from;
        const size_t taken = ready < size ? ready : size;
        memcpy(at, child->buffer + child->from, taken);
        child->from += taken;
        at += taken;
        size -= taken;
    }
    return true;
}

/* --- Answers ----------------------------------------------------------------------- */

/* How the child answered. */
enum outcome {
    TIDE_CHILD_ANSWERED,
    TIDE_CHILD_BROKE,   /* it is dead, or says what cannot be */
    TIDE_CHILD_TOO_BIG, /* its memory did not suffice */
    TIDE_CHILD_ENOMEM,  /* ours did not */
    TIDE_CHILD_NONE,    /* none could be started */
};

/* The text at PLACE; of a new one BYTES follow. */
static enum outcome receive_text(struct tide_name_child *child, uint32_t place,
                                 uint32_t bytes, struct tide_name_pool *pool,
                                 const char **out)
{
    *out = NULL;
    if (place == TIDE_NAME_NONE && bytes == 0)
        return TIDE_CHILD_ANSWERED;
    if (place >= TIDE_NAME_PLACES || bytes > TIDE_NAME_TEXT_MOST)
        return TIDE_CHILD_BROKE;
    if (bytes > 0) {
        char *const text = tide_arena_take(&pool->arena, (size_t)bytes + 1);
        if (!text)
            return TIDE_CHILD_ENOMEM;
        if (!receive(child, text, bytes))
            return TIDE_CHILD_BROKE;
        child->known[place] = text;
    }
    *out = child->known[place];
    return *out ? TIDE_CHILD_ANSWERED : TIDE_CHILD_BROKE;
}

static enum outcome receive_locations(struct tide_name_child *child, uint32_t count,
                                      struct tide_name_pool *pool,
                                      struct tide_child_answer *answer)
{
    enum outcome outcome = TIDE_CHILD_ANSWERED;
    if (count > TIDE_NAME_LOCATIONS_MOST)
        return TIDE_CHILD_BROKE;
    if (count == 0)
        return outcome;
    answer->locations =
        tide_arena_take(&pool->arena, count * sizeof(*answer->locations));
    if (!answer->locations)
        return TIDE_CHILD_ENOMEM;
    answer->count = count;
    for (uint32_t i = 0; i < count && outcome == TIDE_CHILD_ANSWERED; i++) {
        struct tide_name_location sent;
        struct tide_location *const location = &answer->locations[i];
        if (!receive(child, &sent, sizeof(sent)))
            return TIDE_CHILD_BROKE;
        location->line = sent.line;
        location->start = sent.start;
        outcome = receive_text(child, sent.function, sent.function_bytes, pool,
                               &location->function);
        if (outcome == TIDE_CHILD_ANSWERED)
            outcome =
                receive_text(child, sent.file, sent.file_bytes, pool, &location->file);
    }
    return outcome;
}

static enum outcome receive_answer(struct tide_child_module *module,
                                   struct tide_name_pool *pool,
                                   struct tide_child_answer *answer)
{
    struct tide_name_child *const child = module->child;
    struct tide_name_answer sent;
    *answer = (struct tide_child_answer){0};
    if (!receive(child, &sent, sizeof(sent)) || sent.state >= TIDE_MODULE_STATES)
        return TIDE_CHILD_BROKE;
    if (sent.silent)
        tide_debuginfod_fell_silent(child->debuginfod);
    if (sent.status)
        return sent.status == TIDE_ENOMEM ? TIDE_CHILD_TOO_BIG : TIDE_CHILD_BROKE;
    if (!module->symbols_only)
        module->state = (enum tide_module_state)sent.state;
    return receive_locations(child, sent.count, pool, answer);
}

/* --- Questions --------------------------------------------------------------------- */

static bool send_open(struct tide_child_module *module)
{
    struct tide_name_child *const child = module->child;
    const struct tide_name_request request = {.kind = TIDE_NAME_OPEN,
                                              .module = module->number,
                                              .size = module->text_bytes,
                                              .symbols_only = module->symbols_only,
                                              .file = module->file};
    module->opened_by = child->started;
    return send_all(child, &request, sizeof(request)) &&
           send_all(child, module->texts, module->text_bytes);
}

/* Texts lie in the pool of their module. */
static void forget_texts(struct tide_child_module *module)
{
    struct tide_name_child *const child = module->child;
    if (child->asked == module)
        return;
    memset(child->known, 0, sizeof(child->known));
    child->asked = module;
}

static enum outcome ask(struct tide_child_module *module, const uint64_t *addresses,
                        size_t count, struct tide_name_pool *pool,
                        struct tide_child_answer *answers)
{
    struct tide_name_child *const child = module->child;
    const struct tide_name_request request = {
        .kind = TIDE_NAME_FIND, .module = module->number, .size = (uint32_t)count};
    enum outcome outcome = TIDE_CHILD_ANSWERED;
    if (!child->pid && !start(child))
        return TIDE_CHILD_NONE;
    forget_texts(module);
    if ((module->opened_by != child->started && !send_open(module)) ||
        !send_all(child, &request, sizeof(request)) ||
        !send_all(child, addresses, count * sizeof(*addresses)))
        return TIDE_CHILD_BROKE;
    for (size_t i = 0; i < count && outcome == TIDE_CHILD_ANSWERED; i++)
        outcome = receive_answer(module, pool, &answers[i]);
    return outcome;
}

enum tide_status tide_child_module_ask(struct tide_child_module *module,
                                       const uint64_t *addresses, size_t count,
                                       struct tide_name_pool *pool,
                                       struct tide_child_answer *answers)
{
    while (!module->hopeless && count <= TIDE_NAME_ADDRESSES_MOST) {
        const enum outcome outcome = ask(module, addresses, count, pool, answers);
        if (outcome == TIDE_CHILD_ANSWERED)
            return TIDE_OK;
        stop(module->child);
        if (module->child->over)
            return TIDE_ELIMIT;
        if (outcome == TIDE_CHILD_ENOMEM || outcome == TIDE_CHILD_NONE)
            return outcome == TIDE_CHILD_ENOMEM ? TIDE_ENOMEM : TIDE_ESYSTEM;
        module->state =
            outcome == TIDE_CHILD_TOO_BIG ? TIDE_MODULE_TOO_BIG : TIDE_MODULE_BROKEN;
        module->hopeless = module->symbols_only;
        module->symbols_only = true;
    }
    memset(answers, 0, count * sizeof(*answers));
    return TIDE_OK;
}

/* --- Modules ----------------------------------------------------------------------- */

enum tide_status tide_child_module_open(struct tide_child_module *module,
                                        struct tide_name_child *child,
                                        const struct tide_child_file *file)
{
    const char *const texts[] = {file->path, file->build_id, file->debug_root};
    size_t size = 0;
    *module = (struct tide_child_module){
        .child = child, .file = file->known, .state = TIDE_MODULE_READ};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        size += strlen(texts[i]) + 1;
    module->texts = size < UINT32_MAX ? malloc(size) : NULL;
    if (!module->texts)
        return TIDE_ENOMEM;
    char *at = module->texts;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        at = stpcpy(at, texts[i]) + 1;
    module->text_bytes = (uint32_t)size;
    module->number = child->modules++;
    return TIDE_OK;
}

void tide_child_module_close(struct tide_child_module *module)
{
    struct tide_name_child *const child = module->child;
    if (child && child->pid && module->opened_by == child->started) {
        const struct tide_name_request request = {.kind = TIDE_NAME_CLOSE,
                                                  .module = module->number};
        (void)send_all(child, &request, sizeof(request));
    }
    if (child && child->asked == module)
        child->asked = NULL;
    free(module->texts);
    *module = (struct tide_child_module){0};
}
