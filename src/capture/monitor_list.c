/* capture/monitor_list.c - which built-in monitors are wanted, and where they report.
 *
 * TIDEMARK_MONITOR is a list with commas: names of monitors with their options, and for all
 * of them `json` and `file=PATH`:
 *
 *     TIDEMARK_MONITOR=simple,threshold:single=1M:action=abort,json,file=report.%p
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/watch.h"
#include "capture/windows.h"

enum { TIDE_MONITORS = 6, TIDE_PATH_MAX = 1024 };

static const struct tide_monitor *const MONITORS[TIDE_MONITORS] = {
    &tide_monitor_simple,   &tide_monitor_loop,    &tide_monitor_histogram,
    &tide_monitor_periodic, &tide_monitor_regions, &tide_monitor_threshold,
};

static bool wanted[TIDE_MONITORS];
static bool any, as_json;
static const char *file_path; /* in the environment; NULL: standard error */
static size_t file_length;
static long first_pid;
static char program[256];
static _Atomic uint32_t report_lock;

/* --- Options --------------------------------------------------------------------------- */

static size_t until(const char *text, const char *ends)
{
    return strcspn(text, ends);
}

const char *tide_monitor_option(struct tide_monitor_options options, const char *key,
                                size_t *length)
{
    const size_t key_length = strlen(key);
    const char *at = options.text;
    while (*at == ':') {
        at++;
        const size_t whole = until(at, ":,");
        if (whole > key_length && strncmp(at, key, key_length) == 0 &&
            at[key_length] == '=') {
            *length = whole - key_length - 1;
            return at + key_length + 1;
        }
        at += whole;
    }
    *length = 0;
    return NULL;
}

uint64_t tide_monitor_number(struct tide_monitor_options options, const char *key,
                             uint64_t otherwise)
{
    size_t length;
    const char *const text = tide_monitor_option(options, key, &length);
    uint64_t value = 0;
    size_t i = 0;
    if (!text)
        return otherwise;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(text[i] - '0');
    static const char UNITS[] = "KMGT";
    const char *const unit = i < length ? strchr(UNITS, text[i]) : NULL;
    return unit ? value << 10 * (unit - UNITS + 1) : value;
}

static void complain(const char *what, const char *text, size_t length)
{
    struct tide_lines lines = {.file = 2};
    char word[64] = "";
    memcpy(word, text, length < sizeof(word) - 1 ? length : sizeof(word) - 1);
    tide_lines_text(&lines, "tidemark: TIDEMARK_MONITOR: ");
    tide_lines_text(&lines, what);
    tide_lines_text(&lines, " '");
    tide_lines_text(&lines, word);
    tide_lines_text(&lines, "'; there are simple, loop, histogram, periodic, regions,"
                            " threshold, json, file=PATH\n");
    tide_lines_flush(&lines);
}

/* Are all keys of OPTIONS among those that MONITOR has? */
static bool knows(const struct tide_monitor *monitor, const char *options)
{
    while (*options == ':') {
        char key[32] = " ";
        const size_t length = until(++options, "=:,");
        if (options[length] != '=' || length > sizeof(key) - 3)
            return false;
        memcpy(key + 1, options, length);
        key[length + 1] = ' ';
        if (!strstr(monitor->keys, key))
            return false;
        options += until(options, ":,");
    }
    return true;
}

static bool begin_one(size_t number, const char *options)
{
    const struct tide_monitor *const monitor = MONITORS[number];
    tide_handle handle;
    if (wanted[number] || !knows(monitor, options) ||
        !monitor->begin((struct tide_monitor_options){options}))
        return false;
    const struct tide_listener listener = {
        .alloc_heard = monitor->alloc_heard,
        .free_heard = monitor->free_heard,
        .kind = TIDE_FOR_MONITOR,
    };
    if (tide_registry_add(&listener, &handle) != TIDE_DONE)
        return false;
    wanted[number] = any = true;
    tide_attend(1);
    return true;
}

static bool begin_named(const char *item, size_t length)
{
    const size_t name = until(item, ":,");
    if (length == 4 && strncmp(item, "json", 4) == 0)
        return as_json = true;
    if (length > 5 && strncmp(item, "file=", 5) == 0) {
        file_path = item + 5;
        file_length = length - 5;
        return true;
    }
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (strlen(MONITORS[i]->name) == name &&
            strncmp(item, MONITORS[i]->name, name) == 0)
            return begin_one(i, item + name);
    return false;
}

static void find_program(void)
{
    char path[TIDE_PATH_MAX];
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0)
        return;
    path[length] = '\0';
    const char *const slash = strrchr(path, '/');
    const char *const name = slash ? slash + 1 : path;
    memcpy(program, name, strnlen(name, sizeof(program) - 1));
}

void tide_monitors_begin(void)
{
    const char *list = secure_getenv("TIDEMARK_MONITOR");
    if (!list || !*list)
        return;
    first_pid = syscall(SYS_getpid);
    find_program();
    for (; *list; list += *list == ',') {
        const size_t length = until(list, ",");
        if (length > 0 && !begin_named(list, length))
            complain("what is", list, length);
        list += length;
    }
}

/* --- Reports --------------------------------------------------------------------------- */

bool tide_monitor_forked(void)
{
    return syscall(SYS_getpid) != first_pid;
}

int tide_monitor_open(const char *path, size_t length, bool child)
{
    struct tide_lines name = {.file = -1};
    bool numbered = false;
    for (size_t i = 0; i < length && name.used < TIDE_PATH_MAX; i++) {
        const char letter[] = {path[i], '\0'};
        const bool number = path[i] == '%' && i + 1 < length && path[i + 1] == 'p';
        if (number)
            tide_lines_number(&name, (uint64_t)syscall(SYS_getpid));
        else
            tide_lines_text(&name, letter);
        i += number;
        numbered |= number;
    }
    if (child && !numbered) { /* not over its parent's */
        tide_lines_text(&name, ".");
        tide_lines_number(&name, (uint64_t)syscall(SYS_getpid));
    }
    name.bytes[name.used] = '\0';
    return (int)syscall(SYS_openat, AT_FDCWD, name.bytes,
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
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
    tide_lines_text(lines, program);
    tide_lines_text(lines, " (pid ");
    tide_lines_number(lines, pid);
    tide_lines_text(lines, "), at ");
    tide_lines_text(lines, report->cause);
    tide_lines_text(lines, "\n");
}

void tide_monitor_end(struct tide_monitor_report *report)
{
    if (report->json)
        tide_lines_text(&report->lines, "}\n");
}

/* A second report of the same process replaces the first in its file. */
bool tide_monitors_report(const char *cause)
{
    struct tide_monitor_report report = {.json = as_json, .cause = cause};
    const int saved = errno;
    if (!any)
        return false;
    tide_lock(&report_lock);
    report.lines.file =
        file_path ? tide_monitor_open(file_path, file_length, tide_monitor_forked())
                  : 2;
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (wanted[i])
            MONITORS[i]->report(&report);
    tide_lines_flush(&report.lines);
    if (file_path && report.lines.file >= 0)
        syscall(SYS_close, report.lines.file);
    tide_unlock(&report_lock);
    errno = saved;
    return true;
}

void tide_monitors_after_fork(void)
{
    atomic_store(&report_lock, 0);
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (wanted[i] && MONITORS[i]->after_fork)
            MONITORS[i]->after_fork();
}

__attribute__((destructor)) static void tide_monitors_exit(void)
{
    tide_monitors_report("exit");
}
