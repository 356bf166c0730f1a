/* capture/stream.c - the cold half of writing: room, time stamps, resets.
 *
 * tide_stream_refill() is the one function behind the hot path's only branch.  It runs
 * about once per 85 events, so what it does may cost, but it must not fail the target:
 * errno is kept, every wait is bounded, and when there is no room to be had recording
 * stops and the loss is counted.
 */
#include "capture/stream.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/raw/ticks.h"
#include "capture/coder.h"
#include "capture/order.h"
#include "capture/process.h"
#include "capture/reserve.h"
#include "capture/sandbox.h"
#include "capture/session.h"

enum {
    TIDE_PREAMBLE = 64, /* bytes that stamps and marks before a record may take */
    TIDE_SILENT_WAITS =
        100, /* waits without heartbeat before the collector counts as dead */
    TIDE_IDLE_WAITS = 250, /* waits with a heartbeat, but nothing taken from us */
};

static uint64_t head_of(const struct tide_stream *stream)
{
    return stream->base + stream->pos;
}

/* --- Fork in the middle of a record --------------------------------------------------- */

void tide_stream_keep_on_fork(struct tide_stream *stream, bool keep)
{
    syscall(SYS_madvise, stream, sizeof(*stream),
            keep ? MADV_KEEPONFORK : MADV_WIPEONFORK);
}

/* The pages of the ring.  A first ring begins behind the header, on the same page. */
static bool cover_ring(const struct tide_stream *stream)
{
    const uint32_t before = (uintptr_t)stream->ring % TIDE_PAGE;
    return tide_reserve_cover(stream->ring - before, before + stream->ring_bytes);
}

/* The header is kept: its state says LIVE, so that this lane is never claimed here.  What
 * the hook has in hand is the parent's event; here it is not recorded. */
void tide_stream_tear(struct tide_self *self)
{
    struct tide_stream *const stream = self->stream;
    const struct tide_lane_shared header = *stream->shared;
    if (tide_reserve_cover(stream->shared, TIDE_PAGE) && cover_ring(stream))
        *stream->shared = header;
    else
        atomic_store(&tide_phase, TIDE_PHASE_INERT);
    stream->torn = true;
    stream->limit = 0;
    self->torn = stream;
    self->stream = NULL;
}

/* --- Room ------------------------------------------------------------------------- */

/* How far the record may reach without overtaking the collector. */
static uint32_t free_until(const struct tide_stream *stream, uint64_t tail)
{
    if (tail >= stream->base)
        return stream->ring_bytes;
    return (uint32_t)(tail - stream->prev_base);
}

/* Go back to the start of the ring.  Possible once the collector is in this lap. */
static void wrap(struct tide_stream *stream)
{
    const uint64_t head = head_of(stream);
    stream->prev_base = stream->base;
    stream->base = head;
    stream->pos = 0;
    stream->limit = 0; /* of the last lap */
    stream->laps++;
    atomic_store_explicit(&stream->shared->wrap, head, memory_order_release);
}

/* How long it has been waited, in waits. */
struct patience {
    int silent, idle;
};

/* Sleep until the collector has taken something.  False: it gives no sign of life, or it
 * has no memory for this lane. */
static bool wait_for_collector(struct tide_stream *stream, uint64_t tail,
                               struct patience *waited)
{
    struct tide_lane_shared *lane = stream->shared;
    const uint64_t beat = atomic_load(&tide_session->heartbeat);

    tide_session_wake();
    for (int i = 0; i < 4; i++) {
        syscall(SYS_sched_yield);
        if (atomic_load(&lane->tail) != tail)
            return true;
    }
    const uint32_t drained = atomic_load(&lane->drained);
    atomic_store(&lane->waiting, 1);
    if (atomic_load(&lane->tail) != tail)
        return true;
    tide_wait_while(&lane->drained, drained);

    if (atomic_load(&tide_session->stopped) ||
        atomic_load(&tide_shared_segment->closed))
        return false;
    if (atomic_load(&tide_session->heartbeat) == beat) {
        waited->silent++;
    } else {
        waited->silent = 0;
        waited->idle++;
    }
    return atomic_load(&lane->tail) != tail ||
           (waited->silent < TIDE_SILENT_WAITS && waited->idle < TIDE_IDLE_WAITS);
}

/* Give the lane a ring of BYTES, once the one it has is empty.  False: there is none. */
static bool grow_ring(struct tide_stream *stream, uint32_t bytes)
{
    struct tide_lane_shared *lane = stream->shared;
    tide_lock(&tide_process->lock);
    const uint64_t offset = bytes ? tide_segment_take(bytes) : 0;
    uint8_t *ring = offset ? tide_segment_at(offset, bytes) : NULL;
    tide_unlock(&tide_process->lock);
    if (!ring)
        return false;

    struct patience waited = {0};
    uint64_t tail;
    while ((tail = atomic_load(&lane->tail)) != head_of(stream))
        if (!wait_for_collector(stream, tail, &waited))
            return false;
    stream->base = stream->prev_base = head_of(stream);
    stream->pos = 0;
    stream->limit = 0;
    stream->ring = ring;
    stream->ring_bytes = bytes;
    atomic_store(&lane->ring_offset, offset);
    atomic_store(&lane->ring_bytes, bytes);
    atomic_fetch_add(&lane->ring_changes, 1);
    return true;
}

/* The lane is hot. */
static void grow_hot_ring(struct tide_stream *stream)
{
    stream->keep_ring = true;
    grow_ring(stream, tide_segment_ring_after(stream->ring_bytes));
}

static bool has_room(const struct tide_stream *stream, uint32_t need, uint64_t *tail)
{
    *tail = atomic_load_explicit(&stream->shared->tail, memory_order_acquire);
    return stream->pos + need <= free_until(stream, *tail);
}

/* Go on in the ring, or wait for the collector, until there is room. */
static bool find_room(struct tide_stream *stream, uint32_t need)
{
    struct patience waited = {0};
    uint64_t tail;
    if (need > stream->ring_bytes && !grow_ring(stream, TIDE_RING_SMALL))
        return false;
    while (!has_room(stream, need, &tail)) {
        if (stream->torn) /* nobody will take anything */
            return false;
        /* Not twice around while the collector stands still: it could not tell. */
        if (tail > stream->base) {
            if (stream->laps >= TIDE_HOT_LAPS && !stream->keep_ring)
                grow_hot_ring(stream);
            else
                wrap(stream);
        } else if (!wait_for_collector(stream, tail, &waited)) {
            return false;
        }
    }
    return true;
}

bool tide_stream_make_room(struct tide_stream *stream, uint32_t need)
{
    uint64_t tail;
    if (TIDE_LIKELY(has_room(stream, need, &tail)))
        return true;
    tide_shield();
    const bool found = find_room(stream, need);
    tide_unshield();
    return found;
}

/* --- Stamps, resets --------------------------------------------------------------- */

static uint64_t *put_reset(struct tide_stream *stream, uint64_t *out, uint64_t now)
{
    struct tide_lane_shared *lane = stream->shared;
    const uint64_t position = head_of(stream); /* nothing stands before it */

    if (stream->has_seen) /* else its pages need not be touched */
        memset(stream->seen, 0, sizeof(stream->seen));
    stream->has_seen = false;
    stream->depth = stream->known = 0;
    stream->memory.stacks = 0;
    stream->epoch = atomic_load(&tide_process->epoch);
    stream->reset_at = position;
    stream->reset_next = false;
    const unsigned unordered =
        atomic_load(&tide_process->unordered) ? TIDE_ROW_UNORDERED : 0;
    *out++ = TIDE_ROW_HEAD(TIDE_OP_SYNC, stream->numbered | unordered, 0);
    *out++ = now;
    *out++ = stream->epoch;
    *out++ = stream->tid;

    const uint32_t resets = atomic_load_explicit(&lane->resets, memory_order_relaxed);
    atomic_store_explicit(&lane->reset_at[resets % TIDE_SYNC_KEPT], position,
                          memory_order_relaxed);
    atomic_store_explicit(&lane->resets, resets + 1, memory_order_release);
    return out;
}

/* The process has a second thread: from here on this lane takes numbers. */
static uint64_t *put_numbers(struct tide_stream *stream, uint64_t *out)
{
    stream->numbered = true;
    return tide_put_extra(out, TIDE_EXTRA_NUMBERS, NULL, 0);
}

static uint64_t *put_cuts(struct tide_stream *stream, uint64_t *out)
{
    const uint64_t cuts = stream->cuts;
    stream->cuts = 0;
    return tide_put_extra(out, TIDE_EXTRA_CUT, &cuts, 1);
}

/* Everything that is due before the next record. */
static void put_due(struct tide_stream *stream, uint32_t attention)
{
    uint64_t *out = tide_stream_at(stream);
    const uint64_t now = tide_ticks();
    const bool reset = stream->reset_next ||
                       (attention & (TIDE_ATTENTION_SYNC | TIDE_ATTENTION_MODULES)) ||
                       stream->epoch != atomic_load(&tide_process->epoch) ||
                       head_of(stream) - stream->reset_at >= (uint64_t)TIDE_SYNC_BYTES;
    if (reset) {
        out = put_reset(stream, out, now);
    } else {
        out = tide_put_time(out, now);
    }
    if (!stream->numbered && atomic_load(&tide_process->multi))
        out = put_numbers(stream, out);
    if (stream->cuts)
        out = put_cuts(stream, out);
    tide_stream_publish(stream, out);
}

/* Of a thread that waits for a processor all that is known is that what it wrote since its last
 * stamp was before it went on.  The more of them wait, the less each may leave open. */
static uint32_t bytes_to_stamp(void)
{
    const uint32_t lanes = atomic_load(&tide_process->lanes);
    if (tide_session->exact_times)
        return 0; /* the next record finds no room before it has a stamp */
    if (lanes <= tide_processors)
        return TIDE_STAMP_BYTES;
    const uint32_t share = TIDE_STAMP_BYTES * tide_processors / lanes;
    return share > TIDE_STAMP_LEAST ? share : TIDE_STAMP_LEAST;
}

static void set_limit(struct tide_stream *stream)
{
    const uint64_t tail =
        atomic_load_explicit(&stream->shared->tail, memory_order_acquire);
    const uint32_t end = free_until(stream, tail);
    const uint32_t soon = stream->pos + bytes_to_stamp();
    stream->limit = soon < end ? soon : end;
    if (head_of(stream) - tail >= stream->ring_bytes / 2)
        tide_session_wake();
}

/* Recording has stopped, as tide_process->off says why. */
static bool lose_one(struct tide_stream *stream)
{
    if (stream->shared)
        tide_stream_lose(stream, tide_process_off_reason(), 1);
    return false;
}

static bool stop_for(struct tide_stream *stream, enum tide_drop why)
{
    tide_process_stop(why);
    return lose_one(stream);
}

/* There is room for NEED bytes.  Whoever writes the next record comes by again all the same if
 * something waits, or if the thread is in dlclose. */
static void open_limit(struct tide_stream *stream, uint32_t need)
{
    if (stream->limit < stream->pos + need)
        stream->limit = stream->pos + need;
    if (TIDE_UNLIKELY(tide_self.closing)) {
        stream->spare = stream->limit;
        stream->limit = TIDE_LIMIT_IN_CLOSE;
    }
    atomic_signal_fence(memory_order_seq_cst);
    if (stream->pending != stream->flushed)
        stream->limit = 0; /* as nested.c had it */
}

static bool refill(struct tide_stream *stream, uint32_t need)
{
    if (TIDE_UNLIKELY(stream->torn))
        return false;
    const bool forked = !stream->shared;
    if (forked && !tide_stream_open(stream))
        return false;
    if (atomic_load(&tide_process->off))
        return lose_one(stream);
    if (atomic_load(&tide_session->stopped))
        return stop_for(stream, TIDE_DROP_STOPPED);
    const uint32_t attention = atomic_exchange(&stream->shared->attention, 0);
    if (!tide_stream_make_room(stream, need + TIDE_PREAMBLE)) {
        if (stream->torn) /* by a fork while we were here: the event is the parent's */
            return false;
        if (need + TIDE_PREAMBLE <= stream->ring_bytes)
            return stop_for(stream, TIDE_DROP_COLLECTOR);
        tide_stream_lose(stream, TIDE_DROP_MEMORY, 1);
        return false;
    }
    put_due(stream, attention);
    set_limit(stream);
    if (forked) {
        tide_stream_tell(stream);
        return tide_stream_room(stream, need);
    }
    if (attention && atomic_load(&tide_session->sleeping) == 2)
        tide_session_wake(); /* everything was idle; now it is not */
    open_limit(stream, need);
    return !stream->torn; /* by a fork while we were here */
}

/* Nothing is due but that the thread is in dlclose. */
static bool is_only_in_close(const struct tide_stream *stream, uint32_t need)
{
    return tide_self.closing && stream->limit == TIDE_LIMIT_IN_CLOSE &&
           stream->pos + need <= stream->spare &&
           !atomic_load_explicit(&stream->shared->attention, memory_order_relaxed);
}

bool tide_stream_refill(struct tide_stream *stream, uint32_t need)
{
    if (is_only_in_close(stream, need))
        return true;
    const int saved = errno;
    const bool ready = refill(stream, need);
    errno = saved;
    return ready;
}
