/* capture/api.c - what programs can tell the recorder: see include/tidemark/tidemark.h.
 *
 * The header looks these up by name at run time; without the recorder they are not there
 * and the calls do nothing.
 */
#include <errno.h>
#include <stdint.h>
#include <tidemark/tidemark.h>

#include "capture/hooks.h"
#include "capture/process.h"
#include "capture/record.h"

/* The number of NAME; 0 while nothing is recorded. */
static uint64_t name_id(const char *name)
{
    struct tide_self *self = &tide_self;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || self->busy || self->ended || !name)
        return 0;
    if (!self->stream && !tide_stream_of_thread())
        return 0;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (!stream)
        return 0;
    uint64_t id = 0;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        id = tide_process_name(name);
    tide_leave(self, stream);
    return id;
}

static void say(uint8_t kind, const uint64_t *values, uint32_t count)
{
    const int saved = errno;
    if (atomic_load(&tide_phase) == TIDE_PHASE_ON)
        tide_record_extra(TIDE_CALLER, kind, values, count);
    errno = saved;
}

/* The exported functions are declared by the table that holds them. */
#define TIDE_EXPORT(type, name, ...)                  \
    TIDE_HOOK type tide_recorder_##name(__VA_ARGS__); \
    TIDE_HOOK type tide_recorder_##name(__VA_ARGS__)

TIDE_EXPORT(void, region_begin, const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_REGION_BEGIN, &id, 1);
}

TIDE_EXPORT(void, region_end, const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_REGION_END, &id, 1);
}

TIDE_EXPORT(void, label, const void *block, const char *name, size_t bytes)
{
    const uint64_t values[] = {(uintptr_t)block, name_id(name), bytes};
    say(TIDE_EXTRA_LABEL, values, 3);
}

TIDE_EXPORT(void, event, uint64_t id)
{
    say(TIDE_EXTRA_EVENT, &id, 1);
}

TIDE_EXPORT(void, snapshot, const char *name)
{
    const uint64_t id = name_id(name);
    say(TIDE_EXTRA_SNAPSHOT, &id, 1);
}

TIDE_EXPORT(void, loop_begin, const char *name)
{
    tide_recorder_region_begin(name);
}

TIDE_EXPORT(void, loop_end, const char *name)
{
    tide_recorder_region_end(name);
}

TIDE_EXPORT(void, iteration, int64_t number)
{
    (void)number;
}

TIDE_EXPORT(void, iteration_end, void)
{
}

TIDE_EXPORT(void, phase_begin, const char *name)
{
    (void)name;
}

TIDE_EXPORT(void, phase_end, const char *name)
{
    (void)name;
}

TIDE_EXPORT(void, label_shape, const void *block, const char *name,
            size_t element_bytes, const size_t *extents, size_t dimensions)
{
    size_t bytes = element_bytes;
    for (size_t i = 0; i < dimensions; i++)
        bytes *= extents[i];
    tide_recorder_label(block, name, bytes);
}

TIDE_EXPORT(void, unlabel, const void *block)
{
    (void)block;
}

TIDE_EXPORT(void, pool_alloc, const char *pool, const void *block, size_t bytes,
            const char *label)
{
    (void)pool, (void)block, (void)bytes, (void)label;
}

TIDE_EXPORT(void, pool_free, const char *pool, const void *block)
{
    (void)pool, (void)block;
}

TIDE_EXPORT(void, pause, int scope)
{
    (void)scope;
}

TIDE_EXPORT(void, resume, int scope)
{
    (void)scope;
}

TIDE_EXPORT(tide_handle, window_start, const char *name, int scope)
{
    (void)name, (void)scope;
    return TIDE_NOTHING;
}

TIDE_EXPORT(int, stop, tide_handle window, struct tide_stats *stats)
{
    (void)window;
    if (stats)
        *stats = (struct tide_stats){0};
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, peek, tide_handle window, struct tide_stats *stats)
{
    return tide_recorder_stop(window, stats);
}

TIDE_EXPORT(int, register, void)
{
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, deregister, struct tide_stats *stats)
{
    return tide_recorder_stop(TIDE_NOTHING, stats);
}

TIDE_EXPORT(int, monitor_add, tide_alloc_called alloc_called,
            tide_free_called free_called, void *user, tide_handle *monitor)
{
    (void)alloc_called, (void)free_called, (void)user;
    *monitor = TIDE_NOTHING;
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, monitor_remove, tide_handle monitor)
{
    (void)monitor;
    return TIDE_UNKNOWN;
}

TIDE_EXPORT(int, hush, int hushed)
{
    (void)hushed;
    return 0;
}

TIDE_EXPORT(int, report, void)
{
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, find, const void *address, struct tide_found_block *block)
{
    (void)address;
    *block = (struct tide_found_block){0};
    return TIDE_UNAVAILABLE;
}

TIDE_EXPORT(int, counters, struct tide_counters *counters)
{
    *counters =
        (struct tide_counters){.recording = atomic_load(&tide_phase) == TIDE_PHASE_ON};
    return TIDE_DONE;
}

extern const struct tide_recorder_api tide_recorder_api
    __attribute__((visibility("default")));
const struct tide_recorder_api tide_recorder_api = {
    .bytes = sizeof(tide_recorder_api),
    .region_begin = tide_recorder_region_begin,
    .region_end = tide_recorder_region_end,
    .loop_begin = tide_recorder_loop_begin,
    .loop_end = tide_recorder_loop_end,
    .iteration = tide_recorder_iteration,
    .iteration_end = tide_recorder_iteration_end,
    .phase_begin = tide_recorder_phase_begin,
    .phase_end = tide_recorder_phase_end,
    .label = tide_recorder_label,
    .label_shape = tide_recorder_label_shape,
    .unlabel = tide_recorder_unlabel,
    .pool_alloc = tide_recorder_pool_alloc,
    .pool_free = tide_recorder_pool_free,
    .event = tide_recorder_event,
    .snapshot = tide_recorder_snapshot,
    .pause = tide_recorder_pause,
    .resume = tide_recorder_resume,
    .window_start = tide_recorder_window_start,
    .stop = tide_recorder_stop,
    .peek = tide_recorder_peek,
    .enroll = tide_recorder_register,
    .deregister = tide_recorder_deregister,
    .monitor_add = tide_recorder_monitor_add,
    .monitor_remove = tide_recorder_monitor_remove,
    .hush = tide_recorder_hush,
    .report = tide_recorder_report,
    .find = tide_recorder_find,
    .counters = tide_recorder_counters,
};
