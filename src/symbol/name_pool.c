/* symbol/name_pool.c - every name once, for as long as the pool lives. */
#include "symbol/name_pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbolizer.h"

enum { TIDE_NAME_POOL_FIRST = 256 };

void tide_name_pool_release(struct tide_name_pool *pool)
{
    tide_arena_release(&pool->arena);
    free(pool->slots);
    *pool = (struct tide_name_pool){0};
}

/* FNV-1a. */
static uint64_t hash_text(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 0x100000001b3u;
    return hash ^ (hash >> 32);
}

/* Where TEXT is, or the free slot where it belongs. */
static const char **slot_of(const char **slots, size_t capacity, const char *text)
{
    size_t at = (size_t)hash_text(text) & (capacity - 1);
    while (slots[at] && strcmp(slots[at], text) != 0)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct tide_name_pool *pool)
{
    const size_t capacity = pool->capacity ? pool->capacity * 2 : TIDE_NAME_POOL_FIRST;
    const char **const slots = calloc(capacity, sizeof(*slots));
    if (!slots)
        return false;
    for (size_t i = 0; i < pool->capacity; i++) {
        if (pool->slots[i])
            *slot_of(slots, capacity, pool->slots[i]) = pool->slots[i];
    }
    free(pool->slots);
    pool->slots = slots;
    pool->capacity = capacity;
    return true;
}

const char *tide_name_pool_add(struct tide_name_pool *pool, const char *text)
{
    if (pool->count >= pool->capacity / 2 && !grow(pool))
        return NULL;
    const char **const slot = slot_of(pool->slots, pool->capacity, text);
    if (!*slot) {
        *slot = tide_arena_copy(&pool->arena, text, strlen(text));
        if (*slot)
            pool->count++;
    }
    return *slot;
}

const char *tide_name_pool_add_demangled(struct tide_name_pool *pool, const char *text)
{
    char *const demangled = tide_demangle(text);
    if (!demangled)
        return NULL;
    const char *const name = tide_name_pool_add(pool, demangled);
    free(demangled);
    return name;
}

/* Where the last component of the LENGTH bytes at CLEAN begins, or LENGTH when ".."
 * cannot take one away: there is none, or it is itself "..". */
static size_t last_component(const char *clean, size_t length)
{
    size_t begin = length;
    while (begin > 0 && clean[begin - 1] != '/')
        begin--;
    const size_t size = length - begin;
    const bool up = size == 2 && memcmp(clean + begin, "..", 2) == 0;
    return size == 0 || up ? length : begin;
}

/* Copy PATH to CLEAN, which has room for all of it, component by component. */
static void tidy_path(const char *path, char *clean)
{
    const size_t root = path[0] == '/' ? 1 : 0;
    size_t length = 0;
    if (root)
        clean[length++] = '/';

    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        const size_t size = strcspn(at, "/");
        const size_t end = length > root ? length - 1 : length; /* without its slash */
        if (size == 2 && memcmp(at, "..", 2) == 0 && last_component(clean, end) < end) {
            length = last_component(clean, end);
        } else if (size > 0 && !(size == 1 && *at == '.')) {
            memmove(clean + length, at, size);
            length += size;
            clean[length++] = '/';
        }
        at += size;
    }
    clean[length > root ? length - 1 : length] = '\0';
}

const char *tide_name_pool_add_path(struct tide_name_pool *pool, const char *path)
{
    char *const clean = malloc(strlen(path) + 2);
    if (!clean)
        return NULL;
    tidy_path(path, clean);
    const char *const name = tide_name_pool_add(pool, clean);
    free(clean);
    return name;
}
