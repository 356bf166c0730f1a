/* model/process_peaks.c - what each process of a run held at most, by itself. */
#include "model/process_peaks.h"

#include <stdlib.h>

#include "model/block_stream.h"

struct walk {
    struct tide_process_peaks *peaks;
    bool *hidden; /* owned, per node of stacks: its blocks do not count as left */
    size_t hidden_count;
};

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    const struct walk *const walk = user;
    if (!death && life->space == TIDE_IN_HEAP && life->stack < walk->hidden_count &&
        walk->hidden[life->stack])
        walk->peaks->list[life->process].last_bytes -= life->left;
    return TIDE_OK;
}

static enum tide_status on_level(void *user, const struct tide_level *level)
{
    struct tide_process_peaks *const peaks = ((struct walk *)user)->peaks;
    struct tide_process_peak *const peak = &peaks->list[level->process];
    if (level->space != peaks->space)
        return TIDE_OK;
    peak->last_bytes = level->bytes;
    if (level->bytes > peak->bytes) {
        peak->bytes = level->bytes;
        peak->ticks = level->ticks;
    }
    return TIDE_OK;
}

static int highest_first(const void *one, const void *other)
{
    const struct tide_process_peak *const a = one;
    const struct tide_process_peak *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->process > b->process) - (a->process < b->process);
}

enum tide_status tide_process_peaks_find(struct tide_model *model,
                                         enum tide_space space,
                                         const struct tide_suppressions *suppressed,
                                         struct tide_process_peaks *out)
{
    const size_t processes = model->trace->process_count;
    *out = (struct tide_process_peaks){.space = space};
    out->list = calloc(processes + 1, sizeof(*out->list));
    if (!out->list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < processes; i++)
        out->list[i].process = (uint32_t)i;
    struct walk walk = {.peaks = out};
    enum tide_status status = TIDE_OK;
    if (space == TIDE_IN_HEAP)
        status =
            tide_suppressed_stacks(model, suppressed, &walk.hidden, &walk.hidden_count);
    const struct tide_block_watch watch = {
        .user = &walk, .level = on_level, .block = walk.hidden ? on_block : NULL};
    if (!status)
        status = tide_block_stream(model, &watch, NULL);
    free(walk.hidden);
    qsort(out->list, processes, sizeof(*out->list), highest_first);
    while (!status && out->count < processes && out->list[out->count].bytes)
        out->count++;
    return status;
}

void tide_process_peaks_release(struct tide_process_peaks *peaks)
{
    free(peaks->list);
    *peaks = (struct tide_process_peaks){0};
}
