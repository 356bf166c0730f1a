/* tests/soak/soak_calls.h - allocating calls that count themselves.
 *
 * Each kind of call has a wrapper of its own, which the report names, and two counts in a
 * page that all processes of a run share: one goes up before the call, one after it.  So
 * whatever kills a process, and whoever jumps out of a call, what really happened lies
 * between the two; where nobody was torn they are equal.
 */
#ifndef TIDE_SOAK_CALLS_H
#define TIDE_SOAK_CALLS_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of KINDS in soak.py. */
enum soak_kind {
    SOAK_MALLOC,
    SOAK_CALLOC,
    SOAK_REALLOC,
    SOAK_REALLOCARRAY,
    SOAK_MEMALIGN,
    SOAK_POSIX_MEMALIGN,
    SOAK_ALIGNED_ALLOC,
    SOAK_FREE,
    SOAK_MMAP,
    SOAK_MREMAP,
    SOAK_MUNMAP,
    SOAK_HANDLER_MMAP,
    SOAK_LIBRARY_ONE,
    SOAK_LIBRARY_TWO,
    SOAK_KINDS
};

/* What a thread is doing, for the handler that interrupts it. */
struct soak_thread {
    uint64_t dice;
    volatile bool at_ease;  /* in a place of the program where anything is allowed */
    volatile int in_call;   /* within a wrapper: the allocator may be interrupted */
    volatile int in_outer;  /* the same, of calls that allocators make of inner ones */
    volatile bool may_jump; /* back is set */
    void *volatile held;    /* slot that a jump would leave locked */
    sigjmp_buf back;
};
extern _Thread_local struct soak_thread soak_me;

/* Goes up in a child that a handler forked: its thread may stand within a call that it
 * never began. */
extern volatile int soak_copies;
/* The allocator may be interrupted by itself: handlers need no care, except that what
 * they do while in_outer looks like an inner call, and is not recorded. */
extern bool soak_wild;

/* Map the page of counts; false: it cannot be had. */
bool soak_counts_open(const char *path);

void *soak_malloc(size_t size);
void soak_free(void *block);
void soak_handler_mmap(size_t bytes);
/* MAKE allocates SIZE bytes, once: a call of KIND, within a library. */
void *soak_library(enum soak_kind kind, void *(*make)(size_t), size_t size);

uint64_t soak_roll(uint64_t *dice, uint64_t sides);
/* One random call on blocks and maps that all threads share. */
void soak_step(void);
/* A jump has left a call: put things right. */
void soak_landed(void);

#endif
