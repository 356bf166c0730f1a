/* model/block_stream.c - every block of a run, one at a time.
 */
#include "model/block_stream.h"

#include <stdbool.h>
#include <stdlib.h>

#include "model/account.h"
#include "model/block_maps.h"
#include "model/block_stream_end.h"
#include "model/feed.h"
#include "model/map_rules.h"
#include "trace/format.h"

enum {
    TIDE_STREAM_PROGRESS_EVERY = 64, /* runs */
    TIDE_STREAM_AHEAD = 6, /* events by which memory is asked for before it is needed */
};

/* A realloc under way. */
struct move {
    uint64_t address; /* of the old block */
    uint32_t entry;   /* 0: nothing is known of it */
    uint32_t stack;   /* node: where realloc was called; 0: not recorded */
};

/* Who ends a block. */
struct killer {
    uint32_t tid;   /* 0: nobody that is known */
    uint32_t stack; /* node; 0: not known */
    bool moves;     /* it goes on at the address of the event */
};

struct lane {
    uint32_t tid;
    uint32_t move_count;
    struct move moves[TIDE_MOVES_OPEN]; /* innermost last */
};

struct process {
    struct tide_ranges ranges;
    uint64_t standing[TIDE_SPACES];
};

struct stream {
    struct tide_model *model;
    const struct tide_block_watch *watch;
    struct tide_lives lives;
    struct lane *lanes;        /* owned, as many as the trace has */
    struct process *processes; /* owned, the same */
    uint64_t last_id;
    const struct tide_event *event; /* that is being taken */
};

static struct lane *lane_of(const struct stream *stream)
{
    return &stream->lanes[stream->event->lane];
}

static struct process *process_of(const struct stream *stream)
{
    return &stream->processes[stream->event->process];
}

/* --- Blocks end ---------------------------------------------------------------------- */

/* The lane of the event frees or moves a block, at STACK. */
static struct killer this_lane(const struct stream *stream, uint32_t stack, bool moves)
{
    return (struct killer){.tid = lane_of(stream)->tid, .stack = stack, .moves = moves};
}

static struct tide_death death_now(const struct stream *stream, struct killer killer)
{
    return (struct tide_death){
        .ticks = stream->event->ticks,
        .moved_to = killer.moves ? stream->event->address : 0,
        .tid = killer.tid,
        .lane = stream->event->lane,
        .stack = killer.stack,
    };
}

/* ENTRY, which nobody finds any more, is dead. */
static enum tide_status finish(struct stream *stream, uint32_t entry,
                               struct tide_death death)
{
    struct tide_life *const life = &stream->lives.list[entry];
    enum tide_status status = TIDE_OK;
    life->left = 0;
    if (stream->watch->block && life->id)
        status = stream->watch->block(stream->watch->user, life, &death);
    tide_lives_drop(&stream->lives, entry);
    return status;
}

static enum tide_status leave_mapped(void *user, uint32_t entry,
                                     const struct tide_range *range, bool moved)
{
    struct stream *const stream = user;
    const struct tide_block_watch *const watch = stream->watch;
    const struct tide_life *const life = &stream->lives.list[entry];
    const struct tide_death death =
        death_now(stream, this_lane(stream, stream->event->stack, moved));
    const struct tide_part part = {range->start, range->end};
    enum tide_status status = TIDE_OK;
    if (watch->part)
        status = watch->part(watch->user, life, part, &death);
    return status || life->left ? status : finish(stream, entry, death);
}

/* ENTRY, of the heap, is dead; 0: it was never known. */
static enum tide_status end_heap(struct stream *stream, uint32_t entry,
                                 struct killer killer)
{
    if (!entry)
        return TIDE_OK;
    process_of(stream)->standing[TIDE_IN_HEAP] -= stream->lives.list[entry].left;
    return finish(stream, entry, death_now(stream, killer));
}

/* --- Blocks begin -------------------------------------------------------------------- */

/* Let ENTRY be found at its address.  What stands there ends, though nobody freed it. */
static enum tide_status put(struct stream *stream, uint32_t entry)
{
    const struct tide_life *const life = &stream->lives.list[entry];
    const uint32_t old = tide_lives_take(&stream->lives, life->process, life->address);
    const enum tide_status status = end_heap(stream, old, (struct killer){0});
    return status ? status : tide_lives_put(&stream->lives, entry);
}

static enum tide_status tell_birth(const struct stream *stream, struct tide_life *life)
{
    if (!stream->watch->birth || !life->id)
        return TIDE_OK;
    return stream->watch->birth(stream->watch->user, life, stream->event->lane);
}

static uint32_t take(struct stream *stream, uint64_t address)
{
    return tide_lives_take(&stream->lives, stream->event->process, address);
}

static bool is_followed(const struct stream *stream, const struct tide_life *life)
{
    const struct tide_block_watch *const watch = stream->watch;
    return life->label_now || !watch->follow || watch->follow(watch->user, life);
}

/* LIFE is found at its address from now on. */
static enum tide_status keep(struct stream *stream, const struct tide_life *life)
{
    uint32_t entry;
    enum tide_status status = tide_lives_add(&stream->lives, life, &entry);
    if (status)
        return status;
    process_of(stream)->standing[TIDE_IN_HEAP] += life->left;
    status = put(stream, entry);
    return status ? status : tell_birth(stream, &stream->lives.list[entry]);
}

/* LIFE will not be looked for, and what stands at its address ends. */
static enum tide_status pass_by(struct stream *stream, struct tide_life life)
{
    const uint32_t old = take(stream, life.address);
    const enum tide_status status = end_heap(stream, old, (struct killer){0});
    return status ? status : tell_birth(stream, &life);
}

/* BEFORE is what realloc made the block of, all zeros: nothing. */
static enum tide_status give_birth(struct stream *stream,
                                   const struct tide_life *before)
{
    const struct tide_event *const event = stream->event;
    const struct tide_life life = {
        .id = ++stream->last_id,
        .address = event->address,
        .size = event->size,
        .usable = event->usable,
        .left = event->size,
        .birth_ticks = event->ticks,
        .moved_from = before->id,
        .process = event->process,
        .stack = event->stack,
        .tid = lane_of(stream)->tid,
        .label = before->label_now,
        .label_now = before->label_now,
        .space = TIDE_IN_HEAP,
        .kind = event->alloc_kind,
    };
    return is_followed(stream, &life) ? keep(stream, &life) : pass_by(stream, life);
}

/* --- Moves --------------------------------------------------------------------------- */

static enum tide_status put_back(struct stream *stream, const struct move *move)
{
    return move->entry ? put(stream, move->entry) : TIDE_OK;
}

static enum tide_status on_move_begin(struct stream *stream)
{
    struct lane *const lane = lane_of(stream);
    const uint64_t address = stream->event->address;
    enum tide_status status = TIDE_OK;
    if (lane->move_count == TIDE_MOVES_OPEN) {
        status = put_back(stream, &lane->moves[0]);
        lane->move_count--;
        for (uint32_t i = 0; i < lane->move_count; i++)
            lane->moves[i] = lane->moves[i + 1];
    }
    lane->moves[lane->move_count++] = (struct move){.address = address,
                                                    .entry = take(stream, address),
                                                    .stack = stream->event->stack};
    return status;
}

/* The lane's move of the block at OLD ends: *OUT is that move.  Those that began later are
 * abandoned.  False when no such move is under way. */
static bool end_move(struct stream *stream, uint64_t old, struct move *out,
                     enum tide_status *status)
{
    struct lane *const lane = lane_of(stream);
    uint32_t at = lane->move_count;
    *out = (struct move){.address = old};
    while (at && lane->moves[at - 1].address != old)
        at--;
    if (!at)
        return false;
    while (lane->move_count > at && !*status)
        *status = put_back(stream, &lane->moves[--lane->move_count]);
    *out = lane->moves[--lane->move_count];
    return true;
}

static enum tide_status on_move_end(struct stream *stream)
{
    struct move move;
    enum tide_status status = TIDE_OK;
    struct tide_life before = {0};
    (void)end_move(stream, stream->event->value, &move, &status);
    if (move.entry)
        before = stream->lives.list[move.entry];
    if (!status)
        status =
            end_heap(stream, move.entry, this_lane(stream, stream->event->stack, true));
    return status ? status : give_birth(stream, &before);
}

static enum tide_status on_move_back(struct stream *stream)
{
    struct move move;
    enum tide_status status = TIDE_OK;
    if (end_move(stream, stream->event->address, &move, &status) && !status)
        status = put_back(stream, &move);
    return status;
}

static enum tide_status on_move_gone(struct stream *stream)
{
    struct move move;
    enum tide_status status = TIDE_OK;
    if (!end_move(stream, stream->event->address, &move, &status))
        move.entry = take(stream, stream->event->address); /* its MOVE_BEGIN was lost */
    return status ? status
                  : end_heap(stream, move.entry, this_lane(stream, move.stack, false));
}

/* --- Other events -------------------------------------------------------------------- */

static enum tide_status on_map(struct stream *stream)
{
    uint32_t born = 0;
    const struct tide_map_scene scene = {
        .lives = &stream->lives,
        .ranges = &process_of(stream)->ranges,
        .standing = &process_of(stream)->standing[TIDE_IN_MMAP],
        .last_id = &stream->last_id,
        .tid = lane_of(stream)->tid,
        .quiet = stream->event->quiet,
        .born = &born,
        .leave = leave_mapped,
        .user = stream,
    };
    const enum tide_status status = tide_block_maps_event(&scene, stream->event);
    return status || !born ? status : tell_birth(stream, &stream->lives.list[born]);
}

/* A block that is not followed has a name now.  If it is followed by its name only, it has
 * no number, and its end is nothing to tell. */
static enum tide_status follow_name(struct stream *stream)
{
    const struct tide_event *const event = stream->event;
    const uint32_t label = (uint32_t)event->value2 + 1;
    const struct tide_life life = {
        .address = event->value,
        .process = event->process,
        .label = label,
        .label_now = label,
        .space = TIDE_IN_HEAP,
    };
    return keep(stream, &life);
}

static enum tide_status name_block(struct stream *stream)
{
    const struct tide_event *const event = stream->event;
    uint32_t entry = tide_lives_find(&stream->lives, event->process, event->value);
    if (!entry)
        entry = tide_block_maps_at(&process_of(stream)->ranges, event->value);
    if (event->value2 >= UINT32_MAX)
        return TIDE_OK;
    if (!entry && stream->watch->follow && event->extra == TIDE_EXTRA_LABEL)
        return follow_name(stream);
    if (!entry)
        return TIDE_OK;
    struct tide_life *const life = &stream->lives.list[entry];
    if (event->extra == TIDE_EXTRA_UNLABEL) {
        life->renamed |= life->label_now != 0;
        life->label_now = 0;
        return TIDE_OK;
    }
    life->label_now = (uint32_t)event->value2 + 1;
    if (!life->renamed)
        life->label = life->label_now;
    return TIDE_OK;
}

static enum tide_status on_extra(struct stream *stream)
{
    const struct tide_event *const event = stream->event;
    struct lane *const lane = lane_of(stream);
    enum tide_status status = TIDE_OK;
    if (event->extra == TIDE_EXTRA_THREAD_BEGIN)
        lane->tid = (uint32_t)event->value;
    else if (event->extra == TIDE_EXTRA_LABEL || event->extra == TIDE_EXTRA_UNLABEL)
        status = name_block(stream);
    if (status || !stream->watch->mark)
        return status;
    return stream->watch->mark(stream->watch->user, event, lane->tid);
}

static enum tide_status enter(struct stream *stream)
{
    static const struct tide_life NOTHING;
    switch (stream->event->kind) {
    case TIDE_EVENT_ALLOC:
        return give_birth(stream, &NOTHING);
    case TIDE_EVENT_FREE:
        return end_heap(stream, take(stream, stream->event->address),
                        this_lane(stream, stream->event->stack, false));
    case TIDE_EVENT_MOVE_BEGIN:
        return on_move_begin(stream);
    case TIDE_EVENT_MOVE_END:
        return on_move_end(stream);
    case TIDE_EVENT_MOVE_BACK:
        return on_move_back(stream);
    case TIDE_EVENT_MOVE_GONE:
        return on_move_gone(stream);
    case TIDE_EVENT_MAP:
        return on_map(stream);
    case TIDE_EVENT_EXTRA:
        return on_extra(stream);
    case TIDE_EVENT_SPAN:
        return stream->watch->span
                   ? stream->watch->span(stream->watch->user, stream->event)
                   : TIDE_OK;
    default:
        return TIDE_OK;
    }
}

/* Tell how SPACE stands now, if it stood at BEFORE. */
static enum tide_status tell_level(const struct stream *stream, enum tide_space space,
                                   uint64_t before)
{
    const struct tide_level level = {
        .process = stream->event->process,
        .space = space,
        .ticks = stream->event->ticks,
        .bytes = process_of(stream)->standing[space],
    };
    if (!stream->watch->level || level.bytes == before)
        return TIDE_OK;
    return stream->watch->level(stream->watch->user, &level);
}

static enum tide_status take_event(struct stream *stream,
                                   const struct tide_event *event)
{
    const struct tide_trace *const trace = stream->model->trace;
    if (event->lane >= trace->lane_count || event->process >= trace->process_count)
        return TIDE_ECORRUPT;
    stream->event = event;
    const uint64_t heap = process_of(stream)->standing[TIDE_IN_HEAP];
    const uint64_t mapped = process_of(stream)->standing[TIDE_IN_MMAP];
    enum tide_status status = enter(stream);
    if (!status)
        status = tell_level(stream, TIDE_IN_HEAP, heap);
    if (!status)
        status = tell_level(stream, TIDE_IN_MMAP, mapped);
    return status;
}

/* --- The walk ------------------------------------------------------------------------ */

/* What is mapped, process by process. */
static enum tide_status tell_parts(const struct stream *stream)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < stream->model->trace->process_count && !status; i++)
        status = tide_stream_tell_parts(stream->watch, &stream->lives,
                                        &stream->processes[i].ranges);
    return status;
}

/* Most of the time of a walk is spent waiting for memory, since blocks die in any order:
 * what later events will look for is fetched while earlier ones are taken. */
static void look_ahead(const struct stream *stream, const struct tide_run *run,
                       size_t at)
{
    const size_t soon = at + TIDE_STREAM_AHEAD, later = soon + TIDE_STREAM_AHEAD;
    const struct tide_event *const events = run->events;
    if (later < run->count)
        tide_lives_expect(&stream->lives, events[later].process, events[later].address);
    if (soon < run->count)
        tide_lives_expect_entry(&stream->lives, events[soon].process,
                                events[soon].address);
}

static enum tide_status pour(struct stream *stream, struct tide_feed *feed,
                             const struct tide_progress *progress)
{
    const uint64_t file_bytes = stream->model->trace->file_bytes;
    struct tide_run run = {.count = 1};
    enum tide_status status = TIDE_OK;
    for (size_t runs = 0; run.count && !status; runs++) {
        status = tide_feed_next(feed, &run);
        for (size_t i = 0; i < run.count && !status; i++) {
            look_ahead(stream, &run, i);
            status = take_event(stream, &run.events[i]);
        }
        if (runs % TIDE_STREAM_PROGRESS_EVERY == 0 && progress && progress->step)
            progress->step(progress->user, tide_feed_counts(feed)->bytes_read,
                           file_bytes);
    }
    return status;
}

static enum tide_status prepare(struct stream *stream)
{
    const struct tide_trace *const trace = stream->model->trace;
    stream->lanes = calloc(trace->lane_count + 1, sizeof(*stream->lanes));
    stream->processes = calloc(trace->process_count + 1, sizeof(*stream->processes));
    if (!stream->lanes || !stream->processes)
        return TIDE_ENOMEM;
    return tide_lives_init(&stream->lives);
}

static void clean_up(struct stream *stream)
{
    const size_t processes =
        stream->processes ? stream->model->trace->process_count : 0;
    for (size_t i = 0; i < processes; i++)
        tide_ranges_release(&stream->processes[i].ranges);
    free(stream->processes);
    free(stream->lanes);
    tide_lives_release(&stream->lives);
}

enum tide_status tide_block_stream(struct tide_model *model,
                                   const struct tide_block_watch *watch,
                                   const struct tide_progress *progress)
{
    struct stream stream = {.model = model, .watch = watch};
    struct tide_replay *replay = NULL;
    struct tide_feed *feed = NULL;
    enum tide_status status = prepare(&stream);
    if (!status)
        status = tide_replay_open(model->trace, &model->stacks, &replay);
    /* Not ahead: who watches may look at the stacks. */
    const struct tide_feed_setup setup = {.replay = replay, .stacks = &model->stacks};
    if (!status && watch->begin)
        watch->begin(watch->user, &stream.lives);
    if (!status)
        status = tide_feed_open(&setup, &feed);
    if (!status)
        status = pour(&stream, feed, progress);
    if (!status && watch->block)
        status = tide_stream_tell_live(watch, &stream.lives);
    if (!status && watch->part)
        status = tell_parts(&stream);
    tide_feed_close(feed);
    tide_replay_close(replay);
    clean_up(&stream);
    return status;
}
