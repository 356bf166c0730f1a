/* capture/stream.h - a thread's end of its lane: where records are written.
 *
 * For: capture/.  A stream belongs to one thread at a time and is written only by it,
 * with self->busy set.  It lives in MADV_WIPEONFORK memory: in a forked child it is all
 * zeros, so limit is 0, the first event takes the cold path, and the child gets a lane
 * of its own without any fork handler having run.  The memory of all streams is the
 * child's to use again: see stream_memory.c.
 *
 * Hot path: tide_stream_room() is one comparison and one load.  Everything rare (time
 * stamp, reset, wrap, full ring, wish of the collector, fork) is behind it.
 */
#ifndef TIDE_CAPTURE_STREAM_H
#define TIDE_CAPTURE_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/self.h"
#include "capture/stack_cache.h"
#include "trace/format.h"
#include "trace/ring.h"
#include "trace/row.h"

enum {
    TIDE_STAMP_BYTES = 1024,      /* about 85 events: a time stamp at least so often */
    TIDE_STAMP_LEAST = 192,       /* the same where threads outnumber processors */
    TIDE_RECORD_MAX = 96,         /* bytes of a row without its pushed frames */
    TIDE_LARGE_EVENT = 64 * 1024, /* events of this size are stamped each */
    TIDE_HOT_LAPS = 3,            /* laps of the small ring before it grows */
    TIDE_OWNER_SHIFT = 20,        /* slot: owner above, count below */
    TIDE_OWNERS = 4094,           /* lanes that can own a slot */
    TIDE_SEEN_WORDS = 1024,       /* words remembered as seen */
    TIDE_FETCH_AHEAD = 256,       /* bytes: the time of some ten events */
    TIDE_PENDING_MAX = 1024,      /* nested events kept while a record is written */
    TIDE_LIMIT_IN_CLOSE = 1,      /* no record ends here: see `spare` */
};

struct tide_map_record {
    uint64_t call; /* enum tide_map_call */
    uint64_t address, length, argument1, argument2;
};

/* An event of a signal handler that interrupted the recorder, or of a thread without a
 * stream: everything needed to write it later, with its innermost frame only. */
struct tide_bare_event {
    uint8_t op; /* TIDE_OP_ALLOC, TIDE_OP_FREE or TIDE_OP_MAP */
    uint8_t kind;
    bool numbered;
    uint16_t number;
    uint64_t address, size, usable, pc;
    struct tide_map_record map; /* of TIDE_OP_MAP, instead of the four */
};

/* The stacks that the reader of the lane remembers as well: see memory.h.  A reset sets
 * the count to 0, which voids the rest. */
struct tide_memory {
    uint32_t stacks;                      /* entries made since the reset */
    uint16_t recent_at[2 * TIDE_RECENTS]; /* hash -> entry */
    uint64_t recent[TIDE_RECENTS];        /* entry -> hash */
};

struct tide_stream {
    uint32_t pos;   /* offset in ring of the next byte */
    uint32_t limit; /* a record may end here without a look at the cold path */
    uint8_t *ring;
    struct tide_lane_shared *shared; /* NULL: no lane yet, or wiped by fork */
    uint64_t base;                   /* position of ring offset 0: head = base + pos */
    uint32_t owner; /* lane number + 1, or 0 when too high to own slots */
    uint32_t depth; /* frames of the stack that the reader has */
    uint32_t known; /* of stack[], the outermost that the reader has as well */
    uint32_t kept;  /* of stack[], the outermost that the last walk left as they were */
    uint64_t hash;  /* of the stack that was taken last */
    bool in_walk;   /* the last walk is in walk[], stack[] is still the one before */
    bool numbered;  /* the process has, or had, more than one thread */
    bool reset_next;    /* reset before the next record */
    bool keep_ring;     /* the ring is large, or small for good */
    bool torn;          /* forked in the middle of a record: nobody drains this lane */
    bool has_seen;      /* some word stands in seen[] */
    bool taken;         /* it is somebody's: false again in a forked child */
    uint32_t pending;   /* nested events ever put into pending_events */
    uint32_t flushed;   /* of these, written already */
    uint64_t reset_at;  /* position of the last reset */
    uint64_t prev_base; /* base of the lap before */
    uint32_t spare;     /* what limit would be if the thread were not in dlclose */
    uint32_t ring_bytes;
    uint32_t laps;
    uint32_t number; /* of the lane */
    uint32_t tid;
    uint64_t begun;   /* ticks at which the thread took the lane */
    pthread_t thread; /* 0 once it has ended.  Guarded by the process lock */
    char name[16];    /* of the thread, as noted.  Guarded by the process lock */
    uint64_t epoch;
    uint64_t cuts;                   /* stacks cut since the last CUT record */
    uintptr_t stack_low, stack_high; /* of the thread; 0: not known yet */
    struct tide_stream *next;        /* in the list of all */
    struct tide_stream *next_free;   /* in the list of those without a thread */
    struct tide_bare_event pending_events[TIDE_PENDING_MAX]; /* the n-th at n % MAX */
    /* Whose modules were told since the reset.  Whole pages. */
    _Alignas(TIDE_PAGE) uint64_t seen[TIDE_SEEN_WORDS];
    uint64_t stack[TIDE_STACK_MAX]; /* the last stack walked, outermost first */
    uint64_t walk[TIDE_STACK_MAX];  /* the same innermost first, if in_walk */
    struct tide_stack_cache cache;
    struct tide_memory memory;
};

/* Make room for a record of at most NEED bytes, stamp and reset as due.  False: nothing
 * is recorded (no lane, collector gone); the loss has been counted. */
bool tide_stream_refill(struct tide_stream *stream, uint32_t need) TIDE_COLD;

/* The part of it that is not about time: NEED free bytes in one piece at pos.  False:
 * the collector is gone. */
bool tide_stream_make_room(struct tide_stream *stream, uint32_t need) TIDE_COLD;

static inline bool tide_stream_room(struct tide_stream *stream, uint32_t need)
{
    if (TIDE_LIKELY(stream->pos + need <= stream->limit) &&
        TIDE_LIKELY(
            !atomic_load_explicit(&stream->shared->attention, memory_order_relaxed)))
        return true;
    return tide_stream_refill(stream, need);
}

/* Where the next row goes, once there is room. */
static inline uint64_t *tide_stream_at(const struct tide_stream *stream)
{
    return (uint64_t *)(void *)(stream->ring + stream->pos);
}

/* What ends at END, a row or a note, is whole: let the collector see it. */
static inline void tide_stream_publish(struct tide_stream *stream, const void *end)
{
    /* The lines that follow are the collector's, who has read them: ask for them early. */
    __builtin_prefetch((const uint8_t *)end + TIDE_FETCH_AHEAD, 1);
    stream->pos = (uint32_t)((const uint8_t *)end - stream->ring);
    atomic_store_explicit(&stream->shared->head, stream->base + stream->pos,
                          memory_order_release);
}

/* COUNT events of the stream's lane were not written, for the reason WHY. */
static inline void tide_stream_lose(struct tide_stream *stream, enum tide_drop why,
                                    uint32_t count)
{
    atomic_fetch_add_explicit(&stream->shared->dropped, count, memory_order_relaxed);
    atomic_fetch_add_explicit(&stream->shared->drops[why], count, memory_order_relaxed);
}

/* A signal handler that interrupted the recorder forks.  In the child the hook goes on
 * in the middle of a record, so it must find its stream as it was (KEEP before the fork,
 * not KEEP after it), but on a lane that nobody drains: private memory over the shared.
 * The next hook finds no stream and gets a new one. */
void tide_stream_keep_on_fork(struct tide_stream *stream, bool keep) TIDE_COLD;
void tide_stream_tear(struct tide_self *self) TIDE_COLD;

/* The stack in stack[] and the cache, DEPTH frames, KEPT of which are as before, is the
 * one that was taken last. */
static inline uint32_t tide_cache_taken(struct tide_stream *stream, uint32_t kept,
                                        uint32_t depth)
{
    stream->kept = kept;
    stream->in_walk = false;
    stream->cache.leaf = NULL;
    stream->cache.frames = depth;
    stream->hash = stream->cache.frame[depth - 1].hash;
    return depth;
}

/* Memory for a stream, taken: what a forked child has of its parent's, before any new.  NULL
 * without memory. */
struct tide_stream *tide_stream_new(void) TIDE_COLD;
/* STREAM, which a fork may have wiped, is its thread's in this process too: before others
 * look for one. */
void tide_stream_keep(struct tide_stream *stream) TIDE_COLD;
/* Give STREAM, new or wiped by fork, a lane; false when nothing is recorded. */
bool tide_stream_open(struct tide_stream *stream) TIDE_COLD;
/* Say in STREAM, opened after fork, which thread goes on, and where it is. */
void tide_stream_tell(struct tide_stream *stream) TIDE_COLD;
/* Claim a lane for USE and tie STREAM to it.  The process lock is held. */
bool tide_stream_take_lane(struct tide_stream *stream, uint32_t use) TIDE_COLD;
/* The calling thread's stream, made if need be; NULL when nothing is recorded. */
struct tide_stream *tide_stream_of_thread(void) TIDE_COLD;
/* The thread of STREAM has ended: the next new thread may have it. */
void tide_stream_retire(struct tide_stream *stream) TIDE_COLD;
/* One stream for threads that have none any more; take with the lock, give back. */
struct tide_stream *tide_stream_lock_late(void) TIDE_COLD;
void tide_stream_unlock_late(void) TIDE_COLD;
/* Ask every stream of the process to look up: BITS of enum tide_attention. */
void tide_stream_call_all(uint32_t bits) TIDE_COLD;

#endif
