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
void tide_slow_birth(struct tide_caller caller, struct tide_birth birth) TIDE_COLD;
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

/* Stamp the time now, not with the next record. */
void tide_record_time(void) TIDE_COLD;

/* A call returned NULL. */
void tide_record_failure(struct tide_caller caller, uint8_t kind,
                         uint64_t size) TIDE_COLD;

void tide_record_map(struct tide_caller caller, const struct tide_map_record *map);
/* Write it at OUT; room was made, its slot stepped when stream->numbered. */
uint64_t *tide_put_map(struct tide_stream *stream, uint64_t *out,
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
    self->busy_word = frame << TIDE_BUSY_FRAME_SHIFT | busy; /* quiet is 0 */
    atomic_signal_fence(memory_order_seq_cst);
    return stream;
}

static inline void tide_writing(struct tide_self *self)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = TIDE_WRITING;
    atomic_signal_fence(memory_order_seq_cst);
}

/* Nested events wait: write them, then leave.  STREAM may be NULL: see
 * tide_stream_tear(). */
void tide_leave_late(struct tide_self *self, struct tide_stream *stream) TIDE_COLD;

/* An event that comes between the two lines finds those that wait, and writes them first:
 * while there are any, limit is 0. */
static inline bool tide_left(struct tide_self *self, const struct tide_stream *stream)
{
    atomic_signal_fence(memory_order_seq_cst);
    self->busy = TIDE_IDLE;
    atomic_signal_fence(memory_order_seq_cst);
    return TIDE_LIKELY(stream->pending == stream->flushed);
}

static inline void tide_leave(struct tide_self *self, struct tide_stream *stream)
{
    if (!tide_left(self, stream))
        tide_leave_late(self, stream);
}

/* Nothing stands in the way of a row of usual size: no stamp is due, nothing nested waits. */
TIDE_HOT bool tide_stream_is_clear(const struct tide_stream *stream)
{
    return TIDE_LIKELY(stream->pos + TIDE_RECORD_MAX <= stream->limit) &&
           TIDE_LIKELY(
               !atomic_load_explicit(&stream->shared->attention, memory_order_relaxed));
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

/* The row that ends at OUT is of an event on the block at ADDRESS, which happens now: put
 * its number, if it needs one, and say so in its first word, HEAD.  Returns its end. */
TIDE_HOT uint64_t *tide_put_number(struct tide_stream *stream, uint64_t address,
                                   uint64_t *head, uint64_t *out)
{
    if (TIDE_LIKELY(!stream->numbered))
        return out;
    uint16_t number;
    const uint32_t slot = tide_slot_of(address);
    tide_order_touch(slot);
    if (!tide_step(stream, slot, &number))
        return out;
    *head |= (uint64_t)TIDE_TAG_NUMBERED << TIDE_ROW_TAG_SHIFT;
    *out = number;
    return out + 1;
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

/* Room, number, row.  Call with busy == WRITING. */
void tide_write_birth(struct tide_stream *stream, struct tide_birth birth,
                      uint32_t depth);
void tide_write_death(struct tide_stream *stream, struct tide_death death);

/* The same, of a birth whose stack was just taken, when nothing stands in its way. */
TIDE_HOT bool tide_write_birth_at_once(struct tide_stream *stream,
                                       struct tide_birth birth, uint32_t depth)
{
    const uint64_t slack = birth.usable - birth.size;
    const bool wide =
        (birth.address >> TIDE_ROW_TAG_SHIFT | birth.size / TIDE_LARGE_EVENT |
         slack >> 16 | birth.align_log2) != 0;
    uint32_t entry;
    if (TIDE_UNLIKELY(wide) || TIDE_UNLIKELY(stream->in_walk) ||
        TIDE_UNLIKELY(!tide_stream_is_clear(stream)) ||
        !tide_memory_has_stack(&stream->memory, stream->hash, &entry))
        return false;
    const unsigned tag = birth.op | TIDE_STACK_ENTRY << TIDE_TAG_MODE_SHIFT;
    uint64_t *const out = tide_stream_at(stream);
    out[0] = TIDE_ROW_HEAD(tag, birth.kind, birth.address);
    out[1] = birth.size | slack << TIDE_ROW_SLACK_SHIFT |
             (uint64_t)entry << TIDE_ROW_ENTRY_SHIFT;
    tide_stack_written(stream, depth);
    tide_stream_publish(stream, tide_put_number(stream, birth.address, out, out + 2));
    return true;
}

TIDE_HOT void tide_record_birth(struct tide_caller caller, struct tide_birth birth)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = tide_enter(self, TIDE_WALKING, caller.frame);
    if (TIDE_UNLIKELY(!stream)) {
        tide_slow_birth(caller, birth);
        return;
    }
    const uint32_t depth = tide_stack_retake(stream, caller);
    tide_writing(self);
    if (!tide_write_birth_at_once(stream, birth, depth))
        tide_write_birth(stream, birth, depth);
    tide_leave(self, stream);
}

/* What became of a death. */
enum tide_said {
    TIDE_SAID_NOT,     /* nothing has happened: it takes a slower way */
    TIDE_SAID,         /* it is recorded */
    TIDE_SAID_WAITING, /* it is; tide_leave_late() is due */
};

TIDE_HOT enum tide_said tide_record_death_at_once(uintptr_t frame, uintptr_t address)
{
    struct tide_self *self = &tide_self;
    struct tide_stream *stream = tide_enter(self, TIDE_WRITING, frame);
    if (TIDE_UNLIKELY(!stream))
        return TIDE_SAID_NOT;
    if (TIDE_UNLIKELY(!tide_stream_is_clear(stream)) ||
        TIDE_UNLIKELY(address >> TIDE_ROW_TAG_SHIFT)) {
        self->busy = TIDE_IDLE;
        return TIDE_SAID_NOT;
    }
    uint64_t *const out = tide_stream_at(stream);
    *out = TIDE_ROW_HEAD(TIDE_OP_FREE, 0, address);
    tide_stream_publish(stream, tide_put_number(stream, address, out, out + 1));
    return tide_left(self, stream) ? TIDE_SAID : TIDE_SAID_WAITING;
}

/* The same, however long it takes. */
void tide_record_death(struct tide_caller caller, void *pointer);

#endif
