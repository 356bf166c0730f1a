/* trace/event.h - what a trace says, one thing at a time, decoded.
 *
 * For: trace/, model/, tests/.  The recorder writes bytes and never sees this.
 */
#ifndef TIDE_TRACE_EVENT_H
#define TIDE_TRACE_EVENT_H

#include <stdint.h>

enum tide_event_kind {
    TIDE_EVENT_ALLOC,      /* a block was born */
    TIDE_EVENT_FREE,       /* a block dies */
    TIDE_EVENT_MOVE_BEGIN, /* realloc took the block at address; its lane's next move
                              event says what became of it (the next but inner ones,
                              when a signal handler reallocates meanwhile) */
    TIDE_EVENT_MOVE_END,   /* it lives on, perhaps elsewhere, with a new size */
    TIDE_EVENT_MOVE_BACK,  /* it lives on unchanged: the call failed */
    TIDE_EVENT_MOVE_GONE,  /* it died: realloc(p, 0) */
    TIDE_EVENT_MAP,        /* a call of the mmap family; see map_call */
    TIDE_EVENT_SPAN,       /* the lane begins a new stretch between two time stamps */
    TIDE_EVENT_EXTRA,      /* anything else; see extra */
};

/* One event.  Which fields mean something depends on kind; the others are 0, or share
 * their place with one that does mean something: an event is one cache line. */
struct tide_event {
    uint8_t kind;       /* enum tide_event_kind */
    uint8_t alloc_kind; /* ALLOC, MOVE_END, EXTRA FAILED: enum tide_alloc_kind */
    uint8_t map_call;   /* MAP: enum tide_map_call */
    uint8_t extra;      /* EXTRA: enum tide_extra */
    uint8_t numbered;   /* carries a number (reader-internal) */
    union {
        uint8_t align_log2; /* alignment asked for, 0 when none was */
        uint8_t quiet;      /* MAP: its caller's mappings are not counted; the reader of
                               events sets it, see model/feed.h */
    };
    uint16_t number;  /* (reader-internal) */
    uint32_t process; /* index into the trace's processes */
    uint32_t lane;    /* index into the trace's lanes, over all processes */
    uint32_t stack;   /* node of the stack tree, 0 = no stack */
    uint64_t ticks;   /* not later than the event; the lane's last time stamp */
    union {
        uint64_t address; /* of the block (MOVE_BACK, MOVE_GONE: of the old block) */
        uint64_t value3;  /* EXTRA: third varint */
    };
    uint64_t size; /* bytes asked for; MAP: length; SPAN: bytes of all ALLOC and
                      MOVE_END in the stretch */
    union {
        uint64_t usable; /* bytes the allocator gave; SPAN: ticks at which it ends,
                            UINT64_MAX when the lane's data ends first */
        uint64_t value2; /* MAP: argument 2; EXTRA: second varint */
    };
    uint64_t value; /* MAP: argument 1; EXTRA: first varint of its payload; MOVE_END:
                       address of the old block, 0 when its MOVE_BEGIN is lost */
};
_Static_assert(sizeof(struct tide_event) == 64, "one cache line");

#endif
