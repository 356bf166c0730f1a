/* query/foresight.c - what a first walk finds out, so that the second can tell rows.
 *
 * The peak is that of all processes together, and what a process holds when it ends
 * stands no more, as in model/account.h.
 */
#include "query/foresight.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "query/ends.h"
#include "trace/format.h"

struct look {
    const struct tide_trace *trace;
    struct tide_foresight *out;
    uint64_t step;
    uint64_t last_id; /* of a block */
    uint64_t totals[TIDE_SPACES];
    uint64_t (*held)[TIDE_SPACES]; /* owned, per process: bytes */
    struct tide_shapes shapes;
    struct tide_ends ends;
};

static int by_id(const void *one, const void *other)
{
    const struct tide_future_label *const a = one;
    const struct tide_future_label *const b = other;
    return (a->id > b->id) - (a->id < b->id);
}

/* Processes that ended before TICKS hold nothing any more. */
static void retire(struct look *look, uint64_t ticks)
{
    for (const struct tide_ending *end; (end = tide_ends_before(&look->ends, ticks));) {
        for (size_t space = 0; space < TIDE_SPACES; space++) {
            look->totals[space] -= look->held[end->process][space];
            look->held[end->process][space] = 0;
        }
        look->out->end_steps[end->process] = look->step;
    }
}

/* SPACE holds more than before: is it the peak so far? */
static void rise(struct look *look, enum tide_space space)
{
    struct tide_foreseen_peak *const peak = &look->out->peaks[space];
    if (look->totals[space] <= peak->bytes)
        return;
    *peak = (struct tide_foreseen_peak){
        .step = look->step, .id = look->last_id, .bytes = look->totals[space]};
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t lane)
{
    struct look *const look = user;
    (void)lane;
    look->step++;
    look->last_id = life->id;
    retire(look, life->birth_ticks);
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    look->held[life->process][TIDE_IN_HEAP] += life->size;
    look->totals[TIDE_IN_HEAP] += life->size;
    rise(look, TIDE_IN_HEAP);
    return TIDE_OK;
}

/* Mappings lose parts, so their sum is the stream's. */
static enum tide_status on_level(void *user, const struct tide_level *level)
{
    struct look *const look = user;
    uint64_t *const held = &look->held[level->process][TIDE_IN_MMAP];
    if (level->space != TIDE_IN_MMAP)
        return TIDE_OK;
    look->totals[TIDE_IN_MMAP] += level->bytes - *held;
    *held = level->bytes;
    rise(look, TIDE_IN_MMAP);
    return TIDE_OK;
}

/* The shape that LIFE has now: its number + 1, 0: none.  Blocks that follow each other are
 * often alike. */
static enum tide_status keep_shape(struct look *look, const struct tide_life *life,
                                   uint32_t *number)
{
    struct tide_foresight *const out = look->out;
    const uint32_t at = tide_shapes_at(&look->shapes, life->process, life->address);
    *number = 0;
    if (!at)
        return TIDE_OK;
    const struct tide_shape *const shape = &look->shapes.list[at - 1];
    if (!out->shape_count ||
        memcmp(shape, &out->shapes[out->shape_count - 1], sizeof(*shape)) != 0) {
        struct tide_shape *const shapes = tide_grown(
            out->shapes, &out->shape_capacity, out->shape_count + 1, sizeof(*shapes));
        if (!shapes || out->shape_count >= UINT32_MAX)
            return TIDE_ENOMEM;
        out->shapes = shapes;
        shapes[out->shape_count++] = *shape;
    }
    *number = (uint32_t)out->shape_count;
    return TIDE_OK;
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct look *const look = user;
    (void)tid;
    if (event->extra != TIDE_EXTRA_LABEL && event->extra != TIDE_EXTRA_SHAPE)
        return TIDE_OK;
    return tide_shapes_mark(&look->shapes, event);
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct look *const look = user;
    struct tide_foresight *const out = look->out;
    if (death)
        look->step++;
    if (death && life->space == TIDE_IN_HEAP) {
        /* What it held before its end was passed stands no more already. */
        uint64_t *const held = &look->held[life->process][TIDE_IN_HEAP];
        const uint64_t gone = life->size < *held ? life->size : *held;
        *held -= gone;
        look->totals[TIDE_IN_HEAP] -= gone;
    }
    if (!life->label)
        return TIDE_OK;
    struct tide_future_label *const labels = tide_grown(
        out->labels, &out->label_capacity, out->label_count + 1, sizeof(*labels));
    if (!labels)
        return TIDE_ENOMEM;
    out->labels = labels;
    struct tide_future_label *const label = &labels[out->label_count++];
    *label = (struct tide_future_label){.id = life->id, .label = life->label};
    return keep_shape(look, life, &label->shape);
}

static enum tide_status prepare(struct look *look)
{
    const struct tide_trace *const trace = look->trace;
    const size_t count = trace->process_count + 1;
    look->held = calloc(count, sizeof(*look->held));
    look->out->end_steps = calloc(count, sizeof(*look->out->end_steps));
    if (!look->held || !look->out->end_steps)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->process_count; i++)
        look->out->end_steps[i] = UINT64_MAX;
    return tide_ends_init(&look->ends, trace);
}

enum tide_status tide_foresee(struct tide_model *model,
                              const struct tide_progress *progress,
                              struct tide_foresight *out)
{
    struct look look = {.trace = model->trace, .out = out};
    const struct tide_block_watch watch = {.user = &look,
                                           .birth = on_birth,
                                           .block = on_block,
                                           .level = on_level,
                                           .mark = on_mark};
    enum tide_status status = prepare(&look);
    if (!status)
        status = tide_block_stream(model, &watch, progress);
    if (!status && out->label_count)
        qsort(out->labels, out->label_count, sizeof(*out->labels), by_id);
    tide_shapes_release(&look.shapes);
    free(look.held);
    tide_ends_release(&look.ends);
    return status;
}

const struct tide_future_label *tide_foresight_label(
    const struct tide_foresight *foresight, uint64_t id)
{
    const struct tide_future_label key = {.id = id};
    return foresight->label_count ? bsearch(&key, foresight->labels,
                                            foresight->label_count, sizeof(key), by_id)
                                  : NULL;
}

void tide_foresight_release(struct tide_foresight *foresight)
{
    free(foresight->labels);
    free(foresight->shapes);
    free(foresight->end_steps);
    *foresight = (struct tide_foresight){0};
}
