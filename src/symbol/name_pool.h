/* symbol/name_pool.h - every name once, for as long as the pool lives.
 *
 * For: symbol/, tests/.  Functions and files are asked for again and again; equal text
 * gets the same pointer.
 */
#ifndef TIDE_SYMBOL_NAME_POOL_H
#define TIDE_SYMBOL_NAME_POOL_H

#include <stddef.h>

#include "base/arena.h"

/* A pool of all zeros is ready for use. */
struct tide_name_pool {
    struct tide_arena arena; /* also for whatever must live as long as the names */
    const char **slots;      /* owned: open addressing; NULL is free */
    size_t capacity;         /* a power of two, or 0 */
    size_t count;
};

void tide_name_pool_release(struct tide_name_pool *pool);

/* The pool's copy of TEXT; NULL without memory. */
const char *tide_name_pool_add(struct tide_name_pool *pool, const char *text);

/* TEXT demangled. */
const char *tide_name_pool_add_demangled(struct tide_name_pool *pool, const char *text);

/* PATH without doubled slashes, "/./" and "name/../" (which is a matter of looks: a
 * link may make it another file). */
const char *tide_name_pool_add_path(struct tide_name_pool *pool, const char *path);

#endif
