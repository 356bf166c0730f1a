/* query/ends.c - processes in the order in which they ended. */
#include "query/ends.h"

#include <stdlib.h>

static int by_ticks(const void *one, const void *other)
{
    const struct tide_ending *const a = one;
    const struct tide_ending *const b = other;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

enum tide_status tide_ends_init(struct tide_ends *ends, const struct tide_trace *trace)
{
    ends->list = calloc(trace->process_count + 1, sizeof(*ends->list));
    if (!ends->list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (process->ended && process->end_ticks)
            ends->list[ends->count++] =
                (struct tide_ending){process->end_ticks, (uint32_t)i};
    }
    qsort(ends->list, ends->count, sizeof(*ends->list), by_ticks);
    return TIDE_OK;
}

void tide_ends_release(struct tide_ends *ends)
{
    free(ends->list);
    *ends = (struct tide_ends){0};
}
