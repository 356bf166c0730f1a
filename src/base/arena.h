/* base/arena.h - memory that is given back all at once.
 *
 * For: everything but capture/.  Not thread-safe.  What an arena hands out is aligned
 * to 16 bytes and dies with it.
 */
#ifndef TIDE_BASE_ARENA_H
#define TIDE_BASE_ARENA_H

#include <stddef.h>

struct tide_arena {
    struct tide_arena_block *blocks; /* owned: newest first */
    size_t bytes;                    /* taken from the system, all blocks */
};

/* An arena of all zeros is ready for use. */
void tide_arena_release(struct tide_arena *arena);

/* SIZE bytes of zeros; NULL without memory. */
void *tide_arena_take(struct tide_arena *arena, size_t size);
/* A copy of the LENGTH bytes at TEXT, with a zero after them; NULL without memory. */
char *tide_arena_copy(struct tide_arena *arena, const char *text, size_t length);

#endif
