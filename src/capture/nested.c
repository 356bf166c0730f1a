/* capture/nested.c - events that cannot be recorded the usual way.
 *
 * Nested events.  A signal handler may allocate while its thread is inside the recorder.
 * While the stack is being WALKED the stream is untouched, so the nested event is written
 * at once, with its innermost frame only.  While a record is being WRITTEN the nested
 * event steps its slot, so that it has its place in the order, and waits with its number
 * in pending_events until the record is out.  Both keep the lane's records in the order
 * in which their slots were stepped, which is what the reader relies on.
 *
 * A handler may also leave by longjmp and never come back to the hook it interrupted;
 * then busy stays set.  So an event that finds it set looks for the hook's frame among
 * its callers, through the signal's frame: if it is not there it is dead, and the stream
 * starts over with a reset.
 *
 * Quiet.  While a hook is in the real calloc or realloc, calls from inside it do not count.
 * A handler's do, and a jump out of it ends the quiet: the same walk tells them apart.
 *
 * Late events.  After a thread's last destructor its stream may serve another thread;
 * what it still frees goes to one stream that such threads share under a lock.
 */
#include "capture/nested.h"

#include <errno.h>
#include <unistd.h>

#include "capture/lifecycle.h"
#include "capture/process.h"
#include "capture/record.h"

enum { TIDE_EARLY_MAX = 2048 };

static struct tide_bare_event early[TIDE_EARLY_MAX];
static _Atomic uint32_t early_count;

static uint32_t slot_of_bare(const struct tide_bare_event *event)
{
    return event->op == TIDE_OP_MAP ? TIDE_SLOT_MAP : tide_slot_of(event->address);
}

static void step_bare(struct tide_stream *stream, struct tide_bare_event *event)
{
    if (!stream->numbered)
        return;
    tide_order_step(stream, slot_of_bare(event), &event->number);
    event->numbered = true;
}

/* Write EVENT with its innermost frame only.  Room has been made. */
static void put_bare(struct tide_stream *stream, const struct tide_bare_event *event)
{
    uint64_t *out = tide_stream_at(stream);
    const struct tide_stack_plan plan = tide_plan_leaf(event->pc);
    if (event->op == TIDE_OP_MAP) {
        tide_stream_publish(stream, tide_put_map(stream, out, event, &plan));
        return;
    }
    if (event->op == TIDE_OP_FREE) {
        const struct tide_death death = {.address = event->address,
                                         .op = TIDE_OP_FREE,
                                         .numbered = event->numbered,
                                         .number = event->number};
        tide_stream_publish(stream, tide_put_death(stream, out, &death, NULL));
        return;
    }
    const struct tide_birth birth = {.address = event->address,
                                     .size = event->size,
                                     .usable = event->usable,
                                     .op = TIDE_OP_ALLOC,
                                     .kind = event->kind,
                                     .numbered = event->numbered,
                                     .number = event->number};
    tide_stream_publish(stream, tide_put_birth(stream, out, &birth, &plan));
}

/* What waits has stepped its slots before EVENT will, and goes first. */
static void write_bare(struct tide_stream *stream, const struct tide_bare_event *event)
{
    struct tide_bare_event now = *event;
    const uint32_t slot = slot_of_bare(event);
    if (!tide_ready_to_step(stream, TIDE_RECORD_MAX, slot))
        return;
    now.numbered = stream->numbered;
    if (now.numbered)
        (void)tide_step(stream, slot, &now.number);
    put_bare(stream, &now);
}

/* Handlers may interrupt each other, but not here: two would take the same place.  A
 * stream that is only getting its lane keeps them too; it has no numbers yet. */
static void keep_pending(struct tide_stream *stream,
                         const struct tide_bare_event *event)
{
    tide_shield();
    if (stream->pending - stream->flushed < TIDE_PENDING_MAX) {
        struct tide_bare_event *kept =
            &stream->pending_events[stream->pending % TIDE_PENDING_MAX];
        *kept = *event;
        step_bare(stream, kept);
        atomic_signal_fence(memory_order_seq_cst);
        stream->pending++;
        stream->limit = 0; /* whoever writes next looks at what waits first */
    } else if (stream->shared) {
        tide_stream_lose(stream, TIDE_DROP_NESTED, 1);
    } else {
        tide_process_drop(TIDE_DROP_NESTED);
    }
    tide_unshield();
}

static void write_pending(struct tide_stream *stream, struct tide_bare_event *event)
{
    if (!tide_stream_room(stream, TIDE_RECORD_MAX))
        return;
    if (!event->numbered) /* numbers may have begun since it was kept */
        step_bare(stream, event);
    put_bare(stream, event);
}

/* More may arrive in between; they go to the end of the list.  But a handler that jumps
 * away must not come between a record and its place in the list: it would be written
 * twice. */
void tide_flush_pending(struct tide_stream *stream)
{
    while (stream->flushed != stream->pending) {
        tide_shield();
        write_pending(stream,
                      &stream->pending_events[stream->flushed % TIDE_PENDING_MAX]);
        stream->flushed++;
        tide_unshield();
    }
}

/* The handler came between the last look at `pending` and the step.  It has not touched
 * the block of the call that it interrupted, so either may be said to come first. */
bool tide_swap_pending(struct tide_stream *stream, uint32_t slot, uint16_t *number)
{
    bool swapped = false;
    for (uint32_t i = stream->pending; i-- != stream->flushed;) {
        struct tide_bare_event *event = &stream->pending_events[i % TIDE_PENDING_MAX];
        const bool earlier = (uint16_t)(*number - event->number) < 1u << 15;
        if (!event->numbered || slot_of_bare(event) != slot || !earlier)
            continue;
        const uint16_t later = *number;
        *number = event->number;
        event->number = later;
        swapped = true;
    }
    return swapped;
}

/* --- Which of the cases is it? ------------------------------------------------------ */

bool tide_unstick(struct tide_self *self, struct tide_caller caller)
{
    struct tide_stream *stream = self->stream ? self->stream : self->torn;
    if (!stream ||
        tide_stack_find(stream, caller, tide_busy_frame(self)) != TIDE_FOUND_NOT)
        return false;
    stream->limit = 0;
    stream->reset_next = true;
    stream->cache.frames = 0;
    self->quiet = 0;
    self->quiet_frame = 0;
    self->busy = TIDE_IDLE;
    return true;
}

bool tide_still_quiet(struct tide_self *self, struct tide_caller caller)
{
    static struct tide_stream nobody; /* no bounds known: any stack will do */
    if (self->quiet_frame == 0)
        return true;
    const enum tide_found found = tide_stack_find(self->stream ? self->stream : &nobody,
                                                  caller, self->quiet_frame);
    if (found == TIDE_FOUND_NOT) {
        self->quiet = 0;
        self->quiet_frame = 0;
    }
    if (found == TIDE_FOUND_INTERRUPTED && !self->stream) {
        if (atomic_load(&tide_phase) == TIDE_PHASE_ON)
            tide_process_drop(TIDE_DROP_NESTED);
        return true;
    }
    return found == TIDE_FOUND || found == TIDE_FOUND_UNSURE;
}

/* A handler has interrupted the real allocator, not the recorder. */
static void amid_quiet(struct tide_self *self, struct tide_caller caller,
                       const struct tide_bare_event *event)
{
    tide_set_busy(self, TIDE_WRITING, caller.frame);
    write_bare(self->stream, event);
    tide_leave(self, self->stream);
}

static void nested(struct tide_self *self, const struct tide_bare_event *event)
{
    struct tide_stream *stream = self->stream;
    if (!stream) { /* interrupted while getting its first stream */
        tide_process_drop(TIDE_DROP_NESTED);
        return;
    }
    if (self->busy == TIDE_WRITING) {
        keep_pending(stream, event);
        return;
    }
    self->busy = TIDE_WRITING;
    write_bare(stream, event);
    self->busy = TIDE_WALKING;
}

static void late(const struct tide_bare_event *event)
{
    struct tide_self *self = &tide_self;
    self->busy = TIDE_WRITING;
    struct tide_stream *stream = tide_stream_lock_late();
    if (stream) {
        write_bare(stream, event);
        tide_stream_unlock_late();
    } else {
        tide_process_drop(TIDE_DROP_MEMORY);
    }
    self->busy = TIDE_IDLE;
}

static bool bare(struct tide_caller caller, const struct tide_bare_event *event)
{
    struct tide_self *self = &tide_self;
    const uint32_t phase = atomic_load(&tide_phase);
    if (self->busy && tide_unstick(self, caller) && self->stream)
        return false;
    if (phase == TIDE_PHASE_INERT || (self->quiet && tide_still_quiet(self, caller)))
        return true;
    if (phase == TIDE_PHASE_EARLY) {
        if (tide_early_keep(event) && environ) /* then libc has been initialised */
            tide_recording_start();
        return true;
    }
    if (self->busy) {
        nested(self, event);
        return true;
    }
    if (self->quiet) {
        amid_quiet(self, caller, event);
        return true;
    }
    if (!self->ended && tide_stream_of_thread())
        return false;
    if (self->ended)
        late(event);
    else
        tide_process_drop(TIDE_DROP_MEMORY); /* no stream for a new thread */
    return true;
}

bool tide_bare(struct tide_caller caller, const struct tide_bare_event *event)
{
    const int saved = errno;
    const bool done = bare(caller, event);
    errno = saved;
    return done;
}

/* --- Before the constructor --------------------------------------------------------- */

bool tide_early_keep(const struct tide_bare_event *event)
{
    const uint32_t at = atomic_fetch_add(&early_count, 1);
    if (at < TIDE_EARLY_MAX)
        early[at] = *event;
    return at >= TIDE_EARLY_MAX / 2;
}

/* Births show that they came before the start: their stack was not taken then. */
static void write_early(struct tide_stream *stream, const struct tide_bare_event *event)
{
    if (event->op == TIDE_OP_FREE) {
        write_bare(stream, event);
        return;
    }
    struct tide_birth birth = {.address = event->address,
                               .size = event->size,
                               .usable = event->usable,
                               .op = TIDE_OP_ALLOC,
                               .kind = event->kind};
    stream->walk[0] = TIDE_WORD(TIDE_FRAME_NATIVE, event->pc);
    stream->walk[1] = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_EARLY);
    stream->in_walk = true;
    stream->cache.frames = 0;
    tide_write_birth(stream, birth, 2);
}

void tide_early_flush(struct tide_stream *stream)
{
    const uint32_t count = atomic_load(&early_count);
    for (uint32_t i = 0; i < count && i < TIDE_EARLY_MAX; i++)
        write_early(stream, &early[i]);
    if (count > TIDE_EARLY_MAX)
        tide_stream_lose(stream, TIDE_DROP_EARLY, count - TIDE_EARLY_MAX);
}
