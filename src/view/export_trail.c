/* view/export_trail.c - all branches of a call tree, one after the other.
 *
 * Without recursion: a stack may be as deep as a trace claims.
 */
#include "view/export_trail.h"

#include <stdlib.h>

enum { TIDE_TRAIL_FIRST = 64 };

void tide_trail_release(struct tide_trail *trail)
{
    free(trail->rows);
    *trail = (struct tide_trail){0};
}

static bool push(struct tide_trail *trail, uint32_t row)
{
    if (trail->depth == trail->capacity) {
        const size_t wider = trail->capacity ? trail->capacity * 2 : TIDE_TRAIL_FIRST;
        uint32_t *const rows = realloc(trail->rows, wider * sizeof(*rows));
        if (!rows) {
            trail->failed = true;
            return false;
        }
        trail->rows = rows;
        trail->capacity = wider;
    }
    trail->rows[trail->depth++] = row;
    return true;
}

bool tide_trail_next(struct tide_trail *trail, const struct tide_rows *rows)
{
    if (trail->begun && trail->depth == 0)
        return false;
    const uint32_t here = trail->begun ? trail->rows[trail->depth - 1] : 0;
    trail->begun = true;
    if (rows->tree_count > 0 && rows->tree[here].first_child)
        return push(trail, rows->tree[here].first_child);
    while (trail->depth > 0) {
        const uint32_t next = rows->tree[trail->rows[--trail->depth]].next;
        if (next)
            return push(trail, next);
    }
    return false;
}
