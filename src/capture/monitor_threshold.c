/* capture/monitor_threshold.c - who asked for that much?
 *
 * Options: single=SIZE (a request of so many bytes or more), most=SIZE (and not more),
 * live=SIZE (the used bytes of the process reach it), skip=N (the first N such cases pass),
 * action=report (default: the first case after those, with its stack) or abort.
 *
 * Frames are told as file+0xoffset, which `addr2line -e file` understands.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/first_errors.h"
#include "capture/hooks.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/row_table.h"
#include "capture/stack.h"

enum { TIDE_FRAMES_SAID = 64 };

static uint64_t single, most, live_limit, skip;
static bool aborts, breaks; /* ...or breaks: for a debugger to stop at */
static _Atomic int64_t live;
static _Atomic uint64_t cases;
static _Atomic uint32_t walking;
static struct tide_stream *scratch; /* for the walk; guarded by walking */

static bool get_ready(void)
{
    if (!tide_rows && !tide_stack_cfi_init())
        return false;
    scratch = tide_lasting_memory(sizeof(*scratch));
    return scratch;
}

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
    aborts = action && *action == 'a';
    return get_ready();
}

bool tide_threshold_as_cms(void)
{
    bool set = tide_monitor_variable("TAAM_MIN", &single);
    set |= tide_monitor_variable("TAAM_MAX", &most);
    if (!set)
        return false;
    (void)tide_monitor_variable("TAAM_SKIP", &skip);
    most = most ? most : INT64_MAX; /* 0: there is none */
    single = single ? single : 1;
    breaks = secure_getenv("TAAM_BREAK") != NULL;
    aborts = !breaks;
    return get_ready();
}

/* Where a frame of a walk lies. */
struct frame {
    bool known;
    const char *file; /* borrowed; "": the program, or nobody knows */
    const void *start;
    uint64_t offset;
};

static struct frame frame_of(uint64_t word)
{
    struct dl_find_object object;
    const uintptr_t pc = (uintptr_t)(word & TIDE_WORD_VALUE_MASK);
    struct frame frame = {.file = "", .offset = pc};
    if (_dl_find_object((void *)pc, &object) != 0)
        return frame;
    frame.known = true;
    frame.start = object.dlfo_map_start;
    frame.offset = pc - object.dlfo_link_map->l_addr;
    if (object.dlfo_link_map->l_name)
        frame.file = object.dlfo_link_map->l_name;
    return frame;
}

static void add_frame(struct tide_lines *lines, const struct frame *frame)
{
    tide_lines_text(lines, "    ");
    tide_lines_name(lines, *frame->file   ? frame->file
                           : frame->known ? "[program]"
                                          : "[unknown]");
    tide_lines_text(lines, "+");
    tide_lines_hex(lines, frame->offset);
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

/* The frames of the walk, without the recorder's own; ADVICE: only the offsets of those of
 * the program.  How many those are. */
static uint32_t add_frames(struct tide_lines *lines, uint32_t depth, bool advice)
{
    const void *const own = frame_of((uint64_t)(uintptr_t)&single).start;
    uint32_t count = 0;
    for (uint32_t i = 0; i < depth && i < TIDE_FRAMES_SAID; i++) {
        const uint64_t word =
            scratch->in_walk ? scratch->walk[i] : scratch->stack[depth - 1 - i];
        const struct frame frame = frame_of(word);
        if (TIDE_WORD_KIND(word) != TIDE_FRAME_NATIVE ||
            (frame.known && frame.start == own))
            continue;
        const bool of_program = frame.known && !*frame.file;
        count += of_program;
        if (!advice) {
            add_frame(lines, &frame);
        } else if (of_program) {
            tide_lines_text(lines, " ");
            tide_lines_hex(lines, frame.offset);
        }
    }
    return count;
}

/* No symbols are read here: it is said who can. */
static void add_advice(struct tide_lines *lines, uint32_t depth)
{
    char path[TIDE_MONITOR_PATH];
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    tide_lines_text(lines, "  for names: addr2line -Cfpe ");
    tide_lines_name(lines, length > 0 ? path : "[program]");
    add_frames(lines, depth, true);
    tide_lines_text(lines, "\n");
}

/* One at a time: who comes meanwhile is told without a stack. */
static __attribute__((noinline)) void add_stack(struct tide_lines *lines)
{
    if (atomic_exchange(&walking, 1))
        return;
    find_bounds(scratch);
    scratch->cache.frames = 0;
    scratch->known = 0;
    scratch->in_walk = true;
    bool cut; /* whatever engine and depth the trace has */
    const uint32_t depth = tide_stack_cfi(scratch, TIDE_CALLER, TIDE_FRAMES_SAID, &cut);
    if (add_frames(lines, depth, false) > 0)
        add_advice(lines, depth);
    else
        tide_lines_text(lines, "  for names: addr2line -Cfpe FILE 0xOFFSET\n");
    atomic_store(&walking, 0);
}

/* As in CMS's preload: a place for a debugger to stop at, for each case after `skip`. */
TIDE_HOOK void break_threshold_abort_alloc_monitor(void);
TIDE_HOOK void break_threshold_abort_alloc_monitor(void)
{
    __asm__ volatile("" ::: "memory");
}

static TIDE_COLD void say(const char *what, uint64_t bytes, uint64_t limit)
{
    const uint64_t number = atomic_fetch_add(&cases, 1);
    if (breaks && number >= skip)
        break_threshold_abort_alloc_monitor();
    if (number != skip)
        return;
    struct tide_lines lines = {.file = tide_first_errors()};
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
        tide_lines_text(&report->lines, "a limit was reached ");
        tide_lines_number(&report->lines, count);
        tide_lines_text(&report->lines, count == 1 ? " time\n" : " times\n");
    }
    tide_monitor_end(report);
}

const struct tide_monitor tide_monitor_threshold = {
    .begin = begin,
    .alloc_heard = alloc_heard,
    .free_heard = free_heard,
    .report = report_threshold,
};
