/* view/export_trail.h - all branches of a call tree, one after the other.
 *
 * For: view/, tests/.
 *
 *     struct tide_trail trail = {0};
 *     while (tide_trail_next(&trail, rows))
 *         ... trail.rows[0] is the outermost caller, trail.rows[trail.depth - 1] the row
 *     if (trail.failed) ...
 *     tide_trail_release(&trail);
 */
#ifndef TIDE_VIEW_EXPORT_TRAIL_H
#define TIDE_VIEW_EXPORT_TRAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* All zeros begin a walk. */
struct tide_trail {
    uint32_t *rows; /* owned */
    size_t depth, capacity;
    bool begun, failed;
};

/* On to the next row of the tree, callers before those they call; false after the last,
 * or without memory. */
bool tide_trail_next(struct tide_trail *trail, const struct tide_rows *rows);
void tide_trail_release(struct tide_trail *trail);

#endif
