/* query/shapes.h - what programs say of the arrays in their blocks.
 *
 * For: query/.  A shape comes in parts after the label it belongs to, and goes with the
 * next label of the same place.
 */
#ifndef TIDE_QUERY_SHAPES_H
#define TIDE_QUERY_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/pairs.h"
#include "query/value.h"
#include "trace/event.h"

enum { TIDE_SHAPE_EXTENTS = 8 };

struct tide_shape {
    uint64_t element_bytes; /* 0: there is none */
    uint64_t extents[TIDE_SHAPE_EXTENTS];
    uint32_t dimensions;
    uint32_t text; /* 0: not made yet */
};

/* All zeros is ready for use. */
struct tide_shapes {
    struct tide_pairs places; /* (process, address) */
    struct tide_shape *list;  /* owned: of each place */
    size_t capacity;
};

void tide_shapes_release(struct tide_shapes *shapes);
/* EVENT is a LABEL or a part of a SHAPE. */
enum tide_status tide_shapes_mark(struct tide_shapes *shapes,
                                  const struct tide_event *event);
/* The shape of what is at ADDRESS: number + 1; 0: it has none. */
uint32_t tide_shapes_at(const struct tide_shapes *shapes, uint32_t process,
                        uint64_t address);
/* "[30][30] of 8" as a text of NAMES. */
uint32_t tide_shape_text(struct tide_shape *shape, struct tide_names *names);

#endif
