/* capture/monitor_list.c - which built-in monitors are wanted, and where they report.
 *
 * TIDEMARK_MONITOR says it: see base/raw/monitor_words.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/environment.h"
#include "capture/first_errors.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/watch.h"
#include "capture/windows.h"

/* The list whose mistakes were said already. */
#define TIDE_SAID_ENV "TIDEMARK_MONITOR_SAID"

static const struct tide_monitor *const MONITORS[TIDE_MONITORS] = {
    [TIDE_MONITOR_SIMPLE] = &tide_monitor_simple,
    [TIDE_MONITOR_LOOP] = &tide_monitor_loop,
    [TIDE_MONITOR_HISTOGRAM] = &tide_monitor_histogram,
    [TIDE_MONITOR_PERIODIC] = &tide_monitor_periodic,
    [TIDE_MONITOR_REGIONS] = &tide_monitor_regions,
    [TIDE_MONITOR_THRESHOLD] = &tide_monitor_threshold,
};

static bool wanted[TIDE_MONITORS];
static bool any, as_json;
static char file_path[TIDE_MONITOR_PATH]; /* "": the first standard error */
static long first_pid, spoken_for;
static char program[256];
static _Atomic uint32_t report_lock;

/* --- Start ----------------------------------------------------------------------------- */

/* Once for a program and all that it starts: `timeout` or `env` before it has the same
 * list, and would say the same. */
static void complain(const char *list, const char *fault)
{
    struct tide_lines lines = {.file = 2};
    tide_lines_text(&lines, "tidemark: TIDEMARK_MONITOR: ");
    tide_lines_text(&lines, fault);
    tide_lines_text(&lines, "\n");
    const char *const said = secure_getenv(TIDE_SAID_ENV);
    if (!said || strcmp(said, list) != 0)
        tide_lines_flush(&lines);
}

/* It is ready, and listens from here on. */
static bool listen(enum tide_monitor_kind kind)
{
    const struct tide_monitor *const monitor = MONITORS[kind];
    tide_handle handle;
    const struct tide_listener listener = {
        .alloc_heard = monitor->alloc_heard,
        .free_heard = monitor->free_heard,
        .kind = TIDE_FOR_MONITOR,
    };
    if (tide_registry_add(&listener, &handle) != TIDE_DONE)
        return false;
    wanted[kind] = any = true;
    tide_attend(1);
    return true;
}

static bool begin_one(enum tide_monitor_kind kind, struct tide_monitor_options options)
{
    return MONITORS[kind]->begin(options) && listen(kind);
}

static bool obey(const struct tide_monitor_words *words)
{
    if (words->kind == TIDE_MONITOR_OWN)
        return true;
    if (words->kind == TIDE_MONITOR_JSON)
        return as_json = true;
    if (words->kind == TIDE_MONITOR_FILE)
        return tide_monitor_path(words->path, words->path_length, file_path);
    return begin_one(words->kind, words->options);
}

static void find_program(void)
{
    char path[TIDE_MONITOR_PATH];
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    memcpy(program, name, strnlen(name, sizeof(program) - 1));
}

/* What LIST says. */
static void obey_list(const char *list)
{
    struct tide_monitor_words words = {.rest = list};
    struct tide_monitor_fault fault;
    bool wrong = false, more = true;
    while (more) {
        const char *problem = fault.text;
        more = tide_monitor_words_next(&words, &fault);
        if (more && !*problem && !obey(&words))
            problem = words.kind == TIDE_MONITOR_PERIODIC
                          ? "the file of periodic cannot be written"
                          : "a monitor cannot start: no memory, or a name too long";
        /* That none is left is no news after a mistake. */
        if (*problem && (more || !wrong))
            complain(list, problem);
        wrong |= *problem != '\0';
    }
    if (wrong)
        (void)tide_environment_set(TIDE_SAID_ENV, list);
}

/* What the variables of CMS's preloads say, unless LIST has said it. */
static void obey_cms(void)
{
    if (!wanted[TIDE_MONITOR_PERIODIC] && tide_periodic_as_cms())
        (void)listen(TIDE_MONITOR_PERIODIC);
    if (!wanted[TIDE_MONITOR_THRESHOLD] && tide_threshold_as_cms())
        (void)listen(TIDE_MONITOR_THRESHOLD);
}

bool tide_monitor_variable(const char *name, uint64_t *value)
{
    const char *text = secure_getenv(name);
    uint64_t number = 0;
    if (!text || *text < '0' || *text > '9')
        return false;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return false;
    *value = number;
    return true;
}

void tide_monitors_begin(void)
{
    const char *const list = secure_getenv("TIDEMARK_MONITOR");
    if (!tide_monitors_named())
        return;
    first_pid = syscall(SYS_getpid);
    find_program();
    if (list && *list)
        obey_list(list);
    obey_cms();
    if (any)
        tide_first_errors_begin(!*file_path);
}

/* --- Reports --------------------------------------------------------------------------- */

long tide_monitor_pid(void)
{
    return spoken_for ? spoken_for : syscall(SYS_getpid);
}

void tide_monitor_speak_for(long pid)
{
    spoken_for = pid;
}

bool tide_monitor_forked(void)
{
    return tide_monitor_pid() != first_pid;
}

void tide_monitors_exec(bool begins)
{
    if (wanted[TIDE_MONITOR_PERIODIC])
        tide_periodic_exec(begins);
}

bool tide_monitor_path(const char *path, size_t length, char kept[TIDE_MONITOR_PATH])
{
    size_t before = 0;
    if (*path != '/') {
        const long folder = syscall(SYS_getcwd, kept, (size_t)TIDE_MONITOR_PATH);
        if (folder > 0 && *kept == '/') {
            before = (size_t)folder; /* with the end of it */
            kept[before - 1] = '/';
        }
    }
    if (length >= TIDE_MONITOR_PATH - before) {
        *kept = '\0';
        return false;
    }
    memcpy(kept + before, path, length);
    kept[before + length] = '\0';
    return true;
}

int tide_monitor_open(const char *path, bool child, int how)
{
    struct tide_lines name = {.file = -1};
    bool numbered = false;
    for (; *path && name.used < TIDE_MONITOR_PATH; path++) {
        const char letter[] = {*path, '\0'};
        const bool number = path[0] == '%' && path[1] == 'p';
        if (number)
            tide_lines_number(&name, (uint64_t)tide_monitor_pid());
        else
            tide_lines_text(&name, letter);
        path += number;
        numbered |= number;
    }
    if (*path)
        return -1;
    if (child && !numbered) { /* not over its parent's */
        tide_lines_text(&name, ".");
        tide_lines_number(&name, (uint64_t)tide_monitor_pid());
    }
    name.bytes[name.used] = '\0';
    /* The name may be foreseen, and a link planted there; /dev/stdout is a link as well. */
    const int links = memcmp(name.bytes, "/dev/", 5) == 0 ? 0 : O_NOFOLLOW;
    const int made = how == O_TRUNC ? O_CREAT : 0; /* what is gone stays away */
    return (int)syscall(SYS_openat, AT_FDCWD, name.bytes,
                        O_WRONLY | O_CLOEXEC | made | links | how, 0644);
}

void tide_monitor_title(struct tide_monitor_report *report, const char *name)
{
    struct tide_lines *const lines = &report->lines;
    const uint64_t pid = (uint64_t)syscall(SYS_getpid);
    if (report->json) {
        tide_lines_text(lines, "{\"schema\":\"tidemark.monitor/1\",\"monitor\":");
        tide_lines_quoted(lines, name);
        tide_lines_text(lines, ",\"program\":");
        tide_lines_quoted(lines, program);
        tide_lines_field(lines, "pid", pid);
        tide_lines_text(lines, ",\"cause\":");
        tide_lines_quoted(lines, report->cause);
        return;
    }
    tide_lines_text(lines, "tidemark: ");
    tide_lines_text(lines, name);
    tide_lines_text(lines, ", ");
    tide_lines_name(lines, program);
    tide_lines_text(lines, " (pid ");
    tide_lines_number(lines, pid);
    tide_lines_text(lines, "), at ");
    tide_lines_name(lines, report->cause);
    tide_lines_text(lines, "\n");
}

void tide_monitor_end(struct tide_monitor_report *report)
{
    if (report->json)
        tide_lines_text(&report->lines, "}\n");
}

/* Where the report goes: to standard error when its file cannot be had.  The descriptor
 * that must be closed; -1: none. */
static int open_report(struct tide_lines *lines)
{
    const int file =
        *file_path ? tide_monitor_open(file_path, tide_monitor_forked(), O_TRUNC) : -1;
    lines->file = file >= 0 ? file : tide_first_errors();
    if (*file_path && file < 0) {
        tide_lines_text(lines, "tidemark: TIDEMARK_MONITOR: cannot write ");
        tide_lines_name(lines, file_path);
        tide_lines_text(lines, ":\n");
    }
    return file;
}

/* A second report of the same process replaces the first in its file. */
bool tide_monitors_report(const char *cause)
{
    struct tide_monitor_report report = {.json = as_json, .cause = cause};
    const int saved = errno;
    if (!any)
        return false;
    tide_lock(&report_lock);
    const int file = open_report(&report.lines);
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (wanted[i])
            MONITORS[i]->report(&report);
    tide_lines_flush(&report.lines);
    if (file >= 0)
        syscall(SYS_close, file);
    tide_unlock(&report_lock);
    errno = saved;
    return true;
}

void tide_monitors_after_fork(void)
{
    atomic_store(&report_lock, 0);
    tide_first_errors_after_fork();
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (wanted[i] && MONITORS[i]->after_fork)
            MONITORS[i]->after_fork();
}

__attribute__((destructor)) static void tide_monitors_exit(void)
{
    tide_monitors_report("exit");
}
