/* capture/allocator_calls.h - a call of what an allocator offers beside malloc.
 *
 * For: hooks_allocators.c.
 */
#ifndef TIDE_CAPTURE_ALLOCATOR_CALLS_H
#define TIDE_CAPTURE_ALLOCATOR_CALLS_H

#include <stdint.h>

#include "capture/self.h"

enum { TIDE_ARGUMENTS = 6 };
typedef long tide_allocator_function(long a, long b, long c, long d, long e, long f);

enum tide_allocator_shape {
    TIDE_GIVES,        /* returns a block */
    TIDE_GIVES_STRING, /* returns a string in a block */
    TIDE_GIVES_WIDE,   /* the same, of 16-bit characters */
    TIDE_FILLS,        /* stores a block where `old` points and returns 0 */
    TIDE_FILLS_STRING, /* the same with a string, or with NULL */
    TIDE_MOVES,        /* returns the block that `old` becomes */
    TIDE_MOVES_IN,     /* moves the block that `old` points to, and returns 0 */
    TIDE_RESIZES,      /* returns `old`, or NULL where it cannot grow */
    TIDE_XALLOCX,      /* the same, but returns its usable size */
    TIDE_TAKES,        /* frees `old` */
    TIDE_WRAPS,        /* neither, but inside it calls others of these */
    TIDE_DESTROYS,     /* frees all of the heap `old` */
    TIDE_ASKS, /* returns the usable size of `old`, or of a block of `size` bytes */
};

/* Which functions tell the usable size of a block. */
enum tide_allocator {
    TIDE_JEMALLOC,
    TIDE_JE_PREFIXED,
    TIDE_TCMALLOC,
    TIDE_MIMALLOC,
    TIDE_FAMILIES
};

/* A function.  Its arguments by place: 1 is the first, 0: it has none of these. */
struct tide_allocator_call {
    const char *name;
    uint8_t shape;  /* enum tide_allocator_shape */
    uint8_t family; /* enum tide_allocator */
    uint8_t kind;   /* enum tide_alloc_kind */
    uint8_t old, count, size, align, flags;
};

/* CALLER calls it with these arguments.  CACHE is the hook's, static. */
long tide_allocator_call(const struct tide_allocator_call *call, void *_Atomic *cache,
                         struct tide_caller caller,
                         const long argument[TIDE_ARGUMENTS]);

#endif
