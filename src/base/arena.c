/* base/arena.c - memory that is given back all at once.
 *
 * Blocks come from calloc, so that what is handed out is zero without a pass over it.
 * A request larger than a quarter of a block gets a block of its own, which is put
 * behind the newest one: so the room left there is not wasted.
 *
 * Invariant: used <= size in every block; only the newest block is taken from.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIDE_ARENA_ALIGN = 16,
    TIDE_ARENA_FIRST = 4096,         /* small arenas stay small ... */
    TIDE_ARENA_LARGEST = 256 * 1024, /* ... large ones ask seldom */
};

struct tide_arena_block {
    _Alignas(16) struct tide_arena_block *next;
    size_t size; /* of data */
    size_t used; /* of data; a multiple of TIDE_ARENA_ALIGN */
    _Alignas(16) unsigned char data[];
};

void tide_arena_release(struct tide_arena *arena)
{
    struct tide_arena_block *block = arena->blocks;
    while (block) {
        struct tide_arena_block *const next = block->next;
        free(block);
        block = next;
    }
    *arena = (struct tide_arena){0};
}

static struct tide_arena_block *new_block(struct tide_arena *arena, size_t size)
{
    struct tide_arena_block *const block = calloc(1, sizeof(*block) + size);
    if (!block)
        return NULL;
    block->size = size;
    arena->bytes += sizeof(*block) + size;
    return block;
}

static void *take_alone(struct tide_arena *arena, size_t size)
{
    struct tide_arena_block *const block = new_block(arena, size);
    if (!block)
        return NULL;
    block->used = size;
    struct tide_arena_block **const link =
        arena->blocks ? &arena->blocks->next : &arena->blocks;
    block->next = *link;
    *link = block;
    return block->data;
}

/* Each block doubles the one before it, within bounds. */
static size_t next_size(const struct tide_arena *arena)
{
    const size_t wanted = arena->blocks ? arena->blocks->size * 2 : TIDE_ARENA_FIRST;
    if (wanted < TIDE_ARENA_FIRST)
        return TIDE_ARENA_FIRST;
    return wanted > TIDE_ARENA_LARGEST ? TIDE_ARENA_LARGEST : wanted;
}

void *tide_arena_take(struct tide_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + TIDE_ARENA_ALIGN - 1) & ~(size_t)(TIDE_ARENA_ALIGN - 1);
    if (size == 0)
        size = TIDE_ARENA_ALIGN;

    struct tide_arena_block *block = arena->blocks;
    if (!block || size > block->size - block->used) {
        const size_t fresh = next_size(arena);
        if (size > fresh / 4)
            return take_alone(arena, size);
        block = new_block(arena, fresh);
        if (!block)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *const place = block->data + block->used;
    block->used += size;
    return place;
}

char *tide_arena_copy(struct tide_arena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *const copy = tide_arena_take(arena, length + 1);
    if (copy && length > 0)
        memcpy(copy, text, length);
    return copy;
}
