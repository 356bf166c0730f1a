/* model/passages.c - from where blocks are made to where they are freed.
 */
#include "model/passages.h"

#include <stdlib.h>
#include <string.h>

#include "model/block_stream.h"
#include "model/grow.h"
#include "model/pairs.h"

struct gathering {
    const struct tide_model *model;
    struct tide_pairs pairs;   /* (made, freed) of each passage */
    struct tide_passage *list; /* owned */
    size_t capacity;
};

bool tide_passages_recorded(const struct tide_trace *trace)
{
    return trace->options && strstr(trace->options, "free-stacks") != NULL;
}

/* Did LIFE begin and end in the part of the run that the model is of? */
static bool counts(const struct tide_model *model, const struct tide_life *life,
                   const struct tide_death *death)
{
    const struct tide_trace *const trace = model->trace;
    if (model->from_s > 0 &&
        tide_trace_seconds(trace, life->birth_ticks) < model->from_s)
        return false;
    return !model->stopped || tide_trace_seconds(trace, death->ticks) <= model->until_s;
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct gathering *const all = user;
    uint32_t number;
    if (!death || death->moved_to || !death->stack || life->space != TIDE_IN_HEAP ||
        !counts(all->model, life, death))
        return TIDE_OK;
    const struct tide_pair pair = {life->stack, death->stack};
    const enum tide_status status = tide_pairs_find(&all->pairs, pair, &number);
    if (status)
        return status;
    struct tide_passage *const list =
        tide_grown(all->list, &all->capacity, (size_t)number + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    all->list = list;
    struct tide_passage *const passage = &list[number];
    passage->made = life->stack;
    passage->freed = death->stack;
    passage->blocks++;
    passage->bytes += life->size;
    if (death->ticks > life->birth_ticks)
        passage->life_s += tide_trace_seconds(all->model->trace, death->ticks) -
                           tide_trace_seconds(all->model->trace, life->birth_ticks);
    return TIDE_OK;
}

static int by_weight(const void *one, const void *other)
{
    const struct tide_passage *const a = one;
    const struct tide_passage *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks ? 1 : -1;
    if (a->made != b->made)
        return a->made > b->made ? 1 : -1;
    return (a->freed > b->freed) - (a->freed < b->freed);
}

enum tide_status tide_passages_build(struct tide_model *model,
                                     const struct tide_progress *progress,
                                     struct tide_passages **out)
{
    struct gathering all = {.model = model, .pairs.seed = model->stacks.seed};
    const struct tide_block_watch watch = {.user = &all, .block = on_block};
    *out = NULL;
    struct tide_passages *const passages = calloc(1, sizeof(*passages));
    if (!passages)
        return TIDE_ENOMEM;
    const enum tide_status status = tide_block_stream(model, &watch, progress);
    passages->list = all.list;
    passages->count = status ? 0 : all.pairs.count;
    tide_pairs_release(&all.pairs);
    if (status) {
        tide_passages_free(passages);
        return status;
    }
    if (passages->count)
        qsort(passages->list, passages->count, sizeof(*passages->list), by_weight);
    for (size_t i = 0; i < passages->count; i++) {
        passages->blocks += passages->list[i].blocks;
        passages->bytes += passages->list[i].bytes;
    }
    *out = passages;
    return TIDE_OK;
}

void tide_passages_free(struct tide_passages *passages)
{
    if (!passages)
        return;
    free(passages->list);
    free(passages);
}
