/* capture/monitor_threshold.c - who asked for that much?
 *
 * Options: single=SIZE (a request of so many bytes or more), most=SIZE (and not more),
 * live=SIZE (the used bytes of the process reach it), skip=N (the first N such cases pass),
 * action=report (default: the first case after those, with its stack) or abort.
 *
 * Frames are told as module+0xoffset, which `addr2line -e module` understands.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/stack.h"

enum { TIDE_FRAMES_SAID = 64 };

static uint64_t single, most, live_limit, skip;
static bool aborts;
static _Atomic int64_t live;
static _Atomic uint64_t cases;
static _Atomic uint32_t walking;
static struct tide_stream *scratch; /* for the walk; guarded by walking */

static bool begin(struct tide_monitor_options options)
{
    size_t length;
    const char *const action = tide_monitor_option(options, "action", &length);
    most = INT64_MAX;
    if (!tide_monitor_number(options, "single", &single) ||
        !tide_monitor_number(options, "most", &most) ||
        !tide_monitor_number(options, "live", &live_limit) ||
        !tide_monitor_number(options, "skip", &skip))
        return false;
    aborts = action && length == 5 && strncmp(action, "abort", 5) == 0;
    if (action && !aborts && !(length == 6 && strncmp(action, "report", 6) == 0))
        return false;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON)
        tide_stack_init(TIDE_UNWIND_CFI, TIDE_FRAMES_SAID);
    scratch = tide_lasting_memory(sizeof(*scratch));
    return scratch && (single || live_limit);
}

static void add_frame(struct tide_lines *lines, uint64_t word, const void *own)
{
    struct dl_find_object object;
    const uintptr_t pc = (uintptr_t)(word & TIDE_WORD_VALUE_MASK);
    if (TIDE_WORD_KIND(word) != TIDE_FRAME_NATIVE)
        return;
    const bool known = _dl_find_object((void *)pc, &object) == 0;
    if (known && object.dlfo_map_start == own)
        return; /* the recorder's own */
    const char *const name =
        known && object.dlfo_link_map->l_name ? object.dlfo_link_map->l_name : "";
    tide_lines_text(lines, "    ");
    tide_lines_text(lines, *name ? name : known ? "[program]" : "[unknown]");
    tide_lines_text(lines, "+");
    tide_lines_hex(lines, pc - (known ? object.dlfo_link_map->l_addr : 0));
    tide_lines_text(lines, "\n");
}

/* As tide_stack_find_bounds(), for a process that may not be recorded. */
static void find_bounds(struct tide_stream *stream)
{
    extern void *__libc_stack_end; /* NOLINT: its name */
    const bool is_main = syscall(SYS_getpid) == syscall(SYS_gettid);
    stream->stack_low = (uintptr_t)__builtin_frame_address(0);
    stream->stack_high =
        is_main ? (uintptr_t)__libc_stack_end : (uintptr_t)pthread_self();
}

/* One at a time: who comes meanwhile is told without a stack. */
static __attribute__((noinline)) void add_stack(struct tide_lines *lines)
{
    struct dl_find_object object;
    const void *own = NULL;
    if (_dl_find_object((void *)&single, &object) == 0)
        own = object.dlfo_map_start;
    if (atomic_exchange(&walking, 1))
        return;
    find_bounds(scratch);
    scratch->cache.frames = 0;
    scratch->known = 0;
    const uint32_t depth = tide_stack_take(scratch, TIDE_CALLER);
    for (uint32_t i = 0; i < depth && i < TIDE_FRAMES_SAID; i++)
        add_frame(lines,
                  scratch->in_walk ? scratch->walk[i] : scratch->stack[depth - 1 - i],
                  own);
    atomic_store(&walking, 0);
}

static TIDE_COLD void say(const char *what, uint64_t bytes, uint64_t limit)
{
    const uint64_t number = atomic_fetch_add(&cases, 1);
    if (number != skip)
        return;
    struct tide_lines lines = {.file = 2};
    tide_lines_text(&lines, "tidemark: threshold, ");
    tide_lines_text(&lines, what);
    tide_lines_number(&lines, bytes);
    tide_lines_text(&lines, " bytes reaches ");
    tide_lines_number(&lines, limit);
    tide_lines_text(&lines, aborts ? ": aborting, at\n" : ", at\n");
    add_stack(&lines);
    tide_lines_flush(&lines);
    if (aborts)
        syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), SIGABRT);
}

static void alloc_heard(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (single && happening->requested >= single && happening->requested <= most)
        say("a request of ", happening->requested, single);
    if (happening->failed || !live_limit)
        return;
    const int64_t before = atomic_fetch_add(&live, (int64_t)happening->used);
    const int64_t after = before + (int64_t)happening->used;
    if (before < (int64_t)live_limit && after >= (int64_t)live_limit)
        say("live memory of ", (uint64_t)after, live_limit);
}

static void free_heard(void *unused, const struct tide_happening *happening)
{
    (void)unused;
    if (live_limit)
        atomic_fetch_sub(&live, (int64_t)happening->used);
}

static void report_threshold(struct tide_monitor_report *report)
{
    const uint64_t count = atomic_load(&cases);
    tide_monitor_title(report, "threshold");
    if (report->json) {
        tide_lines_field(&report->lines, "cases", count);
    } else {
        tide_lines_number(&report->lines, count);
        tide_lines_text(&report->lines, " times a limit was reached\n");
    }
    tide_monitor_end(report);
}

const struct tide_monitor tide_monitor_threshold = {
    .name = "threshold",
    .keys = " single most live skip action ",
    .begin = begin,
    .alloc_heard = alloc_heard,
    .free_heard = free_heard,
    .report = report_threshold,
};
