/* capture/record.h - the hot path: an event becomes a record.
 *
 * For: the hooks.  Order of things, which nested.c and the reader rely on:
 *   1. busy = WALKING, take the stack          (a nested event may write before us)
 *   2. busy = WRITING, make room, step the slot, write, publish
 *                                              (a nested event waits in pending_events)
 *   3. busy = IDLE, then write what waits
 * The slot is stepped after room was made, so that a lane that waits for the collector
 * holds no number that others wait for.
 *
 * What it costs is measured by `make bench`: see docs/performance.md.
 */
#ifndef TIDE_CAPTURE_RECORD_H
#define TIDE_CAPTURE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/coder.h"
#include "capture/order.h"
#include "capture/self.h"
#include "capture/stack.h"
#include "capture/stream.h"

/* --- The rare cases: record_slow.c, nested.c --- */

/* No stream yet, or the recorder is busy, quiet, early, late or off. */
void tide_slow_birth(struct tide_caller caller,
                     const struct tide_birth *birth) TIDE_COLD;
void tide_slow_death(struct tide_caller caller,
                     const struct tide_death *death) TIDE_COLD;
/* Write what signal handlers left while a record was being written. */
void tide_flush_pending(struct tide_stream *stream) TIDE_COLD;
/* Nested events that have stepped SLOT just before *NUMBER was taken will stand after it:
 * let them change numbers.  True: *NUMBER is another now, and has to be written. */
bool tide_swap_pending(struct tide_stream *stream, uint32_t slot,
                       uint16_t *number) TIDE_COLD;
/* Write a death with its stack (--free-stacks). */
void tide_write_death_stacked(struct tide_stream *stream, struct tide_caller caller,
                              struct tide_death death) TIDE_COLD;
/* Record a death, with a stack if that is wanted. */
void tide_record_death_as_wanted(struct tide_caller caller, void *pointer) TIDE_COLD;
extern bool tide_free_stacks;

/* realloc: the old block ends before the call...  False: say it afterwards with
 * tide_record_move_late(). */
bool tide_record_move_begin(struct tide_caller caller, void *old);
/* ...and lives on after it: moved to BIRTH, or (NULL) unchanged or GONE. */
void tide_record_move_end(struct tide_caller caller, struct tide_birth *birth);
void tide_record_move_back(struct tide_caller caller, void *old, bool gone);
void tide_record_move_late(struct tide_caller caller, void *old,
                           const struct tide_birth *birth);

/* A call returned NULL. */
void tide_record_failure(struct tide_caller caller, uint8_t kind,
                         uint64_t size) TIDE_COLD;

void tide_record_map(struct tide_caller caller, const struct tide_map_record *map);
/* Write it at OUT; room was made, its slot stepped when stream->numbered. */
uint8_t *tide_put_map(struct tide_stream *stream, uint8_t *out,
                      const struct tide_bare_event *event,
                      const struct tide_stack_plan *plan) TIDE_COLD;

/* Regions, labels, marks: KIND of enum tide_extra with up to three values. */
void tide_record_extra(struct tide_caller caller, uint8_t kind, const uint64_t *values,
                       uint32_t count);

/* --- Entering and leaving --- */

/* The thread's stream with busy set for the hook with frame address FRAME, or NULL: take
 * the slow path. */
static inline struct tide_stream *tide_enter(struct tide_self *self, uint8_t busy,
                                             uintptr_t frame)
{
    struct tide_stream *const stream = self->stream;
    if (TIDE_UNLIKELY(!stream) || TIDE_UNLIKELY(self->occupied))
        return NULL;
    self->busy_frame = frame;
    self->busy = busy;
    atomic_signal_fence(memory_order_seq_cst);
    return stream;
}

static inline void tide_writing(struct tide_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = TIDE_WRITING;
    atomic_signal_fence(memory_order_seq_cst);
}

static inline void tide_leave(struct tide_self *self, struct tide_stream *stream)
{
    do {
        if (TIDE_UNLIKELY(stream->pending != stream->flushed)) {
            tide_writing(self);
            tide_flush_pending(stream);
        }
        atomic_signal_fence(memory_order_seq_cst);
        self->busy = TIDE_IDLE;
        atomic_signal_fence(memory_order_seq_cst);
    } while (TIDE_UNLIKELY(stream->pending != stream->flushed));
}

/* Room for a record of NEED bytes that will step SLOT, with no nested event waiting:
 * those that came while room was made have stepped their slots before this one will. */
TIDE_HOT bool tide_ready_to_step(struct tide_stream *stream, uint32_t need,
                                 uint32_t slot)
{
    while (tide_stream_room(stream, need)) {
        if (TIDE_UNLIKELY(stream->numbered))
            tide_order_touch(slot);
        if (TIDE_LIKELY(stream->pending == stream->flushed))
            return true;
        tide_flush_pending(stream);
    }
    return false;
}

/* An event on SLOT happens now: see tide_order_step(). */
static inline bool tide_step(struct tide_stream *stream, uint32_t slot,
                             uint16_t *number)
{
    const bool written = tide_order_step(stream, slot, number);
    if (TIDE_LIKELY(stream->pending == stream->flushed))
        return written;
    return tide_swap_pending(stream, slot, number) || written;
}

/* --- Birth and death --- */

/* The same for a record with the stack just taken: *PLAN says how to write it. */
TIDE_HOT bool tide_ready_with_stack(struct tide_stream *stream, uint32_t depth,
                                    uint32_t slot, struct tide_stack_plan *plan)
{
    *plan = tide_plan_stack(stream, depth);
    if (!tide_ready_to_step(stream, tide_plan_bytes(plan), slot))
        return false;
    if (TIDE_LIKELY(stream->known >= plan->keep && stream->memory.stacks))
        return true;
    *plan = tide_plan_stack(stream, depth); /* a reset forgot the previous stack */
    return tide_ready_to_step(stream, tide_plan_bytes(plan), slot);
}

/* Room, number, record.  Call with busy == WRITING. */
TIDE_HOT void tide_write_birth(struct tide_stream *stream, struct tide_birth birth,
                               uint32_t depth)
{
    struct tide_stack_plan plan;
    if (TIDE_UNLIKELY(birth.size >= TIDE_LARGE_EVENT))
        stream->limit = 0; /* a large event is stamped */
    const uint32_t slot = tide_slot_of(birth.address);
    if (!tide_ready_with_stack(stream, depth, slot, &plan))
        return;
    if (TIDE_UNLIKELY(stream->numbered))
        birth.numbered = tide_step(stream, slot, &birth.number);
    tide_stream_publish(
        stream, tide_put_birth(stream, stream->ring + stream->pos, &birth, &plan));
}

/* Structures go by value, so that they stay in registers. */
TIDE_HOT void tide_record_birth(struct tide_caller caller, struct tide_birth birth)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = tide_enter(self, TIDE_WALKING, caller.frame);
    if (TIDE_UNLIKELY(!stream)) {
        const struct tide_birth later = birth;
        tide_slow_birth(caller, &later);
        return;
    }
    const uint32_t depth = tide_stack_take(stream, caller);
    tide_writing(self);
    tide_write_birth(stream, birth, depth);
    tide_leave(self, stream);
}

TIDE_HOT void tide_write_death(struct tide_stream *stream, struct tide_death death)
{
    const uint32_t slot = tide_slot_of(death.address);
    if (!tide_ready_to_step(stream, TIDE_RECORD_MAX, slot))
        return;
    if (TIDE_UNLIKELY(stream->numbered))
        death.numbered = tide_step(stream, slot, &death.number);
    tide_stream_publish(
        stream, tide_put_death(stream, stream->ring + stream->pos, &death, NULL));
}

TIDE_HOT void tide_record_death(struct tide_caller caller, void *pointer)
{
    struct tide_self *self = &tide_self;
    const struct tide_death death = {.address = (uintptr_t)pointer, .op = TIDE_OP_FREE};
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, caller.frame);
    if (TIDE_UNLIKELY(!stream)) {
        const struct tide_death later = death;
        tide_slow_death(caller, &later);
        return;
    }
    tide_write_death(stream, death);
    tide_leave(self, stream);
}

#endif
