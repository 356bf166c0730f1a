/* capture/monitor_periodic.c - a line of CSV every so many milliseconds.
 *
 * The recorder has no thread of its own, and needs none: between two allocations nothing
 * changes.  So the line of a moment is written when the first event after it comes, or at
 * the end, and says what was true then; a program that sleeps has all its lines as well,
 * up to a thousand: of a longer silence the first and the last, which say the same.  A
 * process aside waits for the end of this one: when it was killed, or left by _exit(), it
 * writes what is missing.
 *
 * No descriptor is kept: the program may close it, and get its number for a file of its
 * own.  Lines that find the file out of reach (chroot, other rights) are lost, and counted.
 *
 * Options: ms=N (1000), file=PATH (tidemark-periodic.%p.csv).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/environment.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/reserve.h"
#include "capture/spawn.h"

/* Set by who is given the children of others, for those that it starts. */
#define TIDE_NONE_ASIDE_ENV "TIDEMARK_MONITOR_NONE_ASIDE"
#define TIDE_DEFAULT_PATH   "tidemark-periodic.%p.csv"

enum { TIDE_LINES_AT_ONCE = 1000 };
#define TIDE_LONGEST_MS (UINT64_C(1) << 40) /* as nanoseconds it is a number still */

/* What the process aside has to know. */
struct shared {
    struct tide_tally tally;
    _Atomic uint64_t next_ns;    /* when the next line is due */
    _Atomic uint32_t no_concern; /* 1: the last line is written, or another program's to
                                    write */
};

static struct shared unshared;
static struct shared *shared = &unshared;
static uint64_t begun_ns, period_ns;
static _Atomic uint32_t lines_lock;
static struct tide_lines csv;        /* guarded by lines_lock */
static char path[TIDE_MONITOR_PATH]; /* absolute: the program may change its folder */
static uint64_t lost;                /* lines; guarded by lines_lock */
static long file_pid;                /* whose file was begun.  Guarded by lines_lock */
static bool as_cms;                  /* lines look as those of CMS's preload */

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void open_file(int how)
{
    csv.used = 0;
    csv.file = tide_monitor_open(path, tide_monitor_forked(), how);
}

static void close_file(void)
{
    tide_lines_flush(&csv);
    if (csv.file >= 0)
        syscall(SYS_close, csv.file);
}

static bool begin_file(void)
{
    file_pid = tide_monitor_pid();
    open_file(O_TRUNC);
    tide_lines_text(&csv,
                    as_cms ? "timestamp, total-requested, max-actual, present-actual, "
                             "max-single, nAllocs, nDeallocs\n"
                           : "time_ms,total_requested_bytes,max_used_bytes,"
                             "present_used_bytes,largest_request_bytes,alloc_calls,"
                             "free_calls\n");
    close_file();
    return csv.file >= 0;
}

static void at_end(void);

static bool is_our_concern(void)
{
    return !atomic_load(&shared->no_concern);
}

/* Who is given the children of others would be given the processes aside of all that it
 * starts, and wait for children that it never had. */
static bool may_have_one_aside(void)
{
    if (tide_spawn_given_children())
        (void)tide_environment_set(TIDE_NONE_ASIDE_ENV, "1");
    return !secure_getenv(TIDE_NONE_ASIDE_ENV);
}

/* Without memory or a process for it, lines are those of a program that ends by itself. */
static void prepare_for_end(void)
{
    if (!may_have_one_aside())
        return;
    void *const memory = tide_reserve_map(sizeof(*shared), PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!memory)
        return;
    memcpy(memory, &unshared, sizeof(unshared));
    shared = memory;
    tide_spawn_waiter(at_end, is_our_concern);
}

/* PATH (LENGTH bytes), a line every MS milliseconds. */
static bool begin_with(const char *name, size_t length, uint64_t ms)
{
    if (!tide_monitor_path(name, length, path))
        return false;
    begun_ns = now_ns();
    period_ns = ms * 1000000u;
    atomic_store(&shared->next_ns, begun_ns + period_ns);
    if (!begin_file())
        return false;
    prepare_for_end();
    return true;
}

static bool begin(struct tide_monitor_options options)
{
    size_t length;
    const char *const given = tide_monitor_option(options, "file", &length);
    uint64_t ms = 1000;
    return tide_monitor_number(options, "ms", &ms) &&
           begin_with(given ? given : TIDE_DEFAULT_PATH,
                      given ? length : sizeof(TIDE_DEFAULT_PATH) - 1, ms);
}

bool tide_periodic_as_cms(void)
{
    static const char rest[] = "%p.csv";
    char name[TIDE_MONITOR_PATH];
    uint64_t ms = 1000;
    const char *const given = secure_getenv("PAM_FILENAME");
    const bool timed = tide_monitor_variable("PAM_INTERVAL_MS", &ms);
    if (!given && !timed)
        return false;
    const char *const base = given ? given : "periodic_alloc_";
    const size_t length = strlen(base);
    if (length + sizeof(rest) > sizeof(name))
        return false;
    memcpy(name, base, length); /* NOLINT(bugprone-not-null-terminated-result) */
    memcpy(name + length, rest, sizeof(rest));
    as_cms = true;
    return begin_with(name, length + sizeof(rest) - 1,
                      ms > 0 && ms <= TIDE_LONGEST_MS ? ms : 1000);
}

static void add_line(uint64_t at_ns, const struct tide_stats *stats)
{
    const uint64_t values[] = {
        stats->requested_bytes,
        (uint64_t)stats->peak_bytes,
        (uint64_t)(stats->live_bytes > 0 ? stats->live_bytes : 0),
        stats->largest_bytes,
        stats->alloc_calls,
        stats->free_calls,
    };
    lost += csv.file < 0;
    tide_lines_number(&csv, (at_ns - begun_ns) / 1000000u);
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        tide_lines_text(&csv, as_cms ? ", " : ",");
        tide_lines_number(&csv, values[i]);
    }
    tide_lines_text(&csv, "\n");
}

/* When the next line is due, after one that was due at DUE. */
static uint64_t after(uint64_t due, uint64_t now)
{
    const uint64_t missed = now > due ? (now - due) / period_ns : 0;
    return due + period_ns * (missed > TIDE_LINES_AT_ONCE ? missed : 1);
}

/* Write the lines up to NOW.  An event that comes meanwhile, also in a handler, finds that
 * nothing is due. */
static TIDE_COLD void catch_up(uint64_t now, bool last)
{
    struct tide_stats stats = {0};
    tide_lock(&lines_lock);
    if (file_pid != tide_monitor_pid())
        begin_file();
    open_file(O_APPEND);
    uint64_t due = atomic_load(&shared->next_ns);
    tide_tally_read(&shared->tally, &stats);
    for (; due <= now; due = after(due, now))
        add_line(due, &stats);
    if (last)
        add_line(now, &stats);
    atomic_store(&shared->next_ns, due);
    close_file();
    tide_unlock(&lines_lock);
}

/* In the process aside: the other one has ended, and has perhaps been writing. */
static void at_end(void)
{
    if (!is_our_concern())
        return;
    tide_monitor_speak_for(file_pid);
    atomic_store(&lines_lock, 0);
    catch_up(now_ns(), true);
}

void tide_periodic_exec(bool begins)
{
    if (file_pid == tide_monitor_pid()) /* and not a child of vfork() */
        atomic_store(&shared->no_concern, begins);
}

static void look_at_clock(void)
{
    const uint64_t now = now_ns();
    if (now >= atomic_load_explicit(&shared->next_ns, memory_order_relaxed))
        catch_up(now, false);
}

static void alloc_heard(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    look_at_clock();
    if (!happening->failed)
        tide_tally_alloc(&shared->tally, happening->shard, happening->requested,
                         happening->used);
}

static void free_heard(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    look_at_clock();
    tide_tally_free(&shared->tally, happening->shard, happening->used);
}

static void report_periodic(struct tide_monitor_report *report)
{
    catch_up(now_ns(), true);
    if (strcmp(report->cause, "exit") == 0)
        atomic_store(&shared->no_concern, 1);
    if (lost == 0)
        return;
    tide_monitor_title(report, "periodic");
    if (report->json) {
        tide_lines_field(&report->lines, "lost_lines", lost);
    } else {
        tide_lines_number(&report->lines, lost);
        tide_lines_text(&report->lines, lost == 1 ? " line could not be written\n"
                                                  : " lines could not be written\n");
    }
    tide_monitor_end(report);
}

/* What it shared is its parent's; nobody waits for its own end. */
static void after_fork(void)
{
    atomic_store(&lines_lock, 0);
    if (shared == &unshared)
        return;
    memcpy(&unshared, shared, sizeof(unshared));
    shared = &unshared;
}

const struct tide_monitor tide_monitor_periodic = {
    .begin = begin,
    .alloc_heard = alloc_heard,
    .free_heard = free_heard,
    .report = report_periodic,
    .after_fork = after_fork,
};
