/* trace/ring.h - the shared memory between a target and its collector.
 *
 * For: capture/ (writes lanes) and collect/ (drains them).  Both map the same memfds;
 * the collector believes nothing it reads here without checking it against its own
 * copy of sizes.  All multi-byte fields are native: both sides run on one machine.
 *
 * Two memfds.  The session page is one for the whole run.  A segment is one per
 * program image: a forked child inherits its parent's mapping and takes lanes of its
 * own in it (no descriptor needed, so chroot and closefrom do no harm); after exec the
 * library connects again and gets a new segment.
 *
 * Life of a lane: FREE -> (a process claims it by compare-and-swap) LIVE -> the process
 * is gone and the lane drained -> the collector sets FREE.  In between it may serve many
 * threads of its process, one after the other.  Before it sets FREE the collector zeroes
 * head, wrap, resets, dropped, drops, tail, waiting, attention and left: a lane begins at
 * position 0, offset 0.
 *
 * A segment grows without descriptors: the target raises `wanted` and waits on `grown`;
 * the collector reserves (fallocate) and sets `size`; the target maps the new part with
 * mremap(old_size = 0), which duplicates a shared mapping and may extend it.
 *
 * Ring: records never straddle the end.  The producer, finding no room before the end,
 * stores in `wrap` (release) the position (bytes ever written) at which it went back to
 * offset 0.  It does so only when tail has passed the wrap before (tail > wrap, or head ==
 * tail): then the consumer has seen that one, and never meets two at a time.
 *
 *     producer                                  consumer
 *     write bytes; head = position (release)    h = head (acquire); w = wrap
 *                                               if (w - tail <= h - tail and w is new)
 *                                                   take w - tail bytes; offset = 0
 *                                               take the rest up to h
 *                                               tail = h (seq_cst)
 *     full: waiting = 1 (seq_cst); tail again;  if (waiting) { waiting = 0; drained++;
 *           FUTEX_WAIT(drained)                     FUTEX_WAKE(drained) }
 */
#ifndef TIDE_TRACE_RING_H
#define TIDE_TRACE_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

#define TIDE_RING_VERSION 5u
#define TIDE_SESSION_ENV  "TIDEMARK_SESSION" /* a directory of the collector's own */
#define TIDE_FAILED_ENV   "TIDEMARK_FAILED" /* no collector could begin: that was said */
#define TIDE_SOCKET_NAME  "collector"       /* SOCK_SEQPACKET, in that directory */
/* A file there, made by a target that had no answer: the next ones wait less.  The
 * collector removes it when it answers. */
#define TIDE_SILENT_NAME  "silent"
#define TIDE_TRACE_LINK   "trace" /* a link to the trace, in that directory */

enum {
    TIDE_PAGE = 4096,
    TIDE_RING_TINY = 8 * 1024,    /* a lane's first ring, where there are many lanes */
    TIDE_RING_SMALL = 32 * 1024,  /* that of others */
    TIDE_RING_LARGE = 256 * 1024, /* its ring once it is hot */
    TIDE_LANES_MAX = 16384,       /* per segment; more threads share one locked lane */
    TIDE_SYNC_KEPT = 8,           /* reset positions remembered per lane */
    TIDE_REAPED_KEPT = 128,       /* processes of whose end a parent heard last */
    TIDE_EXEC_SLOTS = 32, /* calls of exec that the collector has not seen yet */
    TIDE_EXEC_NAME_BYTES = 104,
};

/* --- The session page -------------------------------------------------------------- */

enum tide_unwind {
    TIDE_UNWIND_NONE = 0, /* --no-stacks: the leaf only */
    TIDE_UNWIND_FP = 1,
    TIDE_UNWIND_LIBUNWIND = 2,
    TIDE_UNWIND_CFI = 3,
};

enum tide_space_bit {
    TIDE_SPACE_HEAP = 1,
    TIDE_SPACE_MMAP = 2,
};

/* Which processes of a run are recorded.  Forked children see to it themselves; who says
 * hello after an exec and is not wanted finds the connection closed. */
enum tide_follow {
    TIDE_FOLLOW_ALL = 0,
    TIDE_FOLLOW_EXEC = 1, /* the first process, whatever it executes */
    TIDE_FOLLOW_NONE = 2, /* the first process, until it executes another program */
};

#define TIDE_SESSION_MAGIC 0x53454449u

/* A process had ended when its parent heard of it.  Parents write as they like: what is here
 * is no more than a hint. */
struct tide_reaped {
    _Atomic uint32_t pid; /* 0 while it is being written */
    _Atomic uint64_t ticks;
};

struct tide_session_page {
    uint32_t magic;
    uint32_t version;
    /* Set before the first target starts, then constant. */
    uint32_t unwind;      /* enum tide_unwind */
    uint32_t depth_limit; /* frames */
    uint32_t spaces;      /* enum tide_space_bit */
    uint32_t free_stacks; /* 1: take a stack at death too */
    uint64_t reserved[4]; /* [0]: enum tide_ticks_kind, which clock to stamp with */
    uint32_t follow;      /* enum tide_follow */
    uint32_t live_table;  /* 1: keep a table of live blocks in the process */
    /* A line of its own: the collector writes, targets read in cold paths. */
    _Alignas(64) _Atomic uint32_t sleeping; /* futex: 1 while the drain thread
                                               naps (10 ms), 2 in deep sleep */
    _Atomic uint32_t stopped;   /* 1: record no more (disk full, collector leaving) */
    _Atomic uint64_t heartbeat; /* advanced at every pass of the drain thread */
    /* That of a pid at [pid % TIDE_REAPED_KEPT]. */
    _Alignas(64) struct tide_reaped reaped[TIDE_REAPED_KEPT];
    uint32_t keep_preload; /* 1: exec hooks put LD_PRELOAD back; set before the start */
    /* In a container everybody is killed when its first process ends, and that may end as
     * soon as the program of this session has. */
    uint32_t mortal_with; /* pid of that program; 0: nobody kills the collector so */
    _Atomic uint32_t farewell; /* pid of a process that is about to end and waits */
    _Atomic uint32_t written;  /* that pid: all that it did is in the file */
    uint32_t exact_times;      /* 1: stamp every event; set before the start */
    /* A target adds one to the first and waits: once the other is as high, all that was
     * recorded before is in the file, which TIDE_TRACE_LINK names. */
    _Atomic uint32_t flush_wanted, flushed;
};
_Static_assert(sizeof(struct tide_session_page) <= TIDE_PAGE, "it is a page");

/* --- A segment ----------------------------------------------------------------------- */

#define TIDE_SEGMENT_MAGIC 0x47455354u

/* What the environment given to a call of exec says of the program's chance to be recorded. */
enum tide_exec_flag {
    TIDE_EXEC_NO_PRELOAD = 1, /* LD_PRELOAD does not name the recorder */
    TIDE_EXEC_NO_SESSION = 2, /* TIDEMARK_SESSION does not name this session */
    TIDE_EXEC_NO_LIBRARY = 4, /* the program would not find libtidemark.so */
    TIDE_EXEC_NO_SOCKET = 8,  /* the program would not find the collector's socket */
    TIDE_EXEC_FAILED = 16,    /* the call with this pid and time has come back */
    TIDE_EXEC_SANDBOX = 32,  /* TIDEMARK_SESSION is empty: a sandbox would kill what the
                                 recorder does, so it shall do nothing */
    TIDE_EXEC_NO_RIGHT = 64, /* its user may not go to the collector's socket */
    TIDE_EXEC_HOPELESS =     /* with any of these it is not recorded */
    TIDE_EXEC_NO_PRELOAD | TIDE_EXEC_NO_SESSION | TIDE_EXEC_NO_LIBRARY |
    TIDE_EXEC_SANDBOX,
};

enum tide_exec_state {
    TIDE_EXEC_FREE = 0,
    TIDE_EXEC_CLAIMED = 1,
    TIDE_EXEC_POSTED = 2
};

/* A process is about to execute another program, or has started one.  A program that is
 * recorded says hello later than TICKS; who never does was not recorded.  Life of a slot:
 * FREE -> (a process claims it by compare-and-swap) CLAIMED -> POSTED -> (the call has failed)
 * FREE; or else (the collector claims it and copies it) CLAIMED -> FREE. */
struct tide_exec_slot {
    _Atomic uint32_t state;          /* enum tide_exec_state */
    uint32_t flags;                  /* enum tide_exec_flag */
    uint32_t pid;                    /* of the new program; 0: not known */
    uint32_t serial;                 /* later posts of a process are higher */
    uint64_t ticks;                  /* before the call */
    char name[TIDE_EXEC_NAME_BYTES]; /* the program as the call names it; the end of it
                                        when it is longer */
};
_Static_assert(sizeof(struct tide_exec_slot) == 128, "two cache lines");

struct tide_segment {
    uint32_t magic;
    uint32_t version;
    _Atomic uint32_t closed;  /* the collector has left this segment for good */
    _Atomic uint32_t lanes;   /* entries of the directory in use */
    _Atomic uint64_t taken;   /* bytes handed out by the targets (only rises) */
    _Atomic uint64_t wanted;  /* bytes the targets would like to have reserved */
    _Atomic uint64_t size;    /* bytes reserved: those may be touched */
    _Atomic uint32_t grown;   /* futex: advanced when size rises or will not */
    _Atomic uint32_t refused; /* the collector could not reserve more */
    _Atomic uint64_t forks;   /* fork calls begun in this segment's processes */
    _Atomic uint64_t births;  /* forked children that took a lane */
    _Atomic uint32_t starved; /* processes that could get none: they are not recorded */
    /* Offset of each lane's header, 0 while its entry is being filled. */
    _Alignas(64) _Atomic uint64_t directory[TIDE_LANES_MAX];
    _Alignas(64) _Atomic uint32_t execs; /* slots ever claimed */
    _Atomic uint32_t execs_posted;       /* slots ever posted */
    _Atomic uint32_t execs_lost; /* calls of exec that found no free slot; counted
                                            as posted too */
    _Atomic uint64_t
        execs_beat; /* 1 + the heartbeat at which one was waited for in vain */
    struct tide_exec_slot exec_slots[TIDE_EXEC_SLOTS];
};

#define TIDE_SEGMENT_HEAD \
    ((sizeof(struct tide_segment) + TIDE_PAGE - 1) / TIDE_PAGE * TIDE_PAGE)
/* The size a segment starts with: its head, one notes lane and one thread's lane. */
#define TIDE_SEGMENT_START (TIDE_SEGMENT_HEAD + (size_t)2 * TIDE_RING_SMALL)

/* A target maps so much more than `size`, a few lanes, one of them with a large ring, so that
 * a small program need not ask the kernel again.  The file is as long, though nothing is
 * reserved there: who reads all of his memory shall find pages. */
#define TIDE_SEGMENT_AHEAD (512ull * 1024)

enum tide_lane_state {
    TIDE_LANE_FREE = 0,
    TIDE_LANE_CLAIMED = 1, /* being set up: not to be read */
    TIDE_LANE_LIVE = 2,
};

enum tide_lane_use {
    TIDE_LANE_EVENTS = 0, /* records -> EVENTS chunks */
    TIDE_LANE_NOTES = 1,  /* notes -> NOTES chunks; cut anywhere between notes */
};

/* What the collector or another thread wants of a lane's owner: it looks at its next
 * event. */
enum tide_attention {
    TIDE_ATTENTION_TICK = 1,   /* stamp the time */
    TIDE_ATTENTION_SYNC = 2,   /* reset the coder, so that a chunk can end here */
    TIDE_ATTENTION_MODULES = 4 /* modules were unloaded: start a new epoch */
};

struct tide_lane_shared {
    /* The producer's line. */
    _Alignas(64) _Atomic uint64_t head; /* bytes ever written */
    _Atomic uint64_t wrap;              /* position at which offset 0 was taken last */
    _Atomic uint32_t resets;            /* SYNC records ever written */
    _Atomic uint32_t dropped;           /* events lost, all reasons */
    _Atomic uint32_t drops[TIDE_DROPS]; /* these, by enum tide_drop */

    /* The consumer's line. */
    _Alignas(64) _Atomic uint64_t tail; /* bytes ever taken */
    _Atomic uint32_t drained;           /* futex */
    _Atomic uint32_t waiting;           /* the producer waits on drained */
    _Atomic uint32_t attention;         /* enum tide_attention; the owner takes all */

    /* Identity: written while CLAIMED; the ring also when head == tail. */
    _Alignas(64) _Atomic uint32_t state; /* enum tide_lane_state */
    uint32_t use;                        /* enum tide_lane_use */
    uint32_t pid;
    uint32_t number;              /* of the lane in its process */
    uint64_t birth;               /* ticks at which the process began: names it */
    _Atomic uint64_t ring_offset; /* in the segment */
    _Atomic uint32_t ring_bytes;
    _Atomic uint32_t ring_changes; /* advanced when the ring moves: offset is 0 again */
    _Atomic uint64_t left; /* of NOTES: ticks at which the process was about to end */

    /* Positions of the newest resets: reset k at [k % TIDE_SYNC_KEPT]. */
    _Alignas(64) _Atomic uint64_t reset_at[TIDE_SYNC_KEPT];
};

/* A lane's header stands at the start of its region; its first ring follows. */
#define TIDE_LANE_HEAD sizeof(struct tide_lane_shared)

/* --- The handshake: one message each way ------------------------------------------- */

struct tide_hello {
    uint32_t magic; /* TIDE_SEGMENT_MAGIC */
    uint32_t version;
    uint32_t pid;
    uint32_t
        failed; /* it could not take what came with the welcome: it will not record */
};

/* With it come two descriptors: the session page and the segment. */
struct tide_welcome {
    uint32_t magic; /* TIDE_SESSION_MAGIC */
    uint32_t version;
    uint64_t session_bytes;
    uint64_t segment_bytes;
};

_Static_assert(sizeof(struct tide_lane_shared) == 256, "four cache lines");

#endif
