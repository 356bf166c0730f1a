/* capture/windows.c - counting windows.
 *
 * A window is a tally that listens.  What it counted also goes into the trace, if there is
 * one, as a note.
 */
#include "capture/windows.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/raw/ticks.h"
#include "base/raw/varint.h"
#include "capture/api.h"
#include "capture/lifecycle.h"
#include "capture/process.h"
#include "capture/record.h"
#include "capture/registry.h"
#include "capture/watch.h"

struct window {
    struct tide_tally tally;
    struct timespec begun;
    uint64_t begun_ticks;
    uint32_t tid;
    enum tide_scope scope;
    const struct tide_name *name;
};

static _Atomic uint32_t open_windows;

static void alloc_heard(void *user, const struct tide_happening *happening)
{
    struct window *const window = user;
    if (happening->failed)
        tide_tally_failed(&window->tally, happening->shard);
    else
        tide_tally_alloc(&window->tally, happening->shard, happening->requested,
                         happening->used);
}

static void free_heard(void *user, const struct tide_happening *happening)
{
    struct window *const window = user;
    tide_tally_free(&window->tally, happening->shard, happening->used);
}

/* Where the window begins or ends, among what the threads do. */
static void mark(uint8_t kind, const struct window *window)
{
    if (atomic_load_explicit(&tide_phase, memory_order_relaxed) != TIDE_PHASE_ON)
        return;
    const uint64_t values[] = {tide_name_number(window->name), window->scope};
    tide_record_extra(TIDE_CALLER, kind, values, 2);
}

tide_handle tide_window_open(const char *name, enum tide_scope scope)
{
    struct window *const window = tide_lasting_memory(sizeof(*window));
    tide_handle handle;
    if (!window)
        return TIDE_NOTHING;
    window->name = tide_name_of(name);
    window->scope = scope;
    window->tid = tide_self.stream ? tide_self.stream->tid : 0;
    window->begun_ticks = tide_ticks();
    clock_gettime(CLOCK_MONOTONIC, &window->begun);
    mark(TIDE_EXTRA_WINDOW_BEGIN, window);
    const struct tide_listener listener = {
        .alloc_heard = alloc_heard,
        .free_heard = free_heard,
        .user = window,
        .thread = scope == TIDE_SCOPE_THREAD ? tide_thread_number() : 0,
        .kind = TIDE_FOR_WINDOW,
    };
    if (tide_registry_add(&listener, &handle) != TIDE_DONE) {
        tide_lasting_release(window, sizeof(*window));
        return TIDE_NOTHING;
    }
    atomic_fetch_add(&open_windows, 1);
    tide_attend(1);
    return handle;
}

static void read_window(const struct window *window, struct tide_stats *stats)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    tide_tally_read(&window->tally, stats);
    stats->seconds = (double)(now.tv_sec - window->begun.tv_sec) +
                     1e-9 * (double)(now.tv_nsec - window->begun.tv_nsec);
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Into the trace.  Call with busy set. */
static void note_window(const struct window *window, const struct tide_stats *stats)
{
    const uint64_t fields[] = {
        tide_process_tell_name(window->name),
        window->scope,
        window->tid,
        window->begun_ticks,
        tide_ticks(),
        stats->requested_bytes,
        stats->used_bytes,
        stats->freed_bytes,
        stats->alloc_calls,
        stats->free_calls,
        stats->failed_calls,
        tide_zigzag(stats->peak_bytes),
        stats->smallest_bytes,
        stats->largest_bytes,
        bits_of(stats->stddev_bytes),
    };
    uint8_t payload[sizeof(fields) / sizeof(*fields) * TIDE_VARINT_MAX];
    uint8_t *out = payload;
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        out = tide_put_varint(out, fields[i]);
    tide_process_note(TIDE_NOTE_WINDOW, payload, (uint32_t)(out - payload));
}

static void tell_trace(const struct window *window, const struct tide_stats *stats)
{
    struct tide_self *const self = &tide_self;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || self->ended)
        return;
    if (!self->stream && !tide_stream_of_thread())
        return;
    struct tide_stream *const stream =
        tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (!stream)
        return;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        note_window(window, stats);
    tide_leave(self, stream);
}

/* Inside a callback nobody can be waited for, so the window's memory cannot be given
 * back: a page is lost. */
enum tide_answer tide_window_close(tide_handle handle, struct tide_stats *stats)
{
    struct tide_stats own;
    struct tide_stats *const out = stats ? stats : &own;
    void *user;
    tide_watch_leave_jumped(TIDE_CALLER);
    bool alone = !(tide_self.hushed & TIDE_HUSH_CALLBACK);
    *out = (struct tide_stats){0};
    const enum tide_answer answer =
        tide_registry_remove(handle, TIDE_FOR_WINDOW, &alone, &user);
    if (answer != TIDE_DONE)
        return answer;
    tide_attend(-1);
    atomic_fetch_sub(&open_windows, 1);
    mark(TIDE_EXTRA_WINDOW_END, user);
    read_window(user, out);
    tell_trace(user, out);
    if (alone)
        tide_lasting_release(user, sizeof(struct window));
    return TIDE_DONE;
}

enum tide_answer tide_window_read(tide_handle handle, struct tide_stats *stats)
{
    *stats = (struct tide_stats){0};
    const struct tide_reader reader = tide_registry_enter(0);
    const struct window *const window = tide_registry_find(handle, TIDE_FOR_WINDOW);
    if (window)
        read_window(window, stats);
    tide_registry_leave(&reader);
    return window ? TIDE_DONE : TIDE_UNKNOWN;
}

uint32_t tide_window_count(void)
{
    return atomic_load(&open_windows);
}
