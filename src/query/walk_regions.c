/* query/walk_regions.c - the walk: threads, and the regions, loops and phases they are in.
 *
 * The rules are those of model/context.h.
 */
#include "model/grow.h"
#include "query/walk.h"
#include "trace/format.h"

enum tide_status tide_walk_thread(struct tide_walk *walk, uint32_t lane, uint64_t tid)
{
    struct tide_walk_lane *const book = &walk->lanes[lane];
    const struct tide_key_thread thread = {
        .process = walk->model.trace->lanes[lane].process,
        .lane = lane,
        .tid = tid <= UINT32_MAX ? (uint32_t)tid : 0,
    };
    book->newest = 0;
    book->place = TIDE_NO_PLACE;
    book->visit_count = 0;
    book->loop_count = 0;
    book->held_count = 0;
    book->unheld = 0;
    book->allocs = book->allocated = book->frees = book->freed = 0;
    const enum tide_status status =
        tide_where_thread(&walk->contexts, &book->where, &thread);
    return status ? status
                  : tide_where_phases(&walk->contexts, &book->where,
                                      &walk->process[thread.process].phases);
}

/* --- Regions and loops ---------------------------------------------------------------------------- */

static enum tide_status tell_mark(struct tide_walk *walk,
                                  const struct tide_event *event,
                                  enum tide_record_kind kind)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const uint64_t active = walk->process[event->process].active[TIDE_IN_HEAP];
    const struct tide_record record = {
        .kind = kind,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = active,
        .high_water = lane->high_water > active ? lane->high_water : active,
        .name = tide_walk_called(walk, event->process, event->value),
    };
    lane->high_water = active;
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return walk->wish.source == TIDE_FROM_EVENTS ? walk->row(walk->user, &record)
                                                 : TIDE_OK;
}

/* How many regions a thread has entered itself. */
static uint32_t own_depth(const struct tide_where *where)
{
    const uint32_t others = where->phases + where->inherited;
    return where->depth > others ? where->depth - others : 0;
}

/* The region that the lane has just entered is a loop. */
static void begin_loop(struct tide_walk *walk, const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    if (lane->loop_count < TIDE_WALK_LOOPS)
        lane->loops[lane->loop_count++] = (struct tide_walk_loop){
            .depth = lane->where.depth,
            .name = tide_walk_called(walk, event->process, event->value),
        };
}

enum tide_status tide_walk_enter(struct tide_walk *walk, const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const uint64_t active = walk->process[event->process].active[TIDE_IN_HEAP];
    enum tide_status status = tell_mark(walk, event, TIDE_RECORD_BEGIN);
    if (!status)
        status = tide_where_enter(&walk->contexts, &lane->where, event->process,
                                  event->value);
    lane->place = TIDE_NO_PLACE;
    if (!status && event->extra == TIDE_EXTRA_LOOP_BEGIN)
        begin_loop(walk, event);
    if (status || walk->wish.source != TIDE_FROM_REGIONS || !own_depth(&lane->where))
        return status;
    const uint32_t depth = own_depth(&lane->where);
    struct tide_visit *const visits =
        tide_grown(lane->visits, &lane->visit_capacity, depth, sizeof(*visits));
    if (!visits)
        return TIDE_ENOMEM;
    lane->visits = visits;
    lane->visit_count = depth;
    visits[lane->visit_count - 1] = (struct tide_visit){
        .begin_ticks = event->ticks,
        .allocs = lane->allocs,
        .allocated = lane->allocated,
        .frees = lane->frees,
        .freed = lane->freed,
        .active = active,
        .high_water = active,
    };
    return TIDE_OK;
}

/* The innermost region of LANE ends: it becomes a row, with the place that it has now. */
static enum tide_status tell_visit(struct tide_walk *walk,
                                   const struct tide_event *event, uint32_t place)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    struct tide_visit visit = lane->visits[--lane->visit_count];
    if (lane->visit_count &&
        lane->visits[lane->visit_count - 1].high_water < visit.high_water)
        lane->visits[lane->visit_count - 1].high_water = visit.high_water;
    visit.allocs = lane->allocs - visit.allocs;
    visit.allocated = lane->allocated - visit.allocated;
    visit.frees = lane->frees - visit.frees;
    visit.freed = lane->freed - visit.freed;
    const struct tide_record record = {
        .kind = TIDE_RECORD_VISIT,
        .process = event->process,
        .place = place,
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = visit.active,
        .high_water = visit.high_water,
        .visit = &visit,
    };
    return walk->row(walk->user, &record);
}

/* An end may end several, the innermost first: each is told where it was. */
enum tide_status tide_walk_leave(struct tide_walk *walk, const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const struct tide_where before = lane->where;
    enum tide_status status = tell_mark(walk, event, TIDE_RECORD_END);
    if (!status)
        status = tide_where_leave(&walk->contexts, &lane->where, event->process,
                                  event->value);
    const struct tide_where after = lane->where;
    lane->where = before;
    while (!status && walk->wish.source == TIDE_FROM_REGIONS &&
           lane->visit_count > own_depth(&after)) {
        lane->place = TIDE_NO_PLACE;
        const uint32_t place = tide_walk_here(walk, event->lane);
        status = place == TIDE_NO_PLACE ? TIDE_ENOMEM : tell_visit(walk, event, place);
        if (lane->where.region && lane->visit_count < TIDE_REGIONS_DEEP)
            lane->where.region =
                (uint32_t)walk->contexts.regions.list[lane->where.region - 1].one;
    }
    lane->where = after;
    lane->place = TIDE_NO_PLACE;
    while (lane->loop_count && lane->loops[lane->loop_count - 1].depth > after.depth)
        lane->loop_count--;
    return status;
}

/* --- Rounds, phases, inherited regions -------------------------------------------------- */

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

enum tide_status tide_walk_iterate(struct tide_walk *walk,
                                   const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const bool begins = event->extra == TIDE_EXTRA_ITERATION;
    if (!lane->loop_count)
        return TIDE_OK;
    struct tide_walk_loop *const loop = &lane->loops[lane->loop_count - 1];
    if (!begins && !loop->iterates)
        return TIDE_OK;
    const struct tide_record record = {
        .kind = begins ? TIDE_RECORD_ROUND : TIDE_RECORD_ROUND_END,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = walk->process[event->process].active[TIDE_IN_HEAP],
        .number = (uint64_t)(begins ? unzigzag(event->value) : loop->iteration),
    };
    loop->iterates = begins;
    loop->iteration = (int64_t)record.number;
    lane->place = TIDE_NO_PLACE;
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return walk->wish.source == TIDE_FROM_EVENTS ? walk->row(walk->user, &record)
                                                 : TIDE_OK;
}

enum tide_status tide_walk_inherit(struct tide_walk *walk,
                                   const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const struct tide_inherited inherited = {event->value, event->value2,
                                             event->value3 != 0};
    enum tide_status status = TIDE_OK;
    if (lane->where.thread == TIDE_NO_THREAD)
        status = tide_walk_thread(walk, event->lane, 0);
    lane->place = TIDE_NO_PLACE;
    lane->visit_count = 0;
    lane->loop_count = 0;
    return status ? status
                  : tide_where_inherit(&walk->contexts, &lane->where, event->process,
                                       inherited);
}

enum tide_status tide_walk_phase(struct tide_walk *walk, const struct tide_event *event)
{
    const struct tide_trace *const trace = walk->model.trace;
    struct tide_phases *const phases = &walk->process[event->process].phases;
    const bool begins = event->extra == TIDE_EXTRA_PHASE_BEGIN;
    enum tide_status status =
        tell_mark(walk, event, begins ? TIDE_RECORD_BEGIN : TIDE_RECORD_END);
    if (!status && begins)
        status =
            tide_phases_enter(&walk->contexts, phases, event->process, event->value);
    else if (!status)
        status =
            tide_phases_leave(&walk->contexts, phases, event->process, event->value);
    for (size_t i = 0; i < trace->lane_count && !status; i++) {
        struct tide_walk_lane *const lane = &walk->lanes[i];
        if (trace->lanes[i].process != event->process ||
            lane->where.thread == TIDE_NO_THREAD)
            continue;
        const uint32_t before = lane->where.depth;
        status = tide_where_phases(&walk->contexts, &lane->where, phases);
        for (uint32_t loop = 0; loop < lane->loop_count; loop++)
            lane->loops[loop].depth += lane->where.depth - before;
        lane->place = TIDE_NO_PLACE;
    }
    return status;
}
