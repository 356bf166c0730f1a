/* query/walk.c - the walk through one trace, row by row. */
#include "query/walk.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "trace/format.h"

/* --- Rows ---------------------------------------------------------------------------- */

bool tide_walk_counts(const struct tide_walk *walk, const struct tide_life *life,
                      uint32_t label)
{
    if (walk->wish.labelled_only && tide_walk_labels_are_rows(walk) &&
        life->space != TIDE_IN_POOL)
        return false; /* its label has a row of its own */
    return (walk->wish.every_space || life->space == TIDE_IN_HEAP) &&
           (label || !walk->wish.labelled_only);
}

/* The label that the block has or will have. */
static struct tide_future_label label_ahead(struct tide_walk *walk,
                                            const struct tide_life *life)
{
    const struct tide_foresight *const foresight = &walk->foresight;
    while (walk->next_label < foresight->label_count &&
           foresight->labels[walk->next_label].id < life->id)
        walk->next_label++;
    if (walk->next_label < foresight->label_count &&
        foresight->labels[walk->next_label].id == life->id)
        return foresight->labels[walk->next_label];
    return (struct tide_future_label){.label = life->label};
}

static enum tide_status tell_birth(struct tide_walk *walk, const struct tide_life *life,
                                   uint32_t place)
{
    const struct tide_future_label ahead = label_ahead(walk, life);
    if (!tide_walk_counts(walk, life, ahead.label))
        return TIDE_OK;
    const struct tide_record record = {
        .kind = TIDE_RECORD_BIRTH,
        .process = life->process,
        .place = place,
        .other_place = TIDE_NO_PLACE,
        .ticks = life->birth_ticks,
        .life = life,
        .label = ahead.label,
        .shape = ahead.shape,
        .foreseen = true,
        .active = walk->process[life->process].active[TIDE_IN_HEAP],
    };
    return walk->row(walk->user, &record);
}

/* Of the region that made LIFE; NULL: that does not matter. */
static struct tide_walk_tally *tally_of(struct tide_walk *walk,
                                        const struct tide_life *life)
{
    if (!walk->wish.tally)
        return NULL;
    const uint32_t region = tide_walk_place(walk, life->note).region;
    struct tide_walk_tally *const list = tide_grown(
        walk->tallies, &walk->tally_capacity, (size_t)region + 1, sizeof(*list));
    if (!list) {
        walk->names.failed = true;
        return NULL;
    }
    walk->tallies = list;
    return &list[region];
}

struct tide_walk_tally tide_walk_tally(const struct tide_walk *walk, uint32_t region)
{
    return region < walk->tally_capacity ? walk->tallies[region]
                                         : (struct tide_walk_tally){0};
}

void tide_walk_grow(struct tide_walk *walk, const struct tide_life *life, uint32_t lane)
{
    struct tide_walk_process *const process = &walk->process[life->process];
    struct tide_walk_lane *const book = &walk->lanes[lane];
    process->active[TIDE_IN_HEAP] += life->size;
    process->allocs++;
    process->allocated += life->size;
    book->allocs++;
    book->allocated += life->size;
    walk->stretch.active += process->left ? 0 : life->size;
    walk->stretch.blocks += !process->left;
    tide_walk_rise(walk, life->process);
    struct tide_walk_tally *const tally = tally_of(walk, life);
    if (!tally)
        return;
    tally->now += life->size;
    tally->calls++;
    tally->bytes += life->size;
    if (tally->most < tally->now)
        tally->most = tally->now;
    if (tally->largest < life->size)
        tally->largest = life->size;
}

static enum tide_status on_birth(void *user, struct tide_life *life, uint32_t lane)
{
    struct tide_walk *const walk = user;
    const uint32_t place = tide_walk_here(walk, lane);
    enum tide_status status = TIDE_OK;
    if (place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    life->note = place;
    walk->step++;
    if (walk->wish.source == TIDE_FROM_TIMELINE)
        status = tide_walk_time(walk, life->birth_ticks);
    if (!status && walk->wish.source == TIDE_FROM_EVENTS)
        status = tell_birth(walk, life, place);
    if (walk->wish.resolve && !status)
        status = tide_holders_add(&walk->holders, walk->lives, life);
    if (life->space == TIDE_IN_HEAP) {
        walk->lanes[lane].newest = life->id;
        if (!walk->wish.labelled_only)
            tide_walk_grow(walk, life, lane);
    }
    if (life->label_now)
        tide_walk_label_follows(walk, life);
    if (!status && walk->wish.source == TIDE_FROM_SNAPSHOTS && walk->wish.peak &&
        walk->step == walk->foresight.peaks[TIDE_IN_HEAP].step)
        status = tide_walk_snapshot(walk, tide_names_text(&walk->names, "peak"),
                                    life->birth_ticks);
    return status;
}

/* Did the block live when its space stood highest? */
static bool at_peak(const struct tide_walk *walk, const struct tide_life *life,
                    bool dead)
{
    const struct tide_foresight *const foresight = &walk->foresight;
    if (!walk->wish.peak || life->space >= TIDE_SPACES)
        return false;
    const struct tide_foreseen_peak *const peak = &foresight->peaks[life->space];
    if (life->id > peak->id)
        return false;
    return dead ? walk->step > peak->step
                : foresight->end_steps[life->process] >= peak->step;
}

static struct tide_record block_record(struct tide_walk *walk,
                                       const struct tide_life *life,
                                       const struct tide_death *death)
{
    struct tide_record record = {
        .kind = TIDE_RECORD_BLOCK,
        .process = life->process,
        .place = life->note,
        .other_place = TIDE_NO_PLACE,
        .ticks = life->birth_ticks,
        .life = life,
        .death = death,
        .label = life->label,
        .shape = tide_walk_shape(walk, life),
        .active = walk->process[life->process].active[TIDE_IN_HEAP],
        .peak = at_peak(walk, life, death != NULL),
    };
    if (death) {
        record.other_place = tide_walk_here(walk, death->lane);
        record.temporary = !death->moved_to && life->space == TIDE_IN_HEAP &&
                           walk->lanes[death->lane].newest == life->id;
    }
    return record;
}

static enum tide_status tell_block(struct tide_walk *walk, const struct tide_life *life,
                                   const struct tide_death *death)
{
    if (!tide_walk_counts(walk, life, life->label))
        return TIDE_OK;
    struct tide_record record = block_record(walk, life, death);
    if (walk->wish.source == TIDE_FROM_BLOCKS)
        return walk->row(walk->user, &record);
    if (walk->wish.source == TIDE_FROM_SNAPSHOTS && !death)
        return tide_walk_standing(walk, life,
                                  tide_names_text(&walk->names, "end of run"),
                                  walk->model.trace->end_ticks);
    if (walk->wish.source != TIDE_FROM_EVENTS || !death)
        return TIDE_OK;
    record.kind = TIDE_RECORD_DEATH;
    record.ticks = death->ticks;
    return walk->row(walk->user, &record);
}

void tide_walk_fall(struct tide_walk *walk, const struct tide_life *life, uint32_t lane)
{
    struct tide_walk_process *const process = &walk->process[life->process];
    struct tide_walk_lane *const book = &walk->lanes[lane];
    process->active[TIDE_IN_HEAP] -= life->size;
    process->frees++;
    process->freed += life->size;
    book->frees++;
    book->freed += life->size;
    walk->stretch.active -= process->left ? 0 : life->size;
    walk->stretch.blocks -= !process->left;
    struct tide_walk_tally *const tally = tally_of(walk, life);
    if (tally)
        tally->now -= life->size;
}

static enum tide_status on_block(void *user, const struct tide_life *life,
                                 const struct tide_death *death)
{
    struct tide_walk *const walk = user;
    enum tide_status status = TIDE_OK;
    if (death) {
        walk->step++;
        if (walk->wish.source == TIDE_FROM_TIMELINE)
            status = tide_walk_time(walk, death->ticks);
    }
    if (!status && death)
        status = tide_walk_labels_end(walk, life, death);
    if (!status)
        status = tell_block(walk, life, death);
    if (death && walk->wish.resolve)
        tide_holders_remove(&walk->holders, walk->lives, life);
    if (death && life->space == TIDE_IN_HEAP && !walk->wish.labelled_only)
        tide_walk_fall(walk, life, death->lane);
    return status;
}

/* Mappings can lose parts, so their sum is the stream's. */
static enum tide_status on_level(void *user, const struct tide_level *level)
{
    struct tide_walk *const walk = user;
    if (level->space == TIDE_IN_MMAP)
        walk->process[level->process].active[TIDE_IN_MMAP] = level->bytes;
    return TIDE_OK;
}

/* --- Marks --------------------------------------------------------------------------- */

static enum tide_status on_iteration(struct tide_walk *walk,
                                     const struct tide_event *event)
{
    struct tide_walk_process *const process = &walk->process[event->process];
    enum tide_status status = TIDE_OK;
    if (walk->wish.source == TIDE_FROM_EVENTS) {
        const struct tide_record record = {
            .kind = TIDE_RECORD_ITERATION,
            .process = event->process,
            .place = tide_walk_here(walk, event->lane),
            .other_place = TIDE_NO_PLACE,
            .ticks = event->ticks,
            .active = process->active[TIDE_IN_HEAP],
            .number = event->value,
        };
        status = walk->row(walk->user, &record);
    }
    process->event = event->value;
    process->in_event = true;
    for (size_t i = 0; walk->wish.iterations && i < walk->model.trace->lane_count; i++)
        if (walk->model.trace->lanes[i].process == event->process)
            walk->lanes[i].place = TIDE_NO_PLACE;
    return status;
}

static enum tide_status on_thread(struct tide_walk *walk,
                                  const struct tide_event *event)
{
    enum tide_status status = tide_walk_visits_end(walk, event->lane, 0, event->ticks);
    if (!status)
        status = tide_walk_thread(walk, event->lane, event->value);
    if (status || walk->wish.source != TIDE_FROM_EVENTS)
        return status;
    const struct tide_record record = {
        .kind = TIDE_RECORD_THREAD,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = walk->process[event->process].active[TIDE_IN_HEAP],
        .number = event->value,
    };
    return record.place == TIDE_NO_PLACE ? TIDE_ENOMEM : walk->row(walk->user, &record);
}

static enum tide_status on_mark(void *user, const struct tide_event *event,
                                uint32_t tid)
{
    struct tide_walk *const walk = user;
    enum tide_status status;
    (void)tid;
    switch (event->extra) {
    case TIDE_EXTRA_THREAD_BEGIN:
        return on_thread(walk, event);
    case TIDE_EXTRA_THREAD_END:
        walk->lanes[event->lane].newest = 0;
        return tide_walk_visits_end(walk, event->lane, 0, event->ticks);
    case TIDE_EXTRA_REGION_BEGIN:
    case TIDE_EXTRA_LOOP_BEGIN:
        return tide_walk_enter(walk, event);
    case TIDE_EXTRA_REGION_END:
        return tide_walk_leave(walk, event);
    case TIDE_EXTRA_REGION_BASE:
        return tide_walk_inherit(walk, event);
    case TIDE_EXTRA_PHASE_BEGIN:
    case TIDE_EXTRA_PHASE_END:
        return tide_walk_phase(walk, event);
    case TIDE_EXTRA_ITERATION:
    case TIDE_EXTRA_ITERATION_END:
        return tide_walk_iterate(walk, event);
    case TIDE_EXTRA_LABEL:
        walk->disappointed = walk->hopes;
        if (walk->hopes)
            return TIDE_ELIMIT;
        status = walk->wish.shapes ? tide_shapes_mark(&walk->shapes, event) : TIDE_OK;
        return status ? status : tide_walk_label(walk, event);
    case TIDE_EXTRA_UNLABEL:
        return tide_walk_unlabel(walk, event);
    case TIDE_EXTRA_SHAPE:
        return walk->wish.shapes ? tide_shapes_mark(&walk->shapes, event) : TIDE_OK;
    case TIDE_EXTRA_ATTRIBUTE:
        return tide_walk_set(walk, event);
    case TIDE_EXTRA_POOL_ALLOC:
    case TIDE_EXTRA_POOL_FREE:
        return walk->wish.every_space ? tide_walk_pool(walk, event) : TIDE_OK;
    case TIDE_EXTRA_EVENT:
        return on_iteration(walk, event);
    case TIDE_EXTRA_SNAPSHOT:
        if (walk->wish.source != TIDE_FROM_SNAPSHOTS)
            return TIDE_OK;
        return tide_walk_snapshot(
            walk, tide_walk_called(walk, event->process, event->value), event->ticks);
    default:
        return TIDE_OK;
    }
}

/* --- The walk -------------------------------------------------------------------------- */

static const char *name_of(const void *user, uint32_t process, uint64_t id)
{
    return tide_trace_name(user, process, id);
}

enum tide_status tide_walk_init(struct tide_walk *walk, struct tide_trace *trace,
                                const struct tide_walk_wish *wish)
{
    memset(walk, 0, sizeof(*walk)); /* too large for a copy on the stack */
    walk->model.trace = trace;
    walk->wish = *wish;
    walk->contexts.source = (struct tide_name_source){.name = name_of, .user = trace};
    walk->lanes = calloc(trace->lane_count + 1, sizeof(*walk->lanes));
    walk->process = calloc(trace->process_count + 1, sizeof(*walk->process));
    walk->process_names =
        calloc(trace->process_count + 1, sizeof(*walk->process_names));
    walk->rss = calloc(trace->process_count + 1, sizeof(*walk->rss));
    if (!walk->lanes || !walk->process || !walk->process_names || !walk->rss)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->lane_count; i++) {
        tide_where_begin(&walk->lanes[i].where);
        walk->lanes[i].place = TIDE_NO_PLACE;
    }
    enum tide_status status = tide_ends_init(&walk->ends, trace);
    if (!status)
        status = tide_lives_init(&walk->labelled);
    if (!status)
        status = tide_stacks_init(&walk->model.stacks);
    return status ? status
                  : tide_frames_init(&walk->frames, trace, &walk->model.stacks,
                                     &walk->names);
}

void tide_walk_release(struct tide_walk *walk)
{
    const size_t lanes = walk->lanes ? walk->model.trace->lane_count : 0;
    for (size_t i = 0; i < lanes; i++) {
        free(walk->lanes[i].visits);
        free(walk->lanes[i].held);
    }
    tide_walk_labels_release(walk);
    for (size_t i = 0; walk->process && i < walk->model.trace->process_count; i++)
        free(walk->process[i].visits);
    free(walk->lanes);
    free(walk->process);
    free(walk->process_names);
    free(walk->called_texts);
    free(walk->region_paths);
    free(walk->thread_names);
    free(walk->tallies);
    free(walk->kinds[0].list);
    free(walk->kinds[1].list);
    free(walk->kind_paths);
    tide_pairs_release(&walk->kind_pairs);
    free(walk->rss);
    tide_ends_release(&walk->ends);
    tide_frames_release(&walk->frames);
    tide_stacks_release(&walk->model.stacks);
    tide_contexts_release(&walk->contexts);
    tide_pairs_release(&walk->places);
    tide_pairs_release(&walk->rounds);
    tide_pairs_release(&walk->attributes);
    tide_holders_release(&walk->holders);
    tide_pairs_release(&walk->pools);
    tide_lives_release(&walk->pooled);
    tide_pairs_release(&walk->called);
    tide_shapes_release(&walk->shapes);
    tide_foresight_release(&walk->foresight);
    tide_names_release(&walk->names);
    memset(walk, 0, sizeof(*walk));
}

static void on_begin(void *user, const struct tide_lives *lives)
{
    struct tide_walk *const walk = user;
    walk->lives = lives;
}

enum tide_status tide_walk_run(struct tide_walk *walk)
{
    const struct tide_trace *const trace = walk->model.trace;
    const struct tide_block_watch watch = {
        .user = walk,
        .begin = on_begin,
        .birth = on_birth,
        .block = on_block,
        .level = walk->wish.source == TIDE_FROM_TIMELINE ? on_level : NULL,
        .mark = on_mark,
    };
    const bool labels = walk->wish.labels && walk->wish.source == TIDE_FROM_EVENTS &&
                        tide_trace_has_names(trace);
    walk->hopes = walk->hopes && labels && !walk->wish.peak;
    enum tide_status status = TIDE_OK;
    if (walk->wish.peak || (labels && !walk->hopes))
        status = tide_foresee(&walk->model, walk->progress, &walk->foresight);
    if (!status)
        status = tide_block_stream(&walk->model, &watch, walk->progress);
    if (!status && walk->wish.source == TIDE_FROM_TIMELINE)
        status = tide_walk_time(walk, UINT64_MAX);
    if (!status)
        status = tide_walk_pools_end(walk);
    if (!status)
        status = tide_walk_visits_last(walk);
    walk->lives = NULL;
    if (!status && walk->names.failed)
        status = TIDE_ENOMEM;
    return status;
}
