/* capture/self.h - what the recorder keeps per thread in TLS, and what hooks pass on.
 *
 * For: capture/.  The TLS block is small, has no destructor and the initial-exec model:
 * touching it never allocates, from the first call of a thread to its last.
 */
#ifndef TIDE_CAPTURE_SELF_H
#define TIDE_CAPTURE_SELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tide_stream;
struct tide_trail;

/* What the recorder is doing in this thread.  A signal handler that interrupts it and
 * allocates finds this set: see "Nested events" in nested.c. */
enum tide_busy {
    TIDE_IDLE = 0,
    TIDE_WALKING = 1, /* nothing of the stream touched yet */
    TIDE_WRITING = 2, /* the stream is in between two records */
};

/* Why nobody is told of what this thread does: bits. */
enum tide_hushed {
    TIDE_HUSH_WISHED = 1,   /* tide_hush() */
    TIDE_HUSH_CALLBACK = 2, /* a callback is running: this thread is a reader */
};

struct tide_self {
    struct tide_stream
        *stream;              /* borrowed; NULL before the first event and at the end */
    struct tide_stream *torn; /* borrowed; of a hook that a fork has cut off */
    void *deleting;           /* operator delete is on its way to free this */
    uintptr_t deleting_frame; /* its frame address */
    uintptr_t new_pc;         /* caller of operator new, while new_kind is set */
    uintptr_t new_frame;      /* frame address of our operator new */
    uint64_t signal_mask;     /* what was blocked before shielded */
    uintptr_t quiet_frame; /* of the hook that set quiet; 0: the recorder itself did */
    union {
        struct {
            uint8_t busy;  /* enum tide_busy */
            uint8_t quiet; /* > 0: inside a call whose inner calls do not count */
        };
        uint16_t occupied; /* either */
        /* With the frame address of the call that set busy above them: a handler that comes
         * between two stores would leave its own. */
        uint64_t busy_word;
    };
    uint8_t ended;       /* the thread's last destructor has run */
    uint8_t shielded;    /* signals are held back, so many times over */
    uint8_t exit_rounds; /* how often the thread's destructor came by */
    uint8_t new_kind;    /* operator new calls malloc: 1 + enum tide_alloc_kind */
    uint8_t hushed;      /* enum tide_hushed */
    uint8_t closing;     /* it is in dlclose, so many times over */
    uint32_t paused;     /* this thread's allocations are not recorded, so many times */
    struct tide_trail *trail; /* borrowed; the thread's regions; NULL: it had none */
    uint64_t thread;          /* its number for windows; 0: it has none yet */
    uintptr_t asked_frame;    /* of an aligned operator new; 0: there is none */
    size_t asked;       /* for so many bytes: what is called inside is rounded up */
    uintptr_t asked_pc; /* from here that was tried in vain; 0: it was not yet */
};
_Static_assert(sizeof(struct tide_self) <= 128, "static TLS is scarce");

extern _Thread_local struct tide_self tide_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

enum { TIDE_BUSY_FRAME_SHIFT = 16 };

/* The call whose frame address is FRAME sets busy. */
static inline void tide_set_busy(struct tide_self *self, uint8_t busy, uintptr_t frame)
{
    self->busy_word =
        frame << TIDE_BUSY_FRAME_SHIFT | (uint64_t)self->quiet << 8 | busy;
}

static inline uintptr_t tide_busy_frame(const struct tide_self *self)
{
    return self->busy_word >> TIDE_BUSY_FRAME_SHIFT;
}

/* What the recorder itself calls does not count.  Put back what was, not one less: in
 * between, somebody may have found that quiet was over. */
struct tide_hush {
    uintptr_t frame;
    uint8_t quiet;
};

static inline struct tide_hush tide_hush_begin(struct tide_self *self)
{
    const struct tide_hush before = {self->quiet_frame, self->quiet};
    self->quiet_frame = 0;
    self->quiet = 1;
    return before;
}

static inline void tide_hush_end(struct tide_self *self, struct tide_hush before)
{
    self->quiet = before.quiet;
    self->quiet_frame = before.frame;
}

/* Who called a hook: where its return address points, and the hook's own frame, from
 * which the walk starts. */
struct tide_caller {
    uintptr_t pc;
    uintptr_t frame;
};

#define TIDE_CALLER                                               \
    ((struct tide_caller){(uintptr_t)__builtin_return_address(0), \
                          (uintptr_t)__builtin_frame_address(0)})

#define TIDE_LIKELY(x)   __builtin_expect(!!(x), 1)
#define TIDE_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TIDE_COLD        __attribute__((noinline, cold))
#define TIDE_HOT         static inline __attribute__((always_inline))

#endif
