/* trace/module_table.c - the modules of a trace: equal ones once. */
#include "trace/module_table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#ifndef XXH_INLINE_ALL
#    define XXH_INLINE_ALL
#endif
#include <xxhash.h>

#include "base/arena.h"

enum {
    TIDE_BUILD_ID_MAX = 64, /* bytes; what is longer is cut */
    TIDE_TABLE_START = 64,
};

/* A build-id as hex. */
struct hex {
    char text[2 * TIDE_BUILD_ID_MAX + 1];
    size_t length;
};

static bool is_hex(struct tide_bytes text)
{
    for (size_t i = 0; i < text.length; i++)
        if (!isxdigit((unsigned char)text.start[i]))
            return false;
    return true;
}

static struct hex hex_of(struct tide_bytes id)
{
    static const char digits[] = "0123456789abcdef";
    struct hex hex = {.length = 0};
    if (is_hex(id)) {
        while (hex.length < id.length && hex.length < 2 * TIDE_BUILD_ID_MAX) {
            const char c = id.start[hex.length];
            hex.text[hex.length++] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        }
        return hex;
    }
    for (size_t i = 0; i < id.length && i < TIDE_BUILD_ID_MAX; i++) {
        hex.text[hex.length++] = digits[(uint8_t)id.start[i] >> 4];
        hex.text[hex.length++] = digits[(uint8_t)id.start[i] & 15];
    }
    return hex;
}

static size_t hash_module(struct tide_bytes path, struct tide_bytes build_id)
{
    const uint64_t seed = XXH3_64bits(build_id.start, build_id.length);
    return (size_t)XXH3_64bits_withSeed(path.start, path.length, seed);
}

static struct tide_bytes bytes_of(const char *text)
{
    return (struct tide_bytes){.start = text, .length = strlen(text)};
}

static bool equal(const char *text, struct tide_bytes bytes)
{
    return strlen(text) == bytes.length && !memcmp(text, bytes.start, bytes.length);
}

static enum tide_status widen(struct tide_module_table *table)
{
    const size_t size = table->slots ? (table->mask + 1) * 2 : TIDE_TABLE_START;
    uint32_t *slots = calloc(size, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    const struct tide_module *modules = table->modules.items;
    for (size_t i = 0; i < table->modules.count; i++) {
        size_t slot =
            hash_module(bytes_of(modules[i].path), bytes_of(modules[i].build_id));
        while (slots[slot & (size - 1)])
            slot++;
        slots[slot & (size - 1)] = (uint32_t)i + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->mask = size - 1;
    return TIDE_OK;
}

static enum tide_status add(struct tide_module_table *table, struct tide_arena *arena,
                            struct tide_bytes path, struct tide_bytes build_id)
{
    if (table->modules.count >= TIDE_NO_MODULE - 1)
        return TIDE_ELIMIT;
    struct tide_module *added = tide_list_add(&table->modules);
    if (!added)
        return TIDE_ENOMEM;
    added->path = tide_arena_copy(arena, path.start, path.length);
    added->build_id = tide_arena_copy(arena, build_id.start, build_id.length);
    if (added->path && added->build_id)
        return TIDE_OK;
    table->modules.count--;
    return TIDE_ENOMEM;
}

enum tide_status tide_module_table_find(struct tide_module_table *table,
                                        struct tide_arena *arena,
                                        struct tide_bytes path,
                                        struct tide_bytes build_id, uint32_t *out)
{
    if (table->modules.count * 2 >= table->mask && widen(table) != TIDE_OK)
        return TIDE_ENOMEM;
    path.length = path.length ? strnlen(path.start, path.length) : 0;
    const struct hex hex = hex_of(build_id);
    const struct tide_bytes id = {.start = hex.text, .length = hex.length};
    const struct tide_module *modules = table->modules.items;
    size_t slot = hash_module(path, id) & table->mask;
    for (; table->slots[slot]; slot = (slot + 1) & table->mask) {
        const uint32_t number = table->slots[slot] - 1;
        if (equal(modules[number].path, path) && equal(modules[number].build_id, id)) {
            *out = number;
            return TIDE_OK;
        }
    }
    const enum tide_status status = add(table, arena, path, id);
    if (status)
        return status;
    *out = (uint32_t)(table->modules.count - 1);
    table->slots[slot] = *out + 1;
    return TIDE_OK;
}
