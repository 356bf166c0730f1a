/* model/largest.c - the largest block that each stack ever made.
 *
 * The account keeps sums only.  Few ask for single blocks, so those who do pay for a walk
 * of their own.
 */
#include <stdlib.h>

#include "model/block_stream.h"
#include "model/grow.h"
#include "model/profile.h"

struct largest {
    enum tide_space space;
    uint64_t *sizes; /* owned, per node */
    size_t capacity;
};

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct largest *const largest = user;
    (void)death;
    if (life->space != (uint8_t)largest->space)
        return TIDE_OK;
    if (life->stack >= largest->capacity) {
        uint64_t *const sizes = tide_grown(largest->sizes, &largest->capacity,
                                           (size_t)life->stack + 1, sizeof(*sizes));
        if (!sizes)
            return TIDE_ENOMEM;
        largest->sizes = sizes;
    }
    if (life->size > largest->sizes[life->stack])
        largest->sizes[life->stack] = life->size;
    return TIDE_OK;
}

enum tide_status tide_largest_blocks(struct tide_model *model, enum tide_space space,
                                     const struct tide_progress *progress,
                                     uint64_t **out)
{
    struct largest largest = {.space = space};
    const struct tide_block_watch watch = {.user = &largest, .block = on_block};
    *out = NULL;
    largest.sizes = tide_grown(NULL, &largest.capacity,
                               (size_t)model->stacks.node_count + 1, sizeof(uint64_t));
    if (!largest.sizes)
        return TIDE_ENOMEM;
    const enum tide_status status = tide_block_stream(model, &watch, progress);
    if (status) {
        free(largest.sizes);
        return status;
    }
    *out = largest.sizes;
    return TIDE_OK;
}
