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

enum { TIDE_MONITORS = 6 };

static const struct tide_monitor *const MONITORS[TIDE_MONITORS] = {
    &tide_monitor_simple,   &tide_monitor_loop,    &tide_monitor_histogram,
    &tide_monitor_periodic, &tide_monitor_regions, &tide_monitor_threshold,
};

static bool wanted[TIDE_MONITORS];
static bool any, as_json;
static char file_path[TIDE_MONITOR_PATH]; /* "": standard error */
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

/* None may be larger: that many bytes are a signed number still. */
bool tide_monitor_number(struct tide_monitor_options options, const char *key,
                         uint64_t *value)
{
    size_t length, i = 0;
    const char *const text = tide_monitor_option(options, key, &length);
    static const char UNITS[] = "KMGT";
    uint64_t number = 0;
    if (!text)
        return true;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[i] - '0'), &number))
            return false;
    const char *const unit = i > 0 && i + 1 == length ? strchr(UNITS, text[i]) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - UNITS + 1) : 0;
    if (i == 0 || (i < length && !unit) || number > (uint64_t)INT64_MAX >> shift)
        return false;
    *value = number << shift;
    return true;
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
    if (length > 5 && strncmp(item, "file=", 5) == 0)
        return tide_monitor_path(item + 5, length - 5, file_path);
    for (size_t i = 0; i < TIDE_MONITORS; i++)
        if (strlen(MONITORS[i]->name) == name &&
            strncmp(item, MONITORS[i]->name, name) == 0)
            return begin_one(i, item + name);
    return false;
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
            tide_lines_number(&name, (uint64_t)syscall(SYS_getpid));
        else
            tide_lines_text(&name, letter);
        path += number;
        numbered |= number;
    }
    if (*path)
        return -1;
    if (child && !numbered) { /* not over its parent's */
        tide_lines_text(&name, ".");
        tide_lines_number(&name, (uint64_t)syscall(SYS_getpid));
    }
    name.bytes[name.used] = '\0';
    return (int)syscall(SYS_openat, AT_FDCWD, name.bytes,
                        O_WRONLY | O_CREAT | O_CLOEXEC | how, 0644);
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

/* Where the report goes: to standard error when its file cannot be had. */
static int open_report(struct tide_lines *lines)
{
    const int file =
        *file_path ? tide_monitor_open(file_path, tide_monitor_forked(), O_TRUNC) : 2;
    lines->file = file >= 0 ? file : 2;
    if (file < 0) {
        tide_lines_text(lines, "tidemark: TIDEMARK_MONITOR: cannot write ");
        tide_lines_text(lines, file_path);
        tide_lines_text(lines, ":\n");
    }
    return lines->file;
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
    if (file != 2)
        syscall(SYS_close, file);
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
