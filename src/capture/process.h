/* capture/process.h - the recorder's state in this process.
 *
 * For: capture/.  Two parts.  tide_process is in MADV_WIPEONFORK memory, so that a forked
 * child starts with zeros whatever its parent's other threads were doing; tide_session is
 * plain and survives fork, since the mappings it names do too.
 */
#ifndef TIDE_CAPTURE_PROCESS_H
#define TIDE_CAPTURE_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/name_table.h"
#include "capture/stream.h"
#include "trace/ring.h"

enum {
    TIDE_MODULES_MAX = 4096, /* loaded ELF files known at a time */
};

/* Written with the lock held, read without. */
struct tide_known_module {
    _Atomic uint32_t number; /* id in notes + 1, never used twice; 0: it is gone */
    _Atomic uint64_t start, end;
    _Atomic(const void *) map; /* the loader's */
    _Atomic uint64_t first;    /* epoch from which on it is told */
    uint64_t last;             /* when it is gone: epoch up to which it was */
};

struct tide_process_state {
    uint32_t pid;                     /* 0: just forked, or not started */
    uint64_t birth;                   /* ticks; with pid it names the process */
    uint32_t mortal;                  /* as in session.h; not of children */
    _Atomic uint32_t lock;            /* guards everything below that is not atomic */
    _Atomic uint32_t late_lock;       /* guards late_stream */
    _Atomic uint32_t off;             /* recording has stopped in this process for good:
                                    1 + enum tide_drop, why */
    _Atomic uint32_t crowded;         /* there was no lane for a thread */
    _Atomic uint32_t multi;           /* a second thread was seen: slots are counted */
    _Atomic uint32_t unordered;       /* the same, but there are no slots to be had */
    _Atomic uint64_t epoch;           /* of modules: advanced when one was unloaded */
    _Atomic uint32_t lanes;           /* numbers given out */
    struct tide_stream *streams;      /* all, newest first */
    struct tide_stream *free_streams; /* of ended threads */
    _Atomic uint32_t streams_looked_at; /* of those in stream_memory.c */
    struct tide_stream *notes_stream;   /* uses ring and shared only */
    struct tide_stream *late_stream;
    _Atomic uint32_t module_count;
    uint32_t next_module_id;
    struct tide_known_module modules[TIDE_MODULES_MAX];
    _Atomic uint64_t names_told[TIDE_NAMES_MAX / 64];      /* a bit for each number */
    _Atomic uint64_t attributes_told[TIDE_NAMES_MAX / 16]; /* four, one for each type */
    _Atomic uint64_t mapped_bytes; /* private memory the recorder holds */
    uint64_t order_bytes; /* of that, the order table: reserved, touched in part */
};

/* Where the recorder stands.  Only ever rises, but for fork: a child is ON again. */
enum tide_phase {
    TIDE_PHASE_EARLY = 0, /* before the constructor: events are kept in a buffer */
    TIDE_PHASE_ON = 1,
    TIDE_PHASE_INERT = 2, /* not recorded: hooks only forward */
};

extern struct tide_process_state *tide_process;
extern uint32_t tide_processors; /* that the program could run on when it began */
extern _Atomic uint64_t tide_fixed_bytes; /* kept over fork: beside mapped_bytes */
extern _Atomic uint32_t tide_phase;

/* Count the processors.  Called once, at start. */
void tide_process_see_processors(void);

/* Hold signals back until as many calls of tide_unshield().  A handler may leave by
 * longjmp, so nothing that must be finished may be interrupted: locks, a ring that moves
 * on, a wait for the collector. */
void tide_shield(void) TIDE_COLD;
void tide_unshield(void) TIDE_COLD;

/* For cold paths only, with self->busy set.  Shields. */
void tide_lock(_Atomic uint32_t *lock) TIDE_COLD;
void tide_unlock(_Atomic uint32_t *lock) TIDE_COLD;

/* Zeroed private memory that a forked child finds zeroed again, for ever, in pages of the
 * usual size, since it is touched here and there; NULL on failure.  Who uses it adds it to
 * mapped_bytes, in each process. */
void *tide_private_memory(uint64_t bytes);
/* The same for what forked children go on with as it is; counted. */
void *tide_lasting_memory(uint64_t bytes);
void tide_lasting_release(void *memory, uint64_t bytes);

/* Begin recording in this process (first start, or first event after fork).  Call with
 * busy set; false: not recorded. */
bool tide_process_begin(void) TIDE_COLD;

/* Stop recording for good, in all threads: the collector is gone, as WHY says. */
void tide_process_stop(enum tide_drop why) TIDE_COLD;

/* The same, and for children forked from now on; the collector is well. */
void tide_process_end(void) TIDE_COLD;

/* An event was lost that no stream can count: because recording has stopped, or else for
 * the reason WHY. */
void tide_process_drop(enum tide_drop why) TIDE_COLD;
/* Why recording has stopped in this process. */
enum tide_drop tide_process_off_reason(void) TIDE_COLD;

/* It is about to end, at TICKS; 0: it is not. */
void tide_process_leaves(uint64_t ticks) TIDE_COLD;

/* Take a note for the collector: KIND, then the bytes at PAYLOAD.  Locks. */
void tide_process_note(uint64_t kind, const uint8_t *payload, uint32_t bytes) TIDE_COLD;
/* The same for callers who hold the lock. */
void tide_process_note_locked(uint64_t kind, const uint8_t *payload,
                              uint32_t bytes) TIDE_COLD;

/* The collector knows NAME, or is told now (locks).  Its number; 0 for NULL. */
uint32_t tide_process_tell_name_now(const struct tide_name *name) TIDE_COLD;
static inline uint32_t tide_process_tell_name(const struct tide_name *name)
{
    if (TIDE_UNLIKELY(!name))
        return 0;
    const uint64_t told = atomic_load_explicit(
        &tide_process->names_told[(name->id - 1) / 64], memory_order_relaxed);
    if (TIDE_LIKELY(told >> (name->id - 1) % 64 & 1))
        return name->id;
    return tide_process_tell_name_now(name);
}

/* The collector knows that NAME, which it knows, has values of TYPE, or is told now. */
void tide_process_tell_attribute(const struct tide_name *name, uint64_t type) TIDE_COLD;

#endif
