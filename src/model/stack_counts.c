/* model/stack_counts.c - what each stack did to the heap.
 */
#include "model/stack_counts.h"

#include <stdlib.h>

#include "model/block_stream.h"
#include "model/grow.h"

struct walk {
    struct tide_stack_counts *counts;
    uint32_t process;
    uint64_t live, peak; /* bytes of all stacks */
    uint64_t mark;       /* how many new peaks there were, + 1 */
};

/* COUNT is about to change: what it held at the last peak is what it holds still, unless it
 * has changed since. */
static void remember(const struct walk *walk, struct tide_stack_count *count)
{
    if (count->peak_mark == walk->mark)
        return;
    count->peak_mark = walk->mark;
    count->peak_blocks = count->live_blocks;
    count->peak_bytes = count->live_bytes;
}

static struct tide_stack_count *count_of(const struct walk *walk,
                                         const struct tide_life *life)
{
    const bool other =
        walk->process != TIDE_ALL_PROCESSES && life->process != walk->process;
    return life->space != TIDE_IN_HEAP || other || life->stack >= walk->counts->count
               ? NULL
               : &walk->counts->of[life->stack];
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t lane)
{
    struct walk *const walk = user;
    struct tide_stack_count *const count = count_of(walk, life);
    (void)lane;
    if (!count)
        return TIDE_OK;
    remember(walk, count);
    count->calls++;
    count->bytes += life->size;
    count->live_blocks++;
    count->live_bytes += life->size;
    if (count->largest < life->size)
        count->largest = life->size;
    if (count->high_bytes < count->live_bytes)
        count->high_bytes = count->live_bytes;
    walk->live += life->size;
    if (walk->live > walk->peak) {
        walk->peak = walk->live;
        walk->mark++;
    }
    return TIDE_OK;
}

static enum tide_status keep(struct tide_stack_counts *counts,
                             const struct tide_life *life)
{
    struct tide_live_block *const blocks =
        tide_grown(counts->blocks, &counts->block_capacity, counts->block_count + 1,
                   sizeof(*blocks));
    if (!blocks)
        return TIDE_ENOMEM;
    counts->blocks = blocks;
    blocks[counts->block_count++] =
        (struct tide_live_block){life->address, life->size, life->stack};
    return TIDE_OK;
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct walk *const walk = user;
    struct tide_stack_count *const count = count_of(walk, life);
    if (!count)
        return TIDE_OK;
    if (!death)
        return keep(walk->counts, life);
    remember(walk, count);
    count->live_blocks--;
    count->live_bytes -= life->size;
    walk->live -= life->size;
    return TIDE_OK;
}

/* Blocks by node, in the order in which they came. */
static enum tide_status sort_blocks(struct tide_stack_counts *counts)
{
    struct tide_live_block *const sorted =
        calloc(counts->block_count + 1, sizeof(*sorted));
    size_t *const next = calloc((size_t)counts->count + 1, sizeof(*next));
    size_t before = 0;
    if (!sorted || !next) {
        free(sorted);
        free(next);
        return TIDE_ENOMEM;
    }
    for (uint32_t i = 0; i < counts->count; i++) {
        counts->of[i].first_block = next[i] = before;
        before += counts->of[i].live_blocks;
    }
    for (size_t i = 0; i < counts->block_count; i++)
        sorted[next[counts->blocks[i].stack]++] = counts->blocks[i];
    free(next);
    free(counts->blocks);
    counts->blocks = sorted;
    return TIDE_OK;
}

/* Of one process: who has not changed since the peak. */
static void remember_all(const struct walk *walk)
{
    for (uint32_t i = 0; i < walk->counts->count; i++)
        remember(walk, &walk->counts->of[i]);
}

/* Of all processes what stood at the watermark is known. */
static void take_watermark(const struct tide_model *model,
                           struct tide_stack_counts *counts)
{
    for (uint32_t i = 0; i < counts->count; i++)
        counts->of[i].peak_blocks = counts->of[i].peak_bytes = 0;
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        if (site->space != TIDE_IN_HEAP || site->stack >= counts->count ||
            site->peak_bytes < 0 || site->peak_blocks < 0)
            continue;
        counts->of[site->stack].peak_blocks = (uint64_t)site->peak_blocks;
        counts->of[site->stack].peak_bytes = (uint64_t)site->peak_bytes;
    }
}

enum tide_status tide_stack_counts_build(struct tide_model *model, uint32_t process,
                                         const struct tide_progress *progress,
                                         struct tide_stack_counts *out)
{
    struct walk walk = {.counts = out, .process = process, .mark = 1};
    const struct tide_block_watch watch = {
        .user = &walk, .birth = on_birth, .block = on_block};
    *out = (struct tide_stack_counts){.count = model->stacks.node_count};
    out->of = calloc((size_t)out->count + 1, sizeof(*out->of));
    enum tide_status status =
        out->of ? tide_block_stream(model, &watch, progress) : TIDE_ENOMEM;
    if (!status)
        status = sort_blocks(out);
    if (status) {
        tide_stack_counts_release(out);
        return status;
    }
    if (process == TIDE_ALL_PROCESSES)
        take_watermark(model, out);
    else
        remember_all(&walk);
    return TIDE_OK;
}

void tide_stack_counts_release(struct tide_stack_counts *counts)
{
    free(counts->of);
    free(counts->blocks);
    *counts = (struct tide_stack_counts){0};
}
