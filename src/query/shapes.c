/* query/shapes.c - what programs say of the arrays in their blocks. */
#include "query/shapes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "model/grow.h"
#include "trace/format.h"

void tide_shapes_release(struct tide_shapes *shapes)
{
    tide_pairs_release(&shapes->places);
    free(shapes->list);
    *shapes = (struct tide_shapes){0};
}

enum tide_status tide_shapes_mark(struct tide_shapes *shapes,
                                  const struct tide_event *event)
{
    const struct tide_pair place = {event->process, event->value};
    const uint32_t known = tide_pairs_known(&shapes->places, place);
    uint32_t number;
    if (event->extra == TIDE_EXTRA_LABEL) {
        if (known)
            shapes->list[known - 1] = (struct tide_shape){0};
        return TIDE_OK;
    }
    if (tide_pairs_find(&shapes->places, place, &number))
        return TIDE_ENOMEM;
    struct tide_shape *const list =
        tide_grown(shapes->list, &shapes->capacity, (size_t)number + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    shapes->list = list;
    const uint64_t part = event->value2;
    if (part == 0) {
        list[number] = (struct tide_shape){.element_bytes = event->value3};
    } else if (part <= TIDE_SHAPE_EXTENTS) {
        list[number].extents[part - 1] = event->value3;
        list[number].dimensions = (uint32_t)part;
        list[number].text = 0;
    }
    return TIDE_OK;
}

uint32_t tide_shapes_at(const struct tide_shapes *shapes, uint32_t process,
                        uint64_t address)
{
    const uint32_t known =
        tide_pairs_known(&shapes->places, (struct tide_pair){process, address});
    return known && shapes->list[known - 1].element_bytes ? known : 0;
}

uint32_t tide_shape_text(struct tide_shape *shape, struct tide_names *names)
{
    struct tide_text text = {0};
    if (shape->text)
        return shape->text;
    for (uint32_t i = 0; i < shape->dimensions; i++)
        tide_text_addf(&text, "[%" PRIu64 "]", shape->extents[i]);
    tide_text_addf(&text, " of %" PRIu64, shape->element_bytes);
    shape->text = tide_names_text(names, text.bytes);
    tide_text_release(&text);
    return shape->text;
}
