/* query/walk_visits.c - the walk: visits to regions and phases, FROM regions.
 *
 * A visit becomes a row when it ends; what is never ended ends with its thread or process.
 * What a visit takes itself is what the visits in it leave: of a phase, what its thread
 * did not spend in regions.  So the sum over all of a thread is the time that it was in any.
 */
#include "model/grow.h"
#include "query/walk.h"

/* --- Regions ---------------------------------------------------------------------------- */

enum tide_status tide_walk_visit(struct tide_walk *walk, uint32_t lane, uint64_t ticks)
{
    struct tide_walk_lane *const book = &walk->lanes[lane];
    const uint32_t depth = tide_walk_own_depth(&book->where);
    if (walk->wish.source != TIDE_FROM_REGIONS || depth <= book->visit_count)
        return TIDE_OK;
    struct tide_visit *const visits =
        tide_grown(book->visits, &book->visit_capacity, depth, sizeof(*visits));
    if (!visits)
        return TIDE_ENOMEM;
    const uint32_t process = walk->model.trace->lanes[lane].process;
    const uint64_t active = walk->process[process].active[TIDE_IN_HEAP];
    book->visits = visits;
    while (book->visit_count < depth) {
        const bool entered = book->visit_count + 1 == depth;
        visits[book->visit_count++] = (struct tide_visit){
            .begin_ticks = ticks,
            .region = entered ? book->where.region : 0,
            .allocs = book->allocs,
            .allocated = book->allocated,
            .frees = book->frees,
            .freed = book->freed,
            .active = active,
            .high_water = active,
        };
    }
    return TIDE_OK;
}

static uint64_t ticks_between(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* VISIT, of LANE, ends. */
static enum tide_status tell(struct tide_walk *walk, const struct tide_visit *visit,
                             uint32_t lane, uint64_t ticks)
{
    struct tide_walk_lane *const book = &walk->lanes[lane];
    const uint32_t where = book->where.region;
    if (!visit->region)
        return TIDE_OK;
    book->where.region = visit->region;
    book->place = TIDE_NO_PLACE;
    const struct tide_record record = {
        .kind = TIDE_RECORD_VISIT,
        .process = walk->model.trace->lanes[lane].process,
        .place = tide_walk_here(walk, lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = ticks,
        .active = visit->active,
        .high_water = visit->high_water,
        .visit = visit,
    };
    book->where.region = where;
    book->place = TIDE_NO_PLACE;
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    const enum tide_status status = walk->row(walk->user, &record);
    if (visit->region < walk->tally_capacity) {
        struct tide_walk_tally *const tally = &walk->tallies[visit->region];
        tally->calls = tally->bytes = tally->largest = 0;
    }
    return status;
}

/* What VISIT has seen is part of what is around it: the last of COUNT VISITS. */
static void hand_on(const struct tide_visit *visit, uint64_t ticks,
                    struct tide_visit *visits, size_t count)
{
    if (!count)
        return;
    visits[count - 1].inside += ticks;
    if (visits[count - 1].high_water < visit->high_water)
        visits[count - 1].high_water = visit->high_water;
}

enum tide_status tide_walk_visits_end(struct tide_walk *walk, uint32_t lane,
                                      uint32_t depth, uint64_t ticks)
{
    struct tide_walk_lane *const book = &walk->lanes[lane];
    enum tide_status status = TIDE_OK;
    while (!status && book->visit_count > depth) {
        struct tide_visit visit = book->visits[--book->visit_count];
        const uint64_t took = ticks_between(visit.begin_ticks, ticks);
        hand_on(&visit, took, book->visits, book->visit_count);
        book->region_ticks += book->visit_count ? 0 : took;
        visit.own = ticks_between(visit.inside, took);
        visit.allocs = book->allocs - visit.allocs;
        visit.allocated = book->allocated - visit.allocated;
        visit.frees = book->frees - visit.frees;
        visit.freed = book->freed - visit.freed;
        status = tell(walk, &visit, lane, ticks);
    }
    return status;
}

/* --- Phases ----------------------------------------------------------------------------- */

/* How long LANE was in regions by TICKS. */
static uint64_t region_ticks(const struct tide_walk *walk, uint32_t lane,
                             uint64_t ticks)
{
    const struct tide_walk_lane *const book = &walk->lanes[lane];
    return book->region_ticks +
           (book->visit_count ? ticks_between(book->visits[0].begin_ticks, ticks) : 0);
}

static enum tide_status begin_phase(struct tide_walk *walk,
                                    const struct tide_event *event)
{
    struct tide_walk_process *const process = &walk->process[event->process];
    const uint64_t active = process->active[TIDE_IN_HEAP];
    struct tide_visit *const visits =
        tide_grown(process->visits, &process->visit_capacity, process->visit_count + 1,
                   sizeof(*visits));
    if (!visits)
        return TIDE_ENOMEM;
    process->visits = visits;
    visits[process->visit_count++] = (struct tide_visit){
        .begin_ticks = event->ticks,
        .region = process->phases.region,
        .lane = event->lane,
        .before = region_ticks(walk, event->lane, event->ticks),
        .allocs = process->allocs,
        .allocated = process->allocated,
        .frees = process->frees,
        .freed = process->freed,
        .active = active,
        .high_water = active,
    };
    return TIDE_OK;
}

/* The phases of PROCESS beyond DEPTH end. */
static enum tide_status end_phases(struct tide_walk *walk,
                                   struct tide_walk_process *process, uint32_t depth,
                                   uint64_t ticks)
{
    enum tide_status status = TIDE_OK;
    while (!status && process->visit_count > depth) {
        struct tide_visit visit = process->visits[--process->visit_count];
        const uint64_t in_regions =
            ticks_between(visit.before, region_ticks(walk, visit.lane, ticks));
        const uint64_t rest =
            ticks_between(in_regions, ticks_between(visit.begin_ticks, ticks));
        hand_on(&visit, rest, process->visits, process->visit_count);
        visit.own = ticks_between(visit.inside, rest);
        visit.allocs = process->allocs - visit.allocs;
        visit.allocated = process->allocated - visit.allocated;
        visit.frees = process->frees - visit.frees;
        visit.freed = process->freed - visit.freed;
        status = tell(walk, &visit, visit.lane, ticks);
    }
    return status;
}

enum tide_status tide_walk_phase_visits(struct tide_walk *walk,
                                        const struct tide_event *event)
{
    struct tide_walk_process *const process = &walk->process[event->process];
    if (walk->wish.source != TIDE_FROM_REGIONS)
        return TIDE_OK;
    if (process->phases.depth > process->visit_count)
        return begin_phase(walk, event);
    return end_phases(walk, process, process->phases.depth, event->ticks);
}

/* When PROCESS ended. */
static uint64_t end_of(const struct tide_trace *trace, uint32_t process)
{
    return trace->processes[process].ended ? trace->processes[process].end_ticks
                                           : trace->end_ticks;
}

enum tide_status tide_walk_visits_last(struct tide_walk *walk)
{
    const struct tide_trace *const trace = walk->model.trace;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < trace->lane_count && !status; i++) {
        if (walk->lanes[i].visit_count)
            status = tide_walk_visits_end(walk, i, 0,
                                          end_of(trace, trace->lanes[i].process));
    }
    for (uint32_t i = 0; i < trace->process_count && !status; i++)
        status = end_phases(walk, &walk->process[i], 0, end_of(trace, i));
    return status;
}
