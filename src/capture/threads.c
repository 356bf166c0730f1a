/* capture/threads.c - which thread writes to which stream.
 *
 * A stream and its lane outlive their thread: the next new thread takes them over, so a
 * process has as many lanes as it had threads at once.  pthread's key destructor tells of
 * a thread's end; it lets itself be called again until the last round, so that other
 * destructors that free still find the stream.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "base/raw/varint.h"
#include "capture/attributes.h"
#include "capture/cautions.h"
#include "capture/coder.h"
#include "capture/lifecycle.h"
#include "capture/order.h"
#include "capture/process.h"
#include "capture/record.h"
#include "capture/session.h"
#include "capture/trail.h"

enum {
    TIDE_LAST_ROUND = 4, /* PTHREAD_DESTRUCTOR_ITERATIONS of glibc */
    TIDE_LANES_CROWD = 64,
};

static pthread_key_t thread_key;
static bool thread_key_made;

/* --- Lanes -------------------------------------------------------------------------- */

/* The process lock is held. */
bool tide_stream_take_lane(struct tide_stream *stream, uint32_t use)
{
    struct tide_lane_shared *lane =
        tide_lane_claim(use == TIDE_LANE_NOTES ? TIDE_RING_SMALL - TIDE_LANE_HEAD : 1);
    if (!lane)
        return false;
    const uint32_t bytes = atomic_load(&lane->ring_bytes);
    stream->ring = tide_segment_at(atomic_load(&lane->ring_offset), bytes);
    if (!stream->ring) {
        atomic_store(&lane->state, TIDE_LANE_FREE);
        return false;
    }
    const uint64_t head = atomic_load(&lane->head);
    stream->ring_bytes = bytes;
    stream->keep_ring |= bytes >= TIDE_RING_LARGE;
    stream->base = stream->prev_base = stream->reset_at = head;
    stream->pos = stream->limit = 0;
    if (use == TIDE_LANE_EVENTS) {
        stream->number = tide_process->lanes++;
        stream->owner = stream->number < TIDE_OWNERS ? stream->number + 1 : 0;
        /* Leaves take memory: of many threads, those have them that walk much. */
        if (stream->number >= TIDE_LANES_CROWD)
            stream->cache.turns = TIDE_LEAF_TURNS;
    }
    lane->use = use;
    lane->pid = tide_process->pid;
    lane->birth = tide_process->birth;
    lane->number = stream->number;
    atomic_store(&lane->wrap, head);
    atomic_store(&lane->dropped, 0);
    for (size_t i = 0; i < TIDE_DROPS; i++)
        atomic_store(&lane->drops[i], 0);
    atomic_store(&lane->attention, 0);
    atomic_fetch_add(&lane->ring_changes, 1);
    stream->shared = lane;
    atomic_store(&lane->state, TIDE_LANE_LIVE);
    return true;
}

static void note_recorder(void)
{
    uint8_t payload[2 * TIDE_VARINT_MAX];
    const uint64_t order = tide_process->order_bytes;
    uint8_t *end =
        tide_put_varint(payload, tide_fixed_bytes + tide_process->mapped_bytes - order);
    end = tide_put_varint(end, order);
    tide_process_note(TIDE_NOTE_RECORDER, payload, (uint32_t)(end - payload));
}

/* The process lock is held. */
static void write_thread_note(const struct tide_stream *stream)
{
    const size_t length = strnlen(stream->name, sizeof(stream->name));
    uint8_t payload[(size_t)4 * TIDE_VARINT_MAX + sizeof(stream->name)];
    uint8_t *out = tide_put_varint(payload, stream->number);
    out = tide_put_varint(out, stream->tid);
    out = tide_put_varint(out, stream->begun);
    out = tide_put_varint(out, length);
    memcpy(out, stream->name, length);
    out += length;
    tide_process_note_locked(TIDE_NOTE_THREAD, payload, (uint32_t)(out - payload));
}

/* Say which thread writes to this lane from now on. */
static void note_thread(struct tide_stream *stream)
{
    tide_lock(&tide_process->lock);
    stream->tid = (uint32_t)syscall(SYS_gettid);
    stream->begun = tide_ticks();
    stream->thread = pthread_self();
    if (syscall(SYS_prctl, PR_GET_NAME, stream->name) != 0)
        stream->name[0] = '\0';
    write_thread_note(stream);
    tide_unlock(&tide_process->lock);
}

/* No call that a sandbox may kill for: renames come by way of the hooks. */
static void forget_thread(struct tide_stream *stream)
{
    tide_lock(&tide_process->lock);
    stream->thread = 0;
    tide_unlock(&tide_process->lock);
}

void tide_thread_named(pthread_t thread, const char *name)
{
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON)
        return;
    tide_lock(&tide_process->lock);
    struct tide_stream *stream = tide_process->streams;
    while (stream && !(stream->thread && pthread_equal(stream->thread, thread)))
        stream = stream->next;
    if (stream) {
        memset(stream->name, 0, sizeof(stream->name));
        memcpy(stream->name, name, strnlen(name, sizeof(stream->name) - 1));
        write_thread_note(stream);
    }
    tide_unlock(&tide_process->lock);
}

static void put_thread_mark(struct tide_stream *stream, uint8_t kind)
{
    const uint64_t tid = stream->tid;
    if (tide_stream_room(stream, TIDE_RECORD_MAX))
        tide_stream_publish(stream, tide_put_extra(tide_stream_at(stream), kind, &tid,
                                                   kind == TIDE_EXTRA_THREAD_BEGIN));
}

static void write_thread_mark(struct tide_stream *stream, uint8_t kind)
{
    tide_flush_pending(stream); /* a handler that jumped away may have left some */
    stream->limit = 0;          /* stamped */
    put_thread_mark(stream, kind);
}

void tide_stream_tell(struct tide_stream *stream)
{
    const struct tide_trail *const trail = tide_self.trail;
    put_thread_mark(stream, TIDE_EXTRA_THREAD_BEGIN);
    if (trail && (trail->depth || trail->held_count)) {
        tide_trail_tell(stream);
        tide_attributes_tell(stream);
    }
}

/* The first lane of a process begins without numbers; any other means threads. */
static void begin_lane(struct tide_stream *stream)
{
    if (stream->number > 0)
        tide_threads_begin();
    stream->numbered = stream->number > 0 && atomic_load(&tide_process->multi);
    stream->reset_next = true;
    note_thread(stream);
    note_recorder();
}

bool tide_stream_open(struct tide_stream *stream)
{
    tide_stream_keep(stream);
    if (!tide_process_begin())
        return false;
    tide_lock(&tide_process->lock);
    const bool taken = !atomic_load(&tide_process->off) &&
                       tide_stream_take_lane(stream, TIDE_LANE_EVENTS);
    if (taken) {
        stream->next = tide_process->streams;
        tide_process->streams = stream;
    }
    tide_unlock(&tide_process->lock);
    if (taken)
        begin_lane(stream);
    return taken;
}

/* --- Threads ------------------------------------------------------------------------ */

static struct tide_stream *pop_free(void)
{
    tide_lock(&tide_process->lock);
    struct tide_stream *stream = tide_process->free_streams;
    if (stream)
        tide_process->free_streams = stream->next_free;
    tide_unlock(&tide_process->lock);
    return stream;
}

/* Where one could get no lane no other will: asking again for every event of a thread
 * would cost memory each time, here and at the collector's. */
static struct tide_stream *new_stream(void)
{
    if (atomic_load(&tide_process->crowded))
        return NULL;
    struct tide_stream *stream = tide_stream_new();
    if (!stream) {
        (void)tide_process_begin(); /* it counts what is lost, or says that all is */
        return NULL;
    }
    if (tide_stream_open(stream))
        return stream;
    atomic_store(&tide_process->crowded, 1);
    return NULL;
}

static struct tide_stream *take_over(struct tide_stream *stream)
{
    stream->reset_next = true;
    stream->stack_low = stream->stack_high = 0;
    stream->cache.frames = 0; /* they stood on a stack that may be gone */
    note_thread(stream);
    return stream;
}

struct tide_stream *tide_stream_of_thread(void)
{
    struct tide_self *self = &tide_self;
    const int saved = errno;
    if (atomic_load(&tide_phase) != TIDE_PHASE_ON || atomic_load(&tide_process->off))
        return NULL;

    tide_shield();
    if (self->stream) { /* a handler has got it on the way here, or a jump left it */
        tide_unshield();
        return self->stream;
    }
    tide_set_busy(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    struct tide_stream *stream = pop_free();
    stream = stream ? take_over(stream) : new_stream();
    if (stream) {
        write_thread_mark(stream, TIDE_EXTRA_THREAD_BEGIN);
        if (self->trail && self->trail->depth)
            tide_trail_tell(stream);
        tide_attributes_tell(stream);
        self->stream = stream;
        const struct tide_hush before = tide_hush_begin(self);
        tide_thread_watch(stream);
        tide_hush_end(self, before);
    } else if (tide_process->lanes) {
        self->ended = 1; /* no lane to be had: share the late one */
    }
    self->busy = TIDE_IDLE;
    tide_unshield();
    errno = saved;
    return stream;
}

void tide_stream_retire(struct tide_stream *stream)
{
    if (stream->shared) {
        write_thread_mark(stream, TIDE_EXTRA_THREAD_END);
        forget_thread(stream);
    }
    tide_lock(&tide_process->lock);
    stream->next_free = tide_process->free_streams;
    tide_process->free_streams = stream;
    tide_unlock(&tide_process->lock);
}

struct tide_stream *tide_stream_lock_late(void)
{
    tide_lock(&tide_process->late_lock);
    if (!tide_process->late_stream) {
        tide_process->late_stream = new_stream();
        if (tide_process->late_stream) /* of no thread: its maker's id is used again */
            forget_thread(tide_process->late_stream);
    }
    if (!tide_process->late_stream)
        tide_unlock(&tide_process->late_lock);
    return tide_process->late_stream;
}

void tide_stream_unlock_late(void)
{
    tide_unlock(&tide_process->late_lock);
}

void tide_stream_call_all(uint32_t bits)
{
    tide_lock(&tide_process->lock);
    for (struct tide_stream *s = tide_process->streams; s; s = s->next)
        atomic_fetch_or(&s->shared->attention, bits);
    tide_unlock(&tide_process->lock);
}

void tide_threads_begin(void)
{
    static _Atomic uint32_t said;
    if (atomic_load(&tide_process->multi))
        return;
    if (tide_self.stream)
        tide_stream_keep(tide_self.stream);
    if (!tide_order_init()) {
        if (!atomic_exchange(&tide_process->unordered, 1))
            tide_stream_call_all(TIDE_ATTENTION_SYNC);
        if (!atomic_exchange(&said, 1))
            tide_caution_unordered();
        return;
    }
    atomic_store(&tide_process->multi, 1);
    tide_stream_call_all(TIDE_ATTENTION_TICK);
}

/* --- A thread's end ------------------------------------------------------------------ */

static void thread_ends(void *value)
{
    struct tide_self *self = &tide_self;
    if (++self->exit_rounds < TIDE_LAST_ROUND) {
        pthread_setspecific(thread_key, value);
        return;
    }
    tide_trail_leave(self);
    struct tide_stream *stream = self->stream;
    if (self->busy)
        return;
    if (!stream) {
        self->ended = 1; /* one that it got now nobody would give back */
        return;
    }
    const int saved = errno;
    tide_shield();
    tide_set_busy(self, TIDE_WRITING, (uintptr_t)__builtin_frame_address(0));
    self->stream = NULL;
    self->ended = 1;
    tide_stream_retire(stream);
    self->busy = TIDE_IDLE;
    tide_unshield();
    errno = saved;
}

void tide_thread_watch(struct tide_stream *stream)
{
    if (!thread_key_made)
        thread_key_made = pthread_key_create(&thread_key, thread_ends) == 0;
    if (thread_key_made)
        pthread_setspecific(thread_key, stream ? (void *)stream : &thread_key);
}
