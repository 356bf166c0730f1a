/* model/told.c - what a program told of itself: regions, labels, call by call.
 */
#include "model/told.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/block_stream.h"
#include "model/grow.h"
#include "model/told_walk.h"
#include "trace/format.h"
#include "trace/kind_names.h"

/* What the rows refer to. */
struct state {
    struct tide_contexts contexts;
    struct tide_intern interned;
    struct tide_arena arena;
};

/* --- Numbers -------------------------------------------------------------------------- */

void tide_spread_add(struct tide_spread *spread, uint64_t value)
{
    if (spread->count++ == 0)
        spread->least = spread->most = spread->about = value;
    spread->sum += value;
    spread->least = value < spread->least ? value : spread->least;
    spread->most = value > spread->most ? value : spread->most;
    const double away = (double)value - (double)spread->about;
    spread->distance += away;
    spread->squares += away * away;
}

double tide_spread_mean(const struct tide_spread *spread)
{
    return spread->count ? (double)spread->sum / (double)spread->count : 0;
}

double tide_spread_deviation(const struct tide_spread *spread)
{
    const double n = (double)spread->count;
    if (spread->count < 2)
        return 0;
    const double squares = spread->squares - spread->distance * spread->distance / n;
    return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

const char *tide_told_kind(uint32_t kind)
{
    if (kind == TIDE_KIND_NEW)
        return "operator new";
    if (kind == TIDE_KIND_NEW_ARRAY)
        return "operator new[]";
    return kind < TIDE_KINDS ? tide_alloc_kind_name(kind) : "free";
}

/* --- The walk ------------------------------------------------------------------------- */

static enum tide_status count_call(struct tide_told_walk *walk, uint32_t process,
                                   uint32_t region, uint32_t kind, uint64_t size)
{
    struct tide_told *const told = walk->told;
    uint32_t number;
    const enum tide_status status =
        tide_pairs_find(&walk->calls, (struct tide_pair){region, kind}, &number);
    if (status)
        return status;
    struct tide_told_call *const calls = tide_grown(told->calls, &walk->call_capacity,
                                                    (size_t)number + 1, sizeof(*calls));
    if (!calls)
        return TIDE_ENOMEM;
    told->calls = calls;
    told->call_count = walk->calls.count;
    calls[number].region = region;
    calls[number].kind = kind;
    tide_spread_add(&calls[number].sizes, size);
    if (walk->processes[process].windows)
        tide_spread_add(&calls[number].in_windows, size);
    return TIDE_OK;
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t lane)
{
    struct tide_told_walk *const walk = user;
    struct tide_told_process *const process = &walk->processes[life->process];
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    struct tide_told_lane *const own = tide_told_lane(walk, lane, life->process);
    const uint32_t region = own->where.region;
    struct tide_told_region *const row = tide_told_row(walk, region);
    if (!row)
        return TIDE_ENOMEM;
    row->calls++;
    row->bytes += life->size;
    own->visits.kept += life->size;
    process->visits.kept += life->size;
    process->calls++;
    process->bytes += life->size;
    const enum tide_status status =
        walk->pools ? tide_told_holder_born(walk, life) : TIDE_OK;
    return status ? status
                  : count_call(walk, life->process, region, life->kind, life->size);
}

const char *tide_told_text(struct tide_told_walk *walk, uint32_t process, uint64_t id)
{
    struct state *const state = walk->told->private_state;
    const char *const text = id ? tide_trace_name(walk->model->trace, process, id) : "";
    return tide_intern(&state->interned, &state->arena, text ? text : "[unnamed]");
}

static enum tide_status count_label(struct tide_told_walk *walk,
                                    const struct tide_life *life)
{
    struct tide_told *const told = walk->told;
    const char *const text = tide_told_text(walk, life->process, life->label - 1);
    uint32_t number;
    if (!text ||
        tide_pairs_find(&walk->labels,
                        (struct tide_pair){(uint64_t)(uintptr_t)text, life->size},
                        &number))
        return TIDE_ENOMEM;
    struct tide_told_label *const labels = tide_grown(
        told->labels, &walk->label_capacity, (size_t)number + 1, sizeof(*labels));
    if (!labels)
        return TIDE_ENOMEM;
    told->labels = labels;
    told->label_count = walk->labels.count;
    labels[number].label = text;
    labels[number].size = life->size;
    labels[number].blocks++;
    labels[number].moved += life->moved_from != 0;
    const uint32_t shape = tide_pairs_known(
        &walk->shape_of, (struct tide_pair){life->process, life->address});
    if (shape && walk->shapes[shape - 1].element_bytes)
        labels[number].shape = walk->shapes[shape - 1];
    return TIDE_OK;
}

/* A part of a shape comes; or a new label, which begins without one. */
static enum tide_status note_shape(struct tide_told_walk *walk,
                                   const struct tide_event *event)
{
    const struct tide_pair block = {event->process, event->value};
    uint32_t number = tide_pairs_known(&walk->shape_of, block);
    if (event->extra == TIDE_EXTRA_LABEL) {
        if (number)
            walk->shapes[number - 1] = (struct tide_told_shape){0};
        return TIDE_OK;
    }
    if (tide_pairs_find(&walk->shape_of, block, &number))
        return TIDE_ENOMEM;
    struct tide_told_shape *const shapes = tide_grown(
        walk->shapes, &walk->shape_capacity, (size_t)number + 1, sizeof(*shapes));
    if (!shapes)
        return TIDE_ENOMEM;
    walk->shapes = shapes;
    const uint64_t place = event->value2;
    if (place == 0) {
        shapes[number] = (struct tide_told_shape){.element_bytes = event->value3};
    } else if (place <= TIDE_TOLD_DIMENSIONS) {
        shapes[number].extents[place - 1] = event->value3;
        shapes[number].dimensions = (uint32_t)place;
    }
    return TIDE_OK;
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct tide_told_walk *const walk = user;
    enum tide_status status = TIDE_OK;
    if (life->space != TIDE_IN_HEAP)
        return TIDE_OK;
    if (life->label)
        status = count_label(walk, life);
    if (status || !death)
        return status;
    if (walk->pools)
        tide_told_holder_dies(walk, life->process, life->address);
    struct tide_told_lane *const own = tide_told_lane(walk, death->lane, life->process);
    own->visits.kept -= life->size;
    walk->processes[life->process].visits.kept -= life->size;
    return count_call(walk, life->process, own->where.region, TIDE_TOLD_FREE,
                      life->size);
}

static enum tide_status on_level(void *user, const struct tide_level *level)
{
    struct tide_told_walk *const walk = user;
    if (level->space != TIDE_IN_HEAP)
        return TIDE_OK;
    struct tide_told_process *const process = &walk->processes[level->process];
    process->live = level->bytes;
    if (process->high < level->bytes)
        process->high = level->bytes;
    return TIDE_OK;
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct tide_told_walk *const walk = user;
    (void)tid;
    enum tide_status status = TIDE_OK;
    if (event->extra == TIDE_EXTRA_SHAPE || event->extra == TIDE_EXTRA_LABEL)
        status = note_shape(walk, event);
    if (!status && walk->pools)
        status = tide_told_pool_mark(walk, event);
    if (!status)
        status = tide_told_window_mark(walk, event);
    return status ? status : tide_told_mark(walk, event);
}

/* --- Rows ----------------------------------------------------------------------------- */

static int by_blocks(const void *one, const void *other)
{
    const struct tide_told_label *const a = one;
    const struct tide_told_label *const b = other;
    if (a->blocks != b->blocks)
        return a->blocks < b->blocks ? 1 : -1;
    if (a->size != b->size)
        return a->size < b->size ? 1 : -1;
    return strcmp(a->label, b->label);
}

static int by_region(const void *one, const void *other)
{
    const struct tide_told_call *const a = one;
    const struct tide_told_call *const b = other;
    if (a->region != b->region)
        return a->region < b->region ? -1 : 1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

/* A region has a higher number than the one around it. */
static enum tide_status finish(struct tide_told_walk *walk)
{
    struct tide_told *const told = walk->told;
    const struct tide_contexts *const contexts = &walk->contexts;
    if (!tide_told_row(walk, (uint32_t)contexts->regions.count))
        return TIDE_ENOMEM;
    for (size_t i = 0; i < told->region_count; i++) {
        struct tide_told_region *const row = &told->regions[i];
        row->inclusive_calls += row->calls;
        row->inclusive_bytes += row->bytes;
        row->name = "";
        if (i == 0)
            continue;
        const struct tide_pair region = contexts->regions.list[i - 1];
        const char *const name =
            region.other ? contexts->strings[region.other - 1] : NULL;
        row->around = (uint32_t)region.one;
        row->depth = told->regions[row->around].depth + 1;
        row->name = name ? name : "[unnamed]";
    }
    for (size_t i = told->region_count; i-- > 1;) {
        struct tide_told_region *const row = &told->regions[i];
        row->next = told->regions[row->around].inside;
        told->regions[row->around].inside = (uint32_t)i;
        if (!row->around)
            continue;
        told->regions[row->around].inclusive_calls += row->inclusive_calls;
        told->regions[row->around].inclusive_bytes += row->inclusive_bytes;
    }
    if (told->label_count)
        qsort(told->labels, told->label_count, sizeof(*told->labels), by_blocks);
    if (told->call_count)
        qsort(told->calls, told->call_count, sizeof(*told->calls), by_region);
    return tide_told_sort_pieces(told);
}

static const char *name_in_trace(const void *trace, uint32_t process, uint64_t id)
{
    return tide_trace_name(trace, process, id);
}

static enum tide_status walk_through(struct tide_told_walk *walk)
{
    const struct tide_trace *const trace = walk->model->trace;
    const struct tide_block_watch watch = {.user = walk,
                                           .block = on_block,
                                           .birth = on_birth,
                                           .level = on_level,
                                           .mark = on_mark};
    walk->pools = walk->model->extra_records[TIDE_EXTRA_POOL_ALLOC] > 0;
    walk->contexts.source = (struct tide_name_source){name_in_trace, trace};
    walk->lanes = calloc(trace->lane_count + 1, sizeof(*walk->lanes));
    walk->processes = calloc(trace->process_count + 1, sizeof(*walk->processes));
    walk->begun_processes =
        calloc(trace->process_count + 1, sizeof(*walk->begun_processes));
    if (!walk->lanes || !walk->processes || !walk->begun_processes ||
        !tide_told_row(walk, 0))
        return TIDE_ENOMEM;
    const enum tide_status status = tide_block_stream(walk->model, &watch, NULL);
    if (status)
        return status;
    tide_told_leave_all(walk);
    return finish(walk);
}

enum tide_status tide_told_build(struct tide_model *model, struct tide_told **out)
{
    struct tide_told *const told = calloc(1, sizeof(*told));
    struct state *const state = calloc(1, sizeof(*state));
    struct tide_told_walk walk = {.model = model, .told = told};
    *out = NULL;
    if (!told || !state) {
        free(told);
        free(state);
        return TIDE_ENOMEM;
    }
    told->private_state = state;
    const enum tide_status status = walk_through(&walk);
    state->contexts = walk.contexts;
    tide_told_pools_release(&walk);
    tide_pairs_release(&walk.labels);
    tide_pairs_release(&walk.shape_of);
    free(walk.shapes);
    tide_pairs_release(&walk.calls);
    tide_pairs_release(&walk.begun);
    free(walk.begun_processes);
    free(walk.lanes);
    free(walk.processes);
    if (status)
        tide_told_free(told);
    else
        *out = told;
    return status;
}

void tide_told_free(struct tide_told *told)
{
    if (!told)
        return;
    struct state *const state = told->private_state;
    tide_contexts_release(&state->contexts);
    tide_intern_release(&state->interned);
    tide_arena_release(&state->arena);
    free(state);
    free(told->regions);
    free(told->labels);
    free(told->calls);
    free(told->pools);
    free(told->pieces);
    free(told);
}
