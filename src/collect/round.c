/* collect/round.c - several lanes are coded and written at the same time.
 *
 * Coding rows takes most of the collector's time, compressing a chunk most of the rest.  Both
 * need nothing but the lane and its desk.  So where many threads of a program are busy, the
 * drain thread gathers what is ready into a round, in which every desk is somebody else's work,
 * and shares it with its hands.  Before a round and after it, everything is the drain thread's:
 * which rows, where a chunk ends, what has to stand in the file before it.
 *
 * Of a lane in a round nothing is taken from its ring until the round ends.
 */
#include "collect/desks.h"
#include "collect/hands.h"
#include "collect/outlet.h"

enum step {
    TIDE_STEP_LEAVE,
    TIDE_STEP_BEGIN,
    TIDE_STEP_CODE,
    TIDE_STEP_WRITE,
    TIDE_STEPS
};

/* What one desk has to do. */
struct task {
    struct tide_lane_copy
        *leaver; /* who sat there, with a chunk to write; NULL: nobody */
    struct tide_chunk_label leaver_label;
    struct tide_lane_copy *lane;
    uint64_t up_to; /* its rows up to here */
    bool ends;      /* and that is a chunk */
    unsigned step;  /* enum step: what comes next */
    enum tide_status coded, written;
};

struct round {
    struct tide_collector *collector;
    uint32_t count;
    struct task tasks[TIDE_DESKS];
};

/* --- By any hand ----------------------------------------------------------------------- */

static enum tide_status write_desk(struct tide_writer *writer,
                                   struct tide_packer *packer,
                                   const struct tide_chunk_label *label,
                                   const struct tide_desk *desk)
{
    struct tide_column_bytes columns[TIDE_COLUMNS];
    tide_encoder_columns(desk->encoder, columns);
    return packer ? tide_writer_events_by(writer, packer, label, columns)
                  : tide_writer_events(writer, label, columns);
}

static enum tide_status do_step(struct tide_writer *writer, const struct task *task,
                                struct tide_packer *packer)
{
    struct tide_lane_copy *const lane = task->lane;
    struct tide_chunk_label label;
    switch (task->step) {
    case TIDE_STEP_LEAVE:
        return task->leaver
                   ? write_desk(writer, packer, &task->leaver_label, lane->desk)
                   : TIDE_OK;
    case TIDE_STEP_BEGIN:
        if (lane->coded == lane->start)
            tide_outlet_begin(lane);
        return TIDE_OK;
    case TIDE_STEP_CODE:
        return tide_encoder_add(lane->desk->encoder, &lane->coding,
                                (const uint64_t *)(const void *)lane->bytes,
                                (size_t)(task->up_to - lane->coded));
    default:
        label = tide_outlet_label(lane, task->up_to);
        return task->ends ? write_desk(writer, packer, &label, lane->desk) : TIDE_OK;
    }
}

/* A hand without memory leaves the rest of the task to the drain thread, which has a packer
 * that has grown before. */
static void do_task(void *context, uint32_t i, struct tide_packer *packer)
{
    struct round *const round = context;
    struct task *const task = &round->tasks[i];
    for (; task->step < TIDE_STEPS; task->step++) {
        const enum tide_status status = do_step(round->collector->writer, task, packer);
        if (status == TIDE_ENOMEM && packer)
            return;
        if (!status)
            continue;
        *(task->step == TIDE_STEP_CODE ? &task->coded : &task->written) = status;
        task->step = TIDE_STEPS;
        return;
    }
}

/* --- By the drain thread --------------------------------------------------------------- */

static void settle(struct tide_collector *collector, const struct task *task)
{
    struct tide_lane_copy *const lane = task->lane;
    lane->in_round = false;
    if (task->leaver) {
        task->leaver->in_round = false;
        tide_lane_drop(task->leaver, task->leaver->coded);
    }
    if (task->written)
        tide_outlet_stop(collector);
    tide_outlet_coded(collector, lane, task->up_to, task->coded);
    if (task->ends && !task->coded)
        tide_lane_drop(lane, task->up_to);
}

/* What is left to do.  Nobody else is at work, so that rows can be added to these lanes. */
static void do_rest(struct round *round)
{
    for (uint32_t i = 0; i < round->count; i++)
        round->tasks[i].lane->in_round = false;
    for (uint32_t i = 0; i < round->count; i++)
        do_task(round, i, NULL);
}

/* One task alone is no reason to wake anybody, but is done: its desk is taken. */
static void finish_round(struct round *round)
{
    struct tide_collector *const collector = round->collector;
    bool writes = false;
    for (uint32_t i = 0; i < round->count; i++)
        writes |= round->tasks[i].ends || round->tasks[i].leaver;
    if (writes)
        tide_outlet_notes_first(collector);
    atomic_store(&collector->writing, writes);
    if (round->count > 1 && tide_hands_any(collector->hands))
        tide_hands_do(collector->hands, round->count, do_task, round, NULL);
    do_rest(round);
    atomic_store(&collector->writing, 0);
    for (uint32_t i = 0; i < round->count; i++)
        settle(collector, &round->tasks[i]);
    round->count = 0;
    tide_drain_relieve(collector);
}

/* What of LANE is ready?  False: nothing. */
static bool plan(const struct tide_collector *collector, struct tide_lane_copy *lane,
                 struct task *task)
{
    const uint64_t rows = lane->end - lane->coded;
    const uint64_t cut = tide_lane_cut(lane, tide_outlet_wish(lane));
    *task = (struct task){.lane = lane, .up_to = lane->end};
    if (rows < TIDE_CODE_AIM)
        return false;
    if (cut > lane->start) { /* perhaps all of it is coded */
        task->up_to = cut;
        task->ends = true;
        return true;
    }
    return lane->end - lane->start <= TIDE_ROWS_MAX &&
           (rows >= TIDE_MOVE_AIM || tide_desk_is_free(&collector->desks, lane));
}

/* The lane of TASK sits down at DESK. */
static void seat(struct tide_collector *collector, struct task *task,
                 struct tide_desk *desk)
{
    struct tide_lane_copy *const other = desk->lane;
    if (other && other != task->lane) {
        if (other->coded > other->start) {
            task->leaver = other;
            task->leaver_label = tide_outlet_label(other, other->coded);
            other->in_round = true;
        }
        tide_desk_leave(other);
    }
    tide_desk_take(&collector->desks, desk, task->lane);
    task->lane->in_round = true;
}

static void add(struct round *round, struct tide_lane_copy *lane)
{
    struct tide_collector *const collector = round->collector;
    struct task task;
    if (lane->in_round) /* it left a desk */
        finish_round(round);
    if (!plan(collector, lane, &task))
        return;
    struct tide_desk *const desk = tide_outlet_desk(collector, lane);
    if (desk && desk->lane && desk->lane->in_round)
        finish_round(round);
    if (!desk || collector->stopped)
        return;
    seat(collector, &task, desk);
    round->tasks[round->count++] = task; /* one at each desk */
}

void tide_round_serve(struct tide_collector *collector, uint64_t more_than)
{
    if (!collector->hands || collector->stopped)
        return;
    struct round round = {.collector = collector};
    for (const struct tide_share *s = collector->shares; s; s = s->next) {
        for (uint32_t i = 0; i < s->lane_count; i++) {
            struct tide_lane_copy *const lane = s->lanes[i];
            if (lane && lane->owner && lane->use == TIDE_LANE_EVENTS && !lane->broken &&
                lane->end - lane->coded > more_than)
                add(&round, lane);
        }
    }
    if (round.count > 0)
        finish_round(&round);
}
