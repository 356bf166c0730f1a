/* model/intern.h - equal strings become one string.
 *
 * For: model/, tests/.  So names are compared by pointer, and a function that stands in
 * ten thousand frames is stored once.
 */
#ifndef TIDE_MODEL_INTERN_H
#define TIDE_MODEL_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* All zeros is ready for use. */
struct tide_intern {
    const char **slots; /* owned; the strings are in the arena */
    size_t mask, count;
};

void tide_intern_release(struct tide_intern *intern);

/* The one copy of TEXT, in ARENA (the same one at every call); NULL without memory. */
const char *tide_intern(struct tide_intern *intern, struct tide_arena *arena,
                        const char *text);

#endif
