/* model/intern.c - equal strings become one string.
 */
#include "model/intern.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { TIDE_INTERN_FIRST = 256 }; /* slots; a power of two */

void tide_intern_release(struct tide_intern *intern)
{
    free(intern->slots);
    *intern = (struct tide_intern){0};
}

/* The slot that holds TEXT, or the empty one where it would be. */
static const char **find(const struct tide_intern *intern, const char *text,
                         size_t length)
{
    size_t at = XXH3_64bits(text, length) & intern->mask;
    while (intern->slots[at] && strcmp(intern->slots[at], text) != 0)
        at = (at + 1) & intern->mask;
    return &intern->slots[at];
}

static int widen(struct tide_intern *intern)
{
    const size_t old_slots = intern->slots ? intern->mask + 1 : 0;
    const size_t slots = old_slots ? old_slots * 2 : TIDE_INTERN_FIRST;
    struct tide_intern wider = {.mask = slots - 1, .count = intern->count};
    wider.slots = calloc(slots, sizeof(*wider.slots));
    if (!wider.slots)
        return 0;
    for (size_t i = 0; i < old_slots; i++) {
        const char *const text = intern->slots[i];
        if (text)
            *find(&wider, text, strlen(text)) = text;
    }
    free(intern->slots);
    *intern = wider;
    return 1;
}

const char *tide_intern(struct tide_intern *intern, struct tide_arena *arena,
                        const char *text)
{
    if (!intern->slots || intern->count >= (intern->mask + 1) / 2) {
        if (!widen(intern))
            return NULL;
    }
    const size_t length = strlen(text);
    const char **const slot = find(intern, text, length);
    if (!*slot) {
        *slot = tide_arena_copy(arena, text, length);
        if (*slot)
            intern->count++;
    }
    return *slot;
}
