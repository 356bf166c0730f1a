/* capture/record_slow.c - events off the hot path: first ones, moves, maps, marks. */
#include <errno.h>

#include "capture/lifecycle.h"
#include "capture/nested.h"
#include "capture/process.h"
#include "capture/record.h"

_Thread_local struct tide_self tide_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
bool tide_free_stacks;

void tide_slow_birth(struct tide_caller caller, struct tide_birth birth)
{
    const struct tide_bare_event bare = {.op = TIDE_OP_ALLOC,
                                         .kind = birth.kind,
                                         .address = birth.address,
                                         .size = birth.size,
                                         .usable = birth.usable,
                                         .pc = caller.pc};
    if (tide_bare(caller, &bare))
        return;
    tide_record_birth(caller, birth); /* the thread has a stream now */
}

void tide_slow_death(struct tide_caller caller, const struct tide_death *death)
{
    const struct tide_bare_event bare = {
        .op = TIDE_OP_FREE, .address = death->address, .pc = caller.pc};
    if (!tide_bare(caller, &bare))
        tide_record_death_as_wanted(caller, (void *)(uintptr_t)death->address);
}

void tide_leave_late(struct tide_self *self, struct tide_stream *stream)
{
    if (!stream) /* torn: in a child that a handler has forked, what waits is not ours */
        return;
    do {
        tide_writing(self);
        tide_flush_pending(stream);
    } while (!tide_left(self, stream));
}

/* A large event was stamped and written.  The thread may rest now for long: another stamp says
 * when that began, and the next event will say when it ended. */
static TIDE_COLD void stamp_after(struct tide_stream *stream)
{
    stream->limit = 0;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        stream->limit = 0;
}

void tide_write_birth(struct tide_stream *stream, struct tide_birth birth,
                      uint32_t depth)
{
    struct tide_stack_plan plan;
    const bool large = TIDE_UNLIKELY(birth.size >= TIDE_LARGE_EVENT);
    if (large)
        stream->limit = 0;
    const uint32_t slot = tide_slot_of(birth.address);
    if (!tide_ready_with_stack(stream, depth, slot, &plan))
        return;
    if (stream->numbered)
        birth.numbered = tide_step(stream, slot, &birth.number);
    tide_stream_publish(stream,
                        tide_put_birth(stream, tide_stream_at(stream), &birth, &plan));
    if (large)
        stamp_after(stream);
}

void tide_write_death(struct tide_stream *stream, struct tide_death death)
{
    const uint32_t slot = tide_slot_of(death.address);
    if (!tide_ready_to_step(stream, TIDE_RECORD_MAX, slot))
        return;
    if (stream->numbered)
        death.numbered = tide_step(stream, slot, &death.number);
    tide_stream_publish(stream,
                        tide_put_death(stream, tide_stream_at(stream), &death, NULL));
}

void tide_record_death(struct tide_caller caller, void *pointer)
{
    struct tide_self *self = &tide_self;
    const struct tide_death death = {.address = (uintptr_t)pointer, .op = TIDE_OP_FREE};
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (TIDE_UNLIKELY(!stream)) {
        tide_slow_death(caller, &death);
        return;
    }
    tide_write_death(stream, death);
    tide_leave(self, stream);
}

void tide_write_death_stacked(struct tide_stream *stream, struct tide_caller caller,
                              struct tide_death death)
{
    struct tide_stack_plan plan;
    const uint32_t depth = tide_stack_take(stream, caller);
    const uint32_t slot = tide_slot_of(death.address);
    if (!tide_ready_with_stack(stream, depth, slot, &plan))
        return;
    if (stream->numbered)
        death.numbered = tide_step(stream, slot, &death.number);
    tide_stream_publish(stream,
                        tide_put_death(stream, tide_stream_at(stream), &death, &plan));
}

void tide_record_death_as_wanted(struct tide_caller caller, void *pointer)
{
    if (!tide_free_stacks) {
        tide_record_death(caller, pointer);
        return;
    }
    struct tide_self *self = &tide_self;
    const struct tide_death death = {.address = (uintptr_t)pointer, .op = TIDE_OP_FREE};
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (!stream) {
        tide_slow_death(caller, &death);
        return;
    }
    tide_write_death_stacked(stream, caller, death);
    tide_leave(self, stream);
}

/* The thread's stream with busy set, made if need be; NULL: not recorded now. */
static struct tide_stream *enter_slowly(struct tide_self *self,
                                        struct tide_caller caller)
{
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (stream || self->quiet || self->ended ||
        (self->busy && !tide_unstick(self, caller)) || !tide_stream_of_thread())
        return stream;
    return tide_enter(self, TIDE_WRITING, caller.frame);
}

/* --- realloc ---------------------------------------------------------------------- */

bool tide_record_move_begin(struct tide_caller caller, void *old)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = enter_slowly(self, caller);
    if (!stream)
        return false;
    struct tide_death death = {.address = (uintptr_t)old, .op = TIDE_OP_MOVE_BEGIN};
    if (tide_free_stacks)
        tide_write_death_stacked(stream, caller, death);
    else
        tide_write_death(stream, death);
    tide_leave(self, stream);
    return true;
}

void tide_record_move_end(struct tide_caller caller, struct tide_birth *birth)
{
    birth->op = TIDE_OP_MOVE_END;
    tide_record_birth(caller, *birth);
}

void tide_record_move_back(struct tide_caller caller, void *old, bool gone)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (!stream)
        return;
    const uint32_t slot = tide_slot_of((uintptr_t)old);
    if (tide_ready_to_step(stream, TIDE_RECORD_MAX, slot)) {
        uint16_t number = 0;
        const bool numbered =
            stream->numbered && !gone && tide_step(stream, slot, &number);
        uint64_t *out = tide_stream_at(stream);
        *out++ = TIDE_ROW_HEAD(TIDE_OP_MOVE_BACK | (numbered ? TIDE_TAG_NUMBERED : 0) |
                                   (gone ? TIDE_TAG_GONE : 0),
                               0, 0);
        if (numbered)
            *out++ = number;
        tide_stream_publish(stream, out);
    }
    tide_leave(self, stream);
}

void tide_record_move_late(struct tide_caller caller, void *old,
                           const struct tide_birth *birth)
{
    const struct tide_death death = {.address = (uintptr_t)old, .op = TIDE_OP_FREE};
    tide_slow_death(caller, &death);
    if (birth)
        tide_slow_birth(caller, *birth);
}

/* --- Maps, marks ------------------------------------------------------------------ */

uint64_t *tide_put_map(struct tide_stream *stream, uint64_t *out,
                       const struct tide_bare_event *event,
                       const struct tide_stack_plan *plan)
{
    const struct tide_map_record *map = &event->map;
    const uint32_t tag = TIDE_OP_MAP | (event->numbered ? TIDE_TAG_NUMBERED : 0) |
                         (unsigned)plan->mode << TIDE_TAG_MODE_SHIFT;
    *out++ = TIDE_ROW_HEAD(tag, map->call, plan->entry);
    *out++ = map->address;
    *out++ = map->length;
    *out++ = map->argument1;
    *out++ = map->argument2;
    if (event->numbered)
        *out++ = event->number;
    return tide_put_stack(stream, out, plan);
}

static void write_map(struct tide_stream *stream, struct tide_caller caller,
                      struct tide_bare_event *event)
{
    struct tide_stack_plan plan;
    const uint32_t depth = tide_stack_take(stream, caller);
    stream->limit = 0; /* a map is rare and large: stamp it */
    if (!tide_ready_with_stack(stream, depth, TIDE_SLOT_MAP, &plan))
        return;
    event->numbered =
        stream->numbered && tide_step(stream, TIDE_SLOT_MAP, &event->number);
    tide_stream_publish(stream,
                        tide_put_map(stream, tide_stream_at(stream), event, &plan));
    stamp_after(stream);
}

void tide_record_map(struct tide_caller caller, const struct tide_map_record *map)
{
    const int saved = errno;
    struct tide_self *self = &tide_self;
    const uint8_t quiet = self->quiet; /* see maps_count() in hooks_map.c */
    self->quiet = 0;
    struct tide_bare_event event = {.op = TIDE_OP_MAP, .pc = caller.pc, .map = *map};
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (!stream && !tide_bare(caller, &event))
        stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (stream) {
        write_map(stream, caller, &event);
        tide_leave(self, stream);
    }
    self->quiet = quiet;
    errno = saved;
}

/* Stamped: what was before it has an earlier time, also in other lanes. */
static bool is_stamped(const struct tide_stream *stream, uint8_t kind)
{
    switch (kind) {
    case TIDE_EXTRA_EVENT:
    case TIDE_EXTRA_SNAPSHOT:
    case TIDE_EXTRA_PHASE_BEGIN:
    case TIDE_EXTRA_PHASE_END:
    case TIDE_EXTRA_PAUSE:
    case TIDE_EXTRA_RESUME:
        return true;
    case TIDE_EXTRA_LABEL: /* the block may be another thread's */
    case TIDE_EXTRA_UNLABEL:
    case TIDE_EXTRA_POOL_ALLOC:
    case TIDE_EXTRA_POOL_FREE:
    case TIDE_EXTRA_ATTRIBUTE:    /* an address may be, too */
    case TIDE_EXTRA_REGION_BEGIN: /* it is told what the heap holds: all threads' */
    case TIDE_EXTRA_REGION_END:
    case TIDE_EXTRA_LOOP_BEGIN:
    case TIDE_EXTRA_ITERATION:
    case TIDE_EXTRA_ITERATION_END:
        return stream->numbered;
    default:
        return false;
    }
}

void tide_record_extra(struct tide_caller caller, uint8_t kind, const uint64_t *values,
                       uint32_t count)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = enter_slowly(self, caller);
    if (!stream) {
        /* A handler's mark, or that of a thread without a lane: no place to keep it. */
        if (self->busy || (!self->quiet && atomic_load(&tide_phase) == TIDE_PHASE_ON))
            tide_process_drop(self->busy ? TIDE_DROP_NESTED : TIDE_DROP_MEMORY);
        return;
    }
    tide_flush_pending(stream); /* the block of a label may be among them */
    if (is_stamped(stream, kind))
        stream->limit = 0;
    if (tide_stream_room(stream, TIDE_RECORD_MAX)) /* steps nothing */
        tide_stream_publish(
            stream, tide_put_extra(tide_stream_at(stream), kind, values, count));
    tide_leave(self, stream);
}

void tide_record_time(void)
{
    struct tide_self *self = &tide_self;
    if (self->busy || self->quiet || !self->stream || atomic_load(&tide_process->off))
        return;
    const int saved = errno;
    struct tide_stream *stream =
        tide_enter(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    if (stream) {
        stream->limit = 0;
        tide_stream_room(stream, TIDE_RECORD_MAX);
        tide_leave(self, stream);
    }
    errno = saved;
}

void tide_record_failure(struct tide_caller caller, uint8_t kind, uint64_t size)
{
    const int saved = errno;
    const uint64_t values[] = {kind, size};
    tide_record_extra(caller, TIDE_EXTRA_FAILED, values, 2);
    errno = saved;
}
