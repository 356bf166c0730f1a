/* model/told_regions.c - visits of regions: when they begin and end, and what stood then.
 *
 * The highest level during a visit: each process keeps the highest since the last mark,
 * and a mark hands it to the innermost visit of every lane; a visit that ends hands its own
 * to the one around it.  What stays of a visit is the visitor's own doing: threads that are
 * in a region at the same time would each have what all of them keep.
 */
#include <string.h>

#include "base/raw/varint.h"
#include "model/grow.h"
#include "model/told_walk.h"
#include "trace/format.h"

struct tide_told_region *tide_told_row(struct tide_told_walk *walk, uint32_t region)
{
    struct tide_told *const told = walk->told;
    struct tide_told_region *const list =
        tide_grown(told->regions, &walk->region_capacity, (size_t)region + 1,
                   sizeof(*told->regions));
    if (!list)
        return NULL;
    told->regions = list;
    if (told->region_count <= region)
        told->region_count = (size_t)region + 1;
    return &list[region];
}

/* --- Visits --------------------------------------------------------------------------- */

static void end_iteration(struct tide_told_walk *walk, struct tide_visit *visit,
                          const struct tide_told_process *process)
{
    struct tide_told_region *const row = tide_told_row(walk, visit->region);
    if (!visit->iterating || !row)
        return;
    visit->iterating = false;
    tide_spread_add(&row->iteration_calls, process->calls - visit->iteration_calls);
    tide_spread_add(&row->iteration_bytes, process->bytes - visit->iteration_bytes);
    row->iteration_kept_bytes += (int64_t)(process->live - visit->iteration_live);
}

static void begin_visit(struct tide_told_walk *walk, struct tide_visits *visits,
                        const struct tide_visit *visit)
{
    struct tide_told_region *const row = tide_told_row(walk, visit->region);
    if (!row || visits->count == TIDE_REGIONS_DEEP)
        return;
    visits->list[visits->count] = *visit;
    visits->list[visits->count++].kept = visits->kept;
    if (row->visits++ == 0)
        row->entry_bytes = visit->entry;
    row->window_visits += visit->in_window;
    row->loop |= visit->loop;
}

static void end_visit(struct tide_told_walk *walk, struct tide_visits *visits,
                      const struct tide_told_process *process)
{
    struct tide_visit *const visit = &visits->list[visits->count - 1];
    end_iteration(walk, visit, process);
    struct tide_told_region *const row = tide_told_row(walk, visit->region);
    visits->count--;
    if (!row)
        return;
    row->exit_bytes = process->live;
    row->delta_bytes += (int64_t)(visits->kept - visit->kept);
    if (visit->peak > row->peak_bytes)
        row->peak_bytes = visit->peak;
    if (visits->count > 0 && visits->list[visits->count - 1].peak < visit->peak)
        visits->list[visits->count - 1].peak = visit->peak;
}

static void end_deeper(struct tide_told_walk *walk, struct tide_visits *visits,
                       const struct tide_told_process *process, uint32_t depth)
{
    while (visits->count > 0 && visits->list[visits->count - 1].depth > depth)
        end_visit(walk, visits, process);
}

static void raise(struct tide_visits *visits, uint64_t high)
{
    if (visits->count > 0 && visits->list[visits->count - 1].peak < high)
        visits->list[visits->count - 1].peak = high;
}

/* Before anything changes: the level since the last mark belongs to who is inside. */
static void settle(struct tide_told_walk *walk, uint32_t process)
{
    struct tide_told_process *const own = &walk->processes[process];
    const size_t lanes = walk->model->trace->lane_count;
    for (size_t i = 0; i < lanes; i++)
        if (walk->lanes[i].known && walk->lanes[i].process == process)
            raise(&walk->lanes[i].visits, own->high);
    raise(&own->visits, own->high);
    own->high = own->live;
}

struct tide_told_lane *tide_told_lane(struct tide_told_walk *walk, uint32_t lane,
                                      uint32_t process)
{
    struct tide_told_lane *const own = &walk->lanes[lane];
    if (!own->known) {
        own->known = true;
        own->process = process;
        tide_told_windows_inherit(walk, process);
        tide_where_begin(&own->where);
        (void)tide_where_phases(&walk->contexts, &own->where,
                                &walk->processes[process].phases);
    }
    return own;
}

/* --- Marks ---------------------------------------------------------------------------- */

static enum tide_status enter(struct tide_told_walk *walk, struct tide_told_lane *lane,
                              const struct tide_event *event)
{
    const struct tide_told_process *const process = &walk->processes[event->process];
    const uint32_t before = lane->where.region;
    const enum tide_status status =
        tide_where_enter(&walk->contexts, &lane->where, event->process, event->value);
    const struct tide_visit visit = {
        .region = lane->where.region,
        .depth = lane->where.depth,
        .loop = event->extra == TIDE_EXTRA_LOOP_BEGIN,
        .in_window = process->windows > 0,
        .entry = process->live,
        .peak = process->live,
    };
    if (!status && lane->where.region != before)
        begin_visit(walk, &lane->visits, &visit);
    return status;
}

static enum tide_status leave(struct tide_told_walk *walk, struct tide_told_lane *lane,
                              const struct tide_event *event)
{
    const enum tide_status status =
        tide_where_leave(&walk->contexts, &lane->where, event->process, event->value);
    end_deeper(walk, &lane->visits, &walk->processes[event->process],
               lane->where.depth);
    return status;
}

static void iterate(struct tide_told_walk *walk, struct tide_told_lane *lane,
                    const struct tide_event *event)
{
    const struct tide_told_process *const process = &walk->processes[event->process];
    struct tide_visit *loop = NULL;
    for (uint32_t i = lane->visits.count; i > 0 && !loop; i--)
        if (lane->visits.list[i - 1].loop)
            loop = &lane->visits.list[i - 1];
    if (!loop)
        return;
    end_iteration(walk, loop, process);
    if (event->extra == TIDE_EXTRA_ITERATION_END)
        return;
    loop->iterating = true;
    loop->iteration_live = process->live;
    loop->iteration_calls = process->calls;
    loop->iteration_bytes = process->bytes;
}

/* The regions of all threads move into the phase, or out of it. */
static enum tide_status rebase(struct tide_told_walk *walk, uint32_t process)
{
    const struct tide_phases *const phases = &walk->processes[process].phases;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < walk->model->trace->lane_count && !status; i++) {
        struct tide_told_lane *const lane = &walk->lanes[i];
        if (!lane->known || lane->process != process)
            continue;
        const uint32_t before = lane->where.phases;
        status = tide_where_phases(&walk->contexts, &lane->where, phases);
        for (uint32_t k = 0; k < lane->visits.count; k++)
            lane->visits.list[k].depth += phases->depth - before;
    }
    return status;
}

static enum tide_status change_phase(struct tide_told_walk *walk,
                                     const struct tide_event *event)
{
    struct tide_told_process *const process = &walk->processes[event->process];
    struct tide_phases *const phases = &process->phases;
    const uint32_t depth = phases->depth;
    enum tide_status status =
        event->extra == TIDE_EXTRA_PHASE_BEGIN
            ? tide_phases_enter(&walk->contexts, phases, event->process, event->value)
            : tide_phases_leave(&walk->contexts, phases, event->process, event->value);
    if (status)
        return status;
    end_deeper(walk, &process->visits, process, phases->depth);
    if (phases->depth > depth) {
        const struct tide_visit visit = {.region = phases->region,
                                         .depth = phases->depth,
                                         .in_window = process->windows > 0,
                                         .entry = process->live,
                                         .peak = process->live};
        begin_visit(walk, &process->visits, &visit);
        struct tide_told_region *const row = tide_told_row(walk, phases->region);
        if (!row)
            return TIDE_ENOMEM;
        row->phase = true;
    }
    return rebase(walk, event->process);
}

static void begin_thread(struct tide_told_walk *walk, struct tide_told_lane *lane,
                         const struct tide_event *event)
{
    end_deeper(walk, &lane->visits, &walk->processes[event->process], 0);
    lane->known = false;
    (void)tide_told_lane(walk, event->lane, event->process);
}

static enum tide_status inherit(struct tide_told_walk *walk,
                                struct tide_told_lane *lane,
                                const struct tide_event *event)
{
    const struct tide_inherited inherited = {event->value, event->value2,
                                             event->value3 != 0};
    if (inherited.level == 0)
        end_deeper(walk, &lane->visits, &walk->processes[event->process], 0);
    return tide_where_inherit(&walk->contexts, &lane->where, event->process, inherited);
}

enum tide_status tide_told_mark(struct tide_told_walk *walk,
                                const struct tide_event *event)
{
    struct tide_told_lane *const lane =
        tide_told_lane(walk, event->lane, event->process);
    switch (event->extra) {
    case TIDE_EXTRA_REGION_BEGIN:
    case TIDE_EXTRA_LOOP_BEGIN:
        settle(walk, event->process);
        return enter(walk, lane, event);
    case TIDE_EXTRA_REGION_END:
        settle(walk, event->process);
        return leave(walk, lane, event);
    case TIDE_EXTRA_ITERATION:
    case TIDE_EXTRA_ITERATION_END:
        iterate(walk, lane, event);
        return TIDE_OK;
    case TIDE_EXTRA_PHASE_BEGIN:
    case TIDE_EXTRA_PHASE_END:
        settle(walk, event->process);
        return change_phase(walk, event);
    case TIDE_EXTRA_THREAD_BEGIN:
    case TIDE_EXTRA_THREAD_END:
        settle(walk, event->process);
        begin_thread(walk, lane, event);
        return TIDE_OK;
    case TIDE_EXTRA_REGION_BASE:
        settle(walk, event->process);
        return inherit(walk, lane, event);
    default:
        return TIDE_OK;
    }
}

void tide_told_leave_all(struct tide_told_walk *walk)
{
    const struct tide_trace *const trace = walk->model->trace;
    for (uint32_t i = 0; i < trace->process_count; i++)
        settle(walk, i);
    for (size_t i = 0; i < trace->lane_count; i++)
        if (walk->lanes[i].known)
            end_deeper(walk, &walk->lanes[i].visits,
                       &walk->processes[walk->lanes[i].process], 0);
    for (size_t i = 0; i < trace->process_count; i++)
        end_deeper(walk, &walk->processes[i].visits, &walk->processes[i], 0);
}
