/* query/walk_regions.c - the walk: threads, and the regions, loops and phases they are in.
 *
 * The rules are those of model/context.h.
 */
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

/* EVENT begins or ends REGION (a text), which is KIND (another). */
static enum tide_status tell_mark(struct tide_walk *walk,
                                  const struct tide_event *event,
                                  enum tide_record_kind what, uint32_t region,
                                  uint32_t kind)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const uint64_t active = walk->process[event->process].active[TIDE_IN_HEAP];
    const struct tide_record record = {
        .kind = what,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = active,
        .high_water = lane->high_water > active ? lane->high_water : active,
        .name = region,
        .region_kind = kind,
    };
    lane->high_water = active;
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return walk->wish.source == TIDE_FROM_EVENTS ? walk->row(walk->user, &record)
                                                 : TIDE_OK;
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
    const uint32_t before = lane->where.region;
    const uint32_t kind = tide_walk_event_kind(walk, event);
    enum tide_status status =
        tell_mark(walk, event, TIDE_RECORD_BEGIN,
                  tide_walk_called(walk, event->process, event->value), kind);
    if (!status)
        status = tide_where_enter(&walk->contexts, &lane->where, event->process,
                                  event->value);
    lane->place = TIDE_NO_PLACE;
    if (!status && lane->where.region != before)
        tide_walk_note_kind(walk, lane->where.region, kind);
    if (!status && event->extra == TIDE_EXTRA_LOOP_BEGIN)
        begin_loop(walk, event);
    return status ? status : tide_walk_visit(walk, event->lane, event->ticks);
}

/* An iteration of LOOP, the lane's innermost that has one, begins or ends at EVENT. */
static enum tide_status tell_round(struct tide_walk *walk,
                                   const struct tide_event *event,
                                   struct tide_walk_loop *loop, bool begins,
                                   int64_t iteration)
{
    const struct tide_record record = {
        .kind = begins ? TIDE_RECORD_ROUND : TIDE_RECORD_ROUND_END,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = walk->process[event->process].active[TIDE_IN_HEAP],
        .number = (uint64_t)iteration,
        .name = loop->name,
    };
    loop->iterates = begins;
    loop->iteration = iteration;
    walk->lanes[event->lane].place = TIDE_NO_PLACE;
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return walk->wish.source == TIDE_FROM_EVENTS ? walk->row(walk->user, &record)
                                                 : TIDE_OK;
}

/* Loops deeper than DEPTH end with EVENT, and with each its last iteration. */
static enum tide_status end_rounds(struct tide_walk *walk,
                                   const struct tide_event *event, uint32_t depth)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    enum tide_status status = TIDE_OK;
    for (uint32_t i = lane->loop_count; i > 0 && !status; i--) {
        struct tide_walk_loop *const loop = &lane->loops[i - 1];
        if (loop->depth > depth && loop->iterates)
            status = tell_round(walk, event, loop, false, loop->iteration);
    }
    return status;
}

/* EVENT ends the region of its lane that is at DEPTH + 1, if any: it need not say the
 * name. */
static enum tide_status tell_end(struct tide_walk *walk, const struct tide_event *event,
                                 uint32_t depth)
{
    const struct tide_where *const where = &walk->lanes[event->lane].where;
    uint32_t region = where->region;
    uint32_t name = tide_walk_called(walk, event->process, event->value);
    if (where->depth <= depth || where->depth > TIDE_REGIONS_DEEP)
        return tell_mark(walk, event, TIDE_RECORD_END, name, 0);
    for (uint32_t at = where->depth; at > depth + 1; at--)
        region = (uint32_t)walk->contexts.regions.list[region - 1].one;
    if (!name)
        name = tide_names_leaf(&walk->names, tide_walk_region(walk, region));
    return tell_mark(walk, event, TIDE_RECORD_END, name, tide_walk_kind(walk, region));
}

enum tide_status tide_walk_leave(struct tide_walk *walk, const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    const struct tide_where before = lane->where;
    enum tide_status status =
        tide_where_leave(&walk->contexts, &lane->where, event->process, event->value);
    const struct tide_where after = lane->where;
    lane->where = before; /* the end of a region is still in it */
    if (!status)
        status = end_rounds(walk, event, after.depth);
    if (!status)
        status = tell_end(walk, event, after.depth);
    lane->where = after;
    if (!status)
        status = tide_walk_visits_end(walk, event->lane,
                                      tide_walk_own_depth(&lane->where), event->ticks);
    lane->place = TIDE_NO_PLACE;
    while (lane->loop_count &&
           lane->loops[lane->loop_count - 1].depth > lane->where.depth)
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
    /* One that is not ended by itself ends where the next begins. */
    enum tide_status status = TIDE_OK;
    if (loop->iterates)
        status = tell_round(walk, event, loop, false, loop->iteration);
    if (status || !begins)
        return status;
    return tell_round(walk, event, loop, true, unzigzag(event->value));
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
    if (!status && !inherited.level)
        status = tide_walk_visits_end(walk, event->lane, 0, event->ticks);
    lane->place = TIDE_NO_PLACE;
    lane->loop_count = 0;
    if (!status)
        status = tide_where_inherit(&walk->contexts, &lane->where, event->process,
                                    inherited);
    const char *const attribute =
        tide_trace_name_attribute(walk->model.trace, event->process, event->value2);
    if (!status && attribute)
        tide_walk_note_kind(walk, lane->where.region,
                            tide_names_text(&walk->names, attribute));
    return status;
}

enum tide_status tide_walk_phase(struct tide_walk *walk, const struct tide_event *event)
{
    const struct tide_trace *const trace = walk->model.trace;
    struct tide_phases *const phases = &walk->process[event->process].phases;
    const bool begins = event->extra == TIDE_EXTRA_PHASE_BEGIN;
    const uint32_t kind = tide_names_text(&walk->names, "phase");
    enum tide_status status =
        tell_mark(walk, event, begins ? TIDE_RECORD_BEGIN : TIDE_RECORD_END,
                  tide_walk_called(walk, event->process, event->value), kind);
    if (!status && begins)
        status =
            tide_phases_enter(&walk->contexts, phases, event->process, event->value);
    else if (!status)
        status =
            tide_phases_leave(&walk->contexts, phases, event->process, event->value);
    if (!status && begins)
        tide_walk_note_kind(walk, phases->region, kind);
    if (!status)
        status = tide_walk_phase_visits(walk, event);
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
