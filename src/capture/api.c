/* capture/api.c - what programs can tell the recorder: see include/tidemark/tidemark.h.
 *
 * The header finds the table at the end of this file by its name; without the recorder it
 * is not there, and the calls do nothing.  What counts in the process itself is in
 * api_count.c.
 */
#include "capture/api.h"

#include <errno.h>
#include <stdint.h>

#include "base/raw/ticks.h"
#include "capture/cautions.h"
#include "capture/coder.h"
#include "capture/hooks.h"
#include "capture/live_table.h"
#include "capture/monitor.h"
#include "capture/process.h"
#include "capture/record.h"
#include "capture/trail.h"

static inline bool recording(void)
{
    return atomic_load_explicit(&tide_phase, memory_order_relaxed) == TIDE_PHASE_ON;
}

/* Tell the collector of NAME.  Its number; 0 while nothing is recorded. */
static TIDE_COLD uint64_t tell(const struct tide_name *name)
{
    struct tide_self *self = &tide_self;
    if (self->busy || self->ended)
        return 0;
    if (!self->stream && !tide_stream_of_thread())
        return 0;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, TIDE_CALLER.frame);
    if (!stream)
        return 0;
    uint64_t id = 0;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        id = tide_process_tell_name(name);
    tide_leave(self, stream);
    return id;
}

static inline bool is_told(const struct tide_name *name)
{
    const uint64_t told = atomic_load_explicit(
        &tide_process->names_told[(name->id - 1) / 64], memory_order_relaxed);
    return told >> (name->id - 1) % 64 & 1;
}

uint64_t tide_name_number(const struct tide_name *name)
{
    if (!name)
        return 0;
    return is_told(name) ? name->id : tell(name);
}

static void say(uint8_t kind, const uint64_t *values, uint32_t count)
{
    const int saved = errno;
    tide_record_extra(TIDE_CALLER, kind, values, count);
    errno = saved;
}

static TIDE_COLD void say_name(uint8_t kind, const struct tide_name *name)
{
    const int saved = errno;
    const uint64_t id = tide_name_number(name);
    tide_record_extra(TIDE_CALLER, kind, &id, 1);
    errno = saved;
}

/* The same, in a few stores, when NAME was told already and nothing stands in the way. */
static inline bool say_at_once(uint8_t kind, const struct tide_name *name)
{
    struct tide_self *const self = &tide_self;
    if (TIDE_UNLIKELY(!name) || TIDE_UNLIKELY(!is_told(name)))
        return false;
    struct tide_stream *const stream =
        tide_enter(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    if (TIDE_UNLIKELY(!stream))
        return false;
    if (TIDE_UNLIKELY(!tide_stream_is_clear(stream))) {
        self->busy = TIDE_IDLE;
        return false;
    }
    const uint64_t id = name->id;
    uint64_t *out = tide_stream_at(stream);
    if (stream->numbered) /* as record_slow.c does */
        out = tide_put_time(out, tide_ticks());
    tide_stream_publish(stream, tide_put_extra(out, kind, &id, 1));
    tide_leave(self, stream);
    return true;
}

/* --- Regions ------------------------------------------------------------------------ */

static inline void enter(const char *attribute, const char *text, bool loop)
{
    struct tide_trail *const trail = tide_trail_of_thread();
    if (!trail)
        return;
    const struct tide_name *const name =
        tide_trail_name(trail, attribute, text ? text : "");
    const uint8_t kind = loop ? TIDE_EXTRA_LOOP_BEGIN : TIDE_EXTRA_REGION_BEGIN;
    if (recording() && !say_at_once(kind, name))
        say_name(kind, name); /* first: a new stream says where the trail stands */
    if (TIDE_UNLIKELY(loop && tide_loops_watched))
        tide_monitor_loop_begins(name);
    tide_trail_push(trail, name, loop);
}

/* The region to end when only its attribute is known.  If none is open: a name that no
 * region has, so that the reader counts it. */
static TIDE_COLD const struct tide_name *value_of(const struct tide_trail *trail,
                                                  const char *attribute)
{
    const struct tide_name *const name = tide_trail_innermost(trail, attribute);
    return name || trail->depth > TIDE_TRAIL_DEEP ? name : tide_name_of(attribute);
}

/* The reader looks for the region itself: it counts what does not match. */
static inline void leave(const char *attribute, const char *text)
{
    struct tide_trail *const trail = tide_trail_of_thread();
    if (!trail)
        return;
    const struct tide_name *const name = text ? tide_trail_name(trail, attribute, text)
                                         : attribute ? value_of(trail, attribute)
                                                     : NULL;
    if (recording() && !say_at_once(TIDE_EXTRA_REGION_END, name))
        say_name(TIDE_EXTRA_REGION_END, name);
    tide_trail_pop(trail, name);
    if (TIDE_UNLIKELY(tide_loops_watched))
        tide_monitor_loop_ends();
}

TIDE_EXPORT(void, region_begin, const char *name)
{
    enter(NULL, name, false);
}

TIDE_EXPORT(void, region_end, const char *name)
{
    leave(NULL, name);
}

TIDE_EXPORT(void, region_begin_as, const char *attribute, const char *name)
{
    enter(attribute, name, false);
}

TIDE_EXPORT(void, region_end_as, const char *attribute, const char *name)
{
    leave(attribute, name);
}

TIDE_EXPORT(void, loop_begin, const char *name)
{
    enter(NULL, name, true);
}

TIDE_EXPORT(void, loop_end, const char *name)
{
    leave(NULL, name);
}

TIDE_EXPORT(void, iteration, int64_t number)
{
    const uint64_t value = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);
    if (tide_self.trail)
        tide_trail_iterate(tide_self.trail, number);
    if (recording())
        say(TIDE_EXTRA_ITERATION, &value, 1);
}

TIDE_EXPORT(void, iteration_end, void)
{
    if (recording())
        say(TIDE_EXTRA_ITERATION_END, NULL, 0);
    if (tide_self.trail)
        tide_trail_iterated(tide_self.trail);
}

/* What other threads do from here on gets a time of its own, later than the mark's. */
static void say_to_all(uint8_t kind, const char *name)
{
    if (!recording())
        return;
    const int saved = errno;
    say_name(kind, tide_name_of(name));
    if (atomic_load(&tide_process->multi))
        tide_stream_call_all(TIDE_ATTENTION_TICK);
    errno = saved;
}

TIDE_EXPORT(void, phase_begin, const char *name)
{
    say_to_all(TIDE_EXTRA_PHASE_BEGIN, name);
}

TIDE_EXPORT(void, phase_end, const char *name)
{
    say_to_all(TIDE_EXTRA_PHASE_END, name);
}

/* --- Labels ------------------------------------------------------------------------- */

static void say_label(const void *block, const struct tide_name *name, size_t bytes)
{
    const uint64_t values[] = {(uintptr_t)block, tide_name_number(name), bytes};
    say(TIDE_EXTRA_LABEL, values, 3);
}

TIDE_EXPORT(void, label, const void *block, const char *name, size_t bytes)
{
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_label(block, tide_name_of(name), bytes, NULL);
    if (recording())
        say_label(block, tide_name_of(name), bytes);
}

static void say_shape(const void *block, const struct tide_live_shape *shape)
{
    const uint64_t element[] = {(uintptr_t)block, 0, shape->element_bytes};
    say(TIDE_EXTRA_SHAPE, element, 3);
    for (size_t i = 0; i < shape->dimensions && i < TIDE_SHAPE_DIMENSIONS; i++) {
        const uint64_t extent[] = {(uintptr_t)block, i + 1, shape->extents[i]};
        say(TIDE_EXTRA_SHAPE, extent, 3);
    }
}

TIDE_EXPORT(void, label_shape, const void *block, const char *name,
            size_t element_bytes, const size_t *extents, size_t dimensions)
{
    const struct tide_live_shape shape = {element_bytes, extents, dimensions};
    size_t bytes = element_bytes;
    for (size_t i = 0; i < dimensions; i++)
        bytes *= extents[i];
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_label(block, tide_name_of(name), bytes, &shape);
    if (!recording())
        return;
    say_label(block, tide_name_of(name), bytes);
    say_shape(block, &shape);
}

TIDE_EXPORT(void, unlabel, const void *block)
{
    const uint64_t address = (uintptr_t)block;
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_unlabel(block);
    if (recording())
        say(TIDE_EXTRA_UNLABEL, &address, 1);
}

TIDE_EXPORT(void, pool_alloc, const char *pool, const void *block, size_t bytes,
            const char *label)
{
    if (!block)
        return;
    const char *const name = pool ? pool : "pool";
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_pool_alloc(tide_name_of(name), block, bytes, tide_name_of(label));
    if (!recording())
        return;
    const uint64_t names = tide_name_number(tide_name_of(name)) << 32 |
                           tide_name_number(tide_name_of(label));
    const uint64_t values[] = {(uintptr_t)block, bytes, names};
    say(TIDE_EXTRA_POOL_ALLOC, values, 3);
}

TIDE_EXPORT(void, pool_free, const char *pool, const void *block)
{
    if (!block)
        return;
    if (TIDE_UNLIKELY(tide_live_kept))
        tide_live_pool_free(block);
    if (!recording())
        return;
    const uint64_t values[] = {(uintptr_t)block,
                               tide_name_number(tide_name_of(pool ? pool : "pool"))};
    say(TIDE_EXTRA_POOL_FREE, values, 2);
}

/* --- Marks -------------------------------------------------------------------------- */

TIDE_EXPORT(void, event, uint64_t id)
{
    if (recording())
        say(TIDE_EXTRA_EVENT, &id, 1);
}

TIDE_EXPORT(void, snapshot, const char *name)
{
    if (recording())
        say_name(TIDE_EXTRA_SNAPSHOT, tide_name_of(name));
}

/* --- What does nothing ---------------------------------------------------------------- */

TIDE_EXPORT(void, idle, const char *call)
{
    const int saved = errno;
    tide_caution_idle(call);
    errno = saved;
}

/* --- The table ---------------------------------------------------------------------- */

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
    .set_int = tide_recorder_set_int,
    .set_double = tide_recorder_set_double,
    .set_string = tide_recorder_set_string,
    .set_address = tide_recorder_set_address,
    .begin_int = tide_recorder_begin_int,
    .begin_double = tide_recorder_begin_double,
    .begin_string = tide_recorder_begin_string,
    .end = tide_recorder_end,
    .unset = tide_recorder_unset,
    .begin_address = tide_recorder_begin_address,
    .region_begin_as = tide_recorder_region_begin_as,
    .region_end_as = tide_recorder_region_end_as,
    .told = tide_recorder_told,
    .idle = tide_recorder_idle,
    .share = tide_recorder_share,
};
