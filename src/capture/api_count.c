/* capture/api_count.c - what programs can ask the recorder, and what it counts for them.
 *
 * What the recorder itself does here is not the program's, so it is hushed.
 */
#include <errno.h>
#include <stdatomic.h>

#include "capture/api.h"
#include "capture/live_table.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/record.h"
#include "capture/registry.h"
#include "capture/watch.h"
#include "capture/windows.h"

static _Atomic uint32_t enrolled_lock;
static uint32_t enrolled;            /* how many times.  Guarded by enrolled_lock */
static _Atomic uint64_t long_window; /* the process-long one; 0: none */

/* --- Windows -------------------------------------------------------------------------- */

TIDE_EXPORT(tide_handle, window_start, const char *name, int scope)
{
    const int saved = errno;
    const tide_handle handle = scope == TIDE_SCOPE_PROCESS || scope == TIDE_SCOPE_THREAD
                                   ? tide_window_open(name, (enum tide_scope)scope)
                                   : TIDE_NOTHING;
    errno = saved;
    return handle;
}

TIDE_EXPORT(int, stop, tide_handle window, struct tide_stats *stats)
{
    const int saved = errno;
    const int answer = (int)tide_window_close(window, stats);
    errno = saved;
    return answer;
}

TIDE_EXPORT(int, peek, tide_handle window, struct tide_stats *stats)
{
    const int saved = errno;
    const int answer = stats ? (int)tide_window_read(window, stats) : TIDE_REFUSED;
    errno = saved;
    return answer;
}

TIDE_EXPORT(int, register, void)
{
    const int saved = errno;
    int answer = TIDE_DONE;
    tide_lock(&enrolled_lock);
    if (enrolled == 0)
        atomic_store(&long_window,
                     tide_window_open("whole process", TIDE_SCOPE_PROCESS));
    if (atomic_load(&long_window) == TIDE_NOTHING)
        answer = TIDE_FULL;
    else
        enrolled++;
    tide_unlock(&enrolled_lock);
    errno = saved;
    return answer;
}

/* To close it is to wait for callbacks, who may want to come in here: not under the lock. */
TIDE_EXPORT(int, deregister, struct tide_stats *stats)
{
    const int saved = errno;
    int answer = TIDE_UNKNOWN;
    tide_handle window = TIDE_NOTHING;
    tide_lock(&enrolled_lock);
    if (stats)
        *stats = (struct tide_stats){0};
    if (enrolled == 1)
        window = atomic_exchange(&long_window, TIDE_NOTHING);
    else if (enrolled > 1)
        answer =
            stats ? (int)tide_window_read(atomic_load(&long_window), stats) : TIDE_DONE;
    enrolled -= enrolled > 0;
    tide_unlock(&enrolled_lock);
    if (window != TIDE_NOTHING)
        answer = (int)tide_window_close(window, stats);
    errno = saved;
    return answer;
}

/* Whoever held it is not here. */
void tide_count_after_fork(void)
{
    atomic_store(&enrolled_lock, 0);
}

/* --- Monitors ------------------------------------------------------------------------- */

TIDE_EXPORT(int, monitor_add, tide_alloc_called alloc_called,
            tide_free_called free_called, void *user, tide_handle *monitor)
{
    const int saved = errno;
    const struct tide_listener listener = {
        .alloc_called = alloc_called,
        .free_called = free_called,
        .user = user,
        .kind = TIDE_FOR_CALLBACKS,
    };
    *monitor = TIDE_NOTHING;
    if (!alloc_called && !free_called)
        return TIDE_REFUSED;
    const int answer = (int)tide_registry_add(&listener, monitor);
    if (answer == TIDE_DONE)
        tide_attend(1);
    errno = saved;
    return answer;
}

TIDE_EXPORT(int, monitor_remove, tide_handle monitor)
{
    const int saved = errno;
    tide_watch_leave_jumped(TIDE_CALLER);
    bool alone = !(tide_self.hushed & TIDE_HUSH_CALLBACK);
    const int answer =
        (int)tide_registry_remove(monitor, TIDE_FOR_CALLBACKS, &alone, NULL);
    if (answer == TIDE_DONE)
        tide_attend(-1);
    errno = saved;
    return answer;
}

TIDE_EXPORT(int, hush, int hushed)
{
    struct tide_self *const self = &tide_self;
    const int before = self->hushed & TIDE_HUSH_WISHED;
    self->hushed = (uint8_t)((self->hushed & TIDE_HUSH_CALLBACK) |
                             (hushed ? TIDE_HUSH_WISHED : 0));
    return before;
}

TIDE_EXPORT(int, report, void)
{
    return tide_monitors_report("request") ? TIDE_DONE : TIDE_UNAVAILABLE;
}

/* --- Pauses --------------------------------------------------------------------------- */

static void say_pause(uint8_t kind, int scope)
{
    const int saved = errno;
    const uint64_t value = (uint64_t)scope;
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON)
        tide_record_extra(TIDE_CALLER, kind, &value, 1);
    errno = saved;
}

TIDE_EXPORT(void, pause, int scope)
{
    say_pause(TIDE_EXTRA_PAUSE, scope);
    if (scope == TIDE_SCOPE_THREAD)
        tide_self.paused++;
    else
        tide_pause_all(1);
    tide_attend(1);
}

/* One too many resumes nothing. */
TIDE_EXPORT(void, resume, int scope)
{
    const bool paused =
        scope == TIDE_SCOPE_THREAD ? tide_self.paused > 0 : tide_pause_all(-1);
    if (!paused)
        return;
    if (scope == TIDE_SCOPE_THREAD)
        tide_self.paused--;
    tide_attend(-1);
    say_pause(TIDE_EXTRA_RESUME, scope);
}

/* --- Questions ------------------------------------------------------------------------ */

TIDE_EXPORT(int, find, const void *address, struct tide_found_block *block)
{
    if (!block)
        return TIDE_REFUSED;
    *block = (struct tide_found_block){0};
    return (int)tide_live_find(address, block);
}

static uint64_t dropped_events(void)
{
    uint64_t dropped = 0;
    tide_lock(&tide_process->lock);
    for (const struct tide_stream *s = tide_process->streams; s; s = s->next)
        dropped += s->shared ? atomic_load(&s->shared->dropped) : 0;
    if (tide_process->notes_stream)
        dropped += atomic_load(&tide_process->notes_stream->shared->dropped);
    tide_unlock(&tide_process->lock);
    return dropped;
}

TIDE_EXPORT(int, counters, struct tide_recorder_counters *counters)
{
    const int saved = errno;
    const bool recording =
        atomic_load(&tide_phase) == TIDE_PHASE_ON && !atomic_load(&tide_process->off);
    *counters = (struct tide_recorder_counters){
        .recording = recording,
        .windows = tide_window_count(),
        .monitors = tide_registry_count() - tide_window_count(),
        .recorder_bytes = atomic_load(&tide_fixed_bytes),
    };
    if (recording) {
        counters->dropped_events = dropped_events();
        counters->threads = tide_process->lanes;
        counters->recorder_bytes += atomic_load(&tide_process->mapped_bytes);
    }
    counters->counting =
        tide_window_read(atomic_load(&long_window), &counters->total) == TIDE_DONE;
    errno = saved;
    return TIDE_DONE;
}
