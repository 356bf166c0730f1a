/* model/diff_places.h - where the calls of one row of stacks are.
 *
 * For: view/, tests/.  A node of the diff joins all stacks that go through it, and a
 * function on their way to several places has a line for each.  What a row of stacks
 * shows are the lines of its own stacks; where these have several too, that which changed
 * most, as everywhere in a diff (see diff_lines.c).
 */
#ifndef TIDE_MODEL_DIFF_PLACES_H
#define TIDE_MODEL_DIFF_PLACES_H

#include "model/diff.h"

struct tide_diff_place {
    const char *file; /* NULL when unknown */
    uint32_t line;
};

struct tide_diff_places {
    const struct tide_diff *diff; /* borrowed */
    struct tide_diff_place
        *list; /* owned: of the node asked for last, innermost first */
    size_t count, capacity;
    struct tide_paths paths[TIDE_SIDES];
    struct tide_diff_lines lines; /* of that node's calls */
    uint32_t *heads;              /* owned: per call, the first of them (+ 1) */
    size_t head_capacity;
};

/* Release it even when it fails. */
enum tide_status tide_diff_places_init(struct tide_diff_places *places,
                                       const struct tide_diff *diff);
void tide_diff_places_release(struct tide_diff_places *places);

/* Put the calls of the stacks that end in NODE into places->list. */
enum tide_status tide_diff_places_find(struct tide_diff_places *places, uint32_t node);

#endif
