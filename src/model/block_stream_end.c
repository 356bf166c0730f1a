/* model/block_stream_end.c - what is still there after the last event of a run. */
#include "model/block_stream_end.h"

#include <stdlib.h>

#include "model/map_rules.h"

/* An entry, to be sorted. */
struct place {
    const struct tide_life *life;
};

static int by_birth(const void *one, const void *other)
{
    const struct tide_life *const a = ((const struct place *)one)->life;
    const struct tide_life *const b = ((const struct place *)other)->life;
    return (a->id > b->id) - (a->id < b->id);
}

enum tide_status tide_stream_tell_live(const struct tide_block_watch *watch,
                                       const struct tide_lives *lives)
{
    struct place *const sorted = calloc(lives->count, sizeof(*sorted));
    size_t count = 0;
    enum tide_status status = TIDE_OK;
    if (!sorted)
        return TIDE_ENOMEM;
    for (size_t i = 1; i < lives->count; i++)
        if (lives->list[i].id)
            sorted[count++].life = &lives->list[i];
    if (count)
        qsort(sorted, count, sizeof(*sorted), by_birth);
    for (size_t i = 0; i < count && !status; i++)
        status = watch->block(watch->user, sorted[i].life, NULL);
    free(sorted);
    return status;
}

enum tide_status tide_stream_tell_parts(const struct tide_block_watch *watch,
                                        const struct tide_lives *lives,
                                        const struct tide_ranges *ranges)
{
    enum tide_status status = TIDE_OK;
    uint32_t found = tide_ranges_after(ranges, 0);
    for (; found && !status;
         found = tide_ranges_after(ranges, ranges->list[found].end)) {
        const struct tide_range *const range = &ranges->list[found];
        const struct tide_part part = {range->start, range->end};
        if (range->tag >= TIDE_TAG_COUNTED)
            status = watch->part(
                watch->user, &lives->list[range->tag - TIDE_TAG_COUNTED], part, NULL);
    }
    return status;
}
