/* capture/monitor_simple.c - totals of the whole run, and of its event loop.
 *
 * The loop is the one that tide_loop_begin() names: that of the option `name`, else any
 * outermost one.  What the process does between its begin and its end counts.
 */
#include <string.h>

#include "capture/monitor.h"
#include "capture/trail.h"

static struct tide_tally whole, loop;
static char loop_name[128]; /* "": any */
static _Atomic uint32_t in_loop;
static _Atomic uint64_t loop_thread; /* the thread that runs it */
static uint32_t loop_depth;          /* of its trail, outside the loop */
static _Atomic uint64_t loops;

bool tide_loops_watched;
_Atomic bool tide_simple_paused;

static void count(struct tide_tally *tally, const struct tide_happening *happening)
{
    if (happening->failed)
        tide_tally_failed(tally, happening->shard);
    else
        tide_tally_alloc(tally, happening->shard, happening->requested,
                         happening->used);
}

static void add_memory_line(struct tide_lines *lines, const char *what, int64_t value)
{
    tide_lines_text(lines, "Memory Report: ");
    tide_lines_text(lines, what);
    tide_lines_signed(lines, value);
    tide_lines_text(lines, "\n");
}

static void report_tally(struct tide_monitor_report *report, const char *name,
                         const struct tide_tally *tally)
{
    struct tide_stats stats = {0};
    struct tide_lines *const lines = &report->lines;
    tide_tally_read(tally, &stats);
    tide_monitor_title(report, name);
    if (report->json) {
        tide_lines_field(lines, "total_requested_bytes", stats.requested_bytes);
        tide_lines_signed_field(lines, "max_used_bytes", stats.peak_bytes);
        tide_lines_signed_field(lines, "live_bytes", stats.live_bytes);
        tide_lines_field(lines, "alloc_calls", stats.alloc_calls);
        tide_lines_field(lines, "free_calls", stats.free_calls);
        tide_lines_field(lines, "failed_calls", stats.failed_calls);
        if (tally == &loop)
            tide_lines_field(lines, "loops", atomic_load(&loops));
    } else {
        add_memory_line(lines,
                        "total memory requested: ", (int64_t)stats.requested_bytes);
        add_memory_line(lines, "max memory used: ", stats.peak_bytes);
        add_memory_line(lines,
                        tally == &loop ? "used memory allocated and not freed: "
                                       : "presently used: ",
                        stats.live_bytes);
        add_memory_line(lines, "# allocations calls: ", (int64_t)stats.alloc_calls);
        add_memory_line(lines, "# deallocations calls: ", (int64_t)stats.free_calls);
    }
    tide_monitor_end(report);
}

/* --- The whole run --------------------------------------------------------------------- */

static bool begin_simple(struct tide_monitor_options options)
{
    (void)options;
    return true;
}

static void simple_alloc(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (!atomic_load_explicit(&tide_simple_paused, memory_order_relaxed))
        count(&whole, happening);
}

static void simple_free(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (!atomic_load_explicit(&tide_simple_paused, memory_order_relaxed))
        tide_tally_free(&whole, happening->shard, happening->used);
}

static void report_simple(struct tide_monitor_report *report)
{
    report_tally(report, "simple", &whole);
}

const struct tide_monitor tide_monitor_simple = {
    .begin = begin_simple,
    .alloc_heard = simple_alloc,
    .free_heard = simple_free,
    .report = report_simple,
};

/* --- The event loop -------------------------------------------------------------------- */

static bool begin_loop(struct tide_monitor_options options)
{
    size_t length;
    const char *const name = tide_monitor_option(options, "name", &length);
    if (name && length >= sizeof(loop_name))
        return false;
    if (name)
        memcpy(loop_name, name, length);
    return tide_loops_watched = true;
}

void tide_monitor_loop_begins(const struct tide_name *name)
{
    uint32_t outside = 0;
    if (loop_name[0] && (!name || strcmp(name->text, loop_name) != 0))
        return;
    if (!atomic_compare_exchange_strong(&in_loop, &outside, 1))
        return; /* inside another one, or another thread's */
    loop_depth = tide_self.trail->depth;
    atomic_store(&loop_thread, (uint64_t)(uintptr_t)&tide_self);
    atomic_fetch_add(&loops, 1);
}

/* The thread has ended a region, perhaps the loop. */
void tide_monitor_loop_ends(void)
{
    if (atomic_load(&loop_thread) != (uint64_t)(uintptr_t)&tide_self ||
        !atomic_load(&in_loop) || tide_self.trail->depth > loop_depth)
        return;
    atomic_store(&loop_thread, 0);
    atomic_store(&in_loop, 0);
}

static void loop_alloc(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (atomic_load_explicit(&in_loop, memory_order_relaxed))
        count(&loop, happening);
}

static void loop_free(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (atomic_load_explicit(&in_loop, memory_order_relaxed))
        tide_tally_free(&loop, happening->shard, happening->used);
}

/* Zeros of a loop that never came would be believed. */
static void say_no_loop(struct tide_lines *lines)
{
    tide_lines_text(lines, "There was no loop");
    if (loop_name[0]) {
        tide_lines_text(lines, " named ");
        tide_lines_name(lines, loop_name);
    }
    tide_lines_text(lines, ": tide_loop_begin() was not called");
    tide_lines_text(lines, loop_name[0] ? " with that name\n" : "\n");
}

static void report_loop(struct tide_monitor_report *report)
{
    report_tally(report, "loop", &loop);
    if (!report->json && atomic_load(&loops) == 0)
        say_no_loop(&report->lines);
}

const struct tide_monitor tide_monitor_loop = {
    .begin = begin_loop,
    .alloc_heard = loop_alloc,
    .free_heard = loop_free,
    .report = report_loop,
};
