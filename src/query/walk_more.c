/* query/walk_more.c - the walk: places, snapshots and stretches of time. */
#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "query/walk.h"

/* --- Places --------------------------------------------------------------------------- */

bool tide_walk_add_round(struct tide_walk *walk, uint32_t *rounds, uint32_t loop,
                         uint64_t number)
{
    const struct tide_pair pair = {(uint64_t)*rounds << 32 | loop, number};
    uint32_t found;
    if (tide_pairs_find(&walk->rounds, pair, &found))
        return false;
    *rounds = found + 1;
    return true;
}

struct tide_value tide_walk_round(const struct tide_walk *walk, uint32_t rounds,
                                  uint32_t loop)
{
    while (rounds) {
        const struct tide_pair pair = walk->rounds.list[rounds - 1];
        const uint32_t name = (uint32_t)pair.one;
        if (name == loop || (!loop && name < TIDE_ATTRIBUTE_ROUND))
            return name == TIDE_OUTER_LOOP ? tide_value_uint(pair.other)
                                           : tide_value_int((int64_t)pair.other);
        rounds = (uint32_t)(pair.one >> 32);
    }
    return tide_value_none();
}

uint32_t tide_walk_find_here(struct tide_walk *walk, uint32_t lane)
{
    struct tide_walk_lane *const book = &walk->lanes[lane];
    const struct tide_walk_process *const process =
        &walk->process[walk->model.trace->lanes[lane].process];
    uint32_t rounds = 0;
    bool found = true;
    if (book->where.thread == TIDE_NO_THREAD && tide_walk_thread(walk, lane, 0))
        return TIDE_NO_PLACE;
    if (walk->wish.iterations && process->in_event)
        found = tide_walk_add_round(walk, &rounds, TIDE_OUTER_LOOP, process->event);
    for (uint32_t i = 0; walk->wish.iterations && found && i < book->loop_count; i++)
        if (book->loops[i].iterates)
            found = tide_walk_add_round(walk, &rounds, book->loops[i].name,
                                        (uint64_t)book->loops[i].iteration);
    if (found && book->held_count)
        found = tide_walk_add_values(walk, book, &rounds);
    const struct tide_pair pair = {
        (uint64_t)book->where.thread << 32 | book->where.region, rounds};
    if (!found || tide_pairs_find(&walk->places, pair, &book->place))
        book->place = TIDE_NO_PLACE;
    return book->place;
}

uint32_t tide_walk_called(struct tide_walk *walk, uint32_t process, uint64_t id)
{
    uint32_t number;
    uint32_t *texts = NULL;
    if (!tide_pairs_find(&walk->called, (struct tide_pair){process, id}, &number))
        texts = tide_grown(walk->called_texts, &walk->called_capacity,
                           (size_t)number + 1, sizeof(*texts));
    if (!texts) {
        walk->names.failed = true;
        return 0;
    }
    walk->called_texts = texts;
    if (!texts[number])
        texts[number] = tide_names_text(
            &walk->names, tide_trace_name(walk->model.trace, process, id));
    return texts[number];
}

/* The path of REGION, when that of the one around it is known or there is none. */
static uint32_t extend_path(struct tide_walk *walk, uint32_t region)
{
    const struct tide_pair pair = walk->contexts.regions.list[region - 1];
    const uint32_t around = pair.one ? walk->region_paths[pair.one] : 0;
    const char *const name = pair.other ? walk->contexts.strings[pair.other - 1] : NULL;
    return tide_names_node(&walk->names, around,
                           tide_names_text(&walk->names, name ? name : "[unnamed]"));
}

/* Regions that are around others have smaller numbers. */
uint32_t tide_walk_region(struct tide_walk *walk, uint32_t region)
{
    if (!region)
        return 0;
    if (region < walk->region_capacity && walk->region_paths[region])
        return walk->region_paths[region];
    uint32_t *const paths = tide_grown(walk->region_paths, &walk->region_capacity,
                                       (size_t)region + 1, sizeof(*paths));
    if (!paths) {
        walk->names.failed = true;
        return 0;
    }
    walk->region_paths = paths;
    for (; walk->region_count < region; walk->region_count++)
        paths[walk->region_count + 1] = extend_path(walk, walk->region_count + 1);
    return paths[region];
}

static const char *thread_name(const struct tide_walk *walk, uint32_t thread)
{
    const struct tide_trace *const trace = walk->model.trace;
    const struct tide_key_thread *const about = &walk->contexts.threads[thread];
    const char *name = NULL;
    if (about->lane >= trace->lane_count)
        return NULL;
    for (size_t i = 0; i < trace->thread_count; i++)
        if (trace->threads[i].process == about->process &&
            trace->threads[i].lane_number == trace->lanes[about->lane].number &&
            trace->threads[i].tid == about->tid)
            name = trace->threads[i].name;
    return name && *name ? name : NULL;
}

uint32_t tide_walk_thread_name(struct tide_walk *walk, uint32_t thread)
{
    uint32_t *const names = tide_grown(walk->thread_names, &walk->thread_capacity,
                                       (size_t)thread + 1, sizeof(*names));
    if (!names) {
        walk->names.failed = true;
        return 0;
    }
    walk->thread_names = names;
    if (!names[thread])
        names[thread] = tide_names_text(&walk->names, thread_name(walk, thread)) + 1;
    return names[thread] - 1;
}

uint32_t tide_walk_process_name(struct tide_walk *walk, uint32_t process)
{
    if (!walk->process_names[process]) {
        const char *const exe = walk->model.trace->processes[process].exe;
        const char *const slash = strrchr(exe, '/');
        const char *const base = slash ? slash + 1 : exe;
        walk->process_names[process] =
            (*base ? tide_names_text(&walk->names, base) : 0) + 1;
    }
    return walk->process_names[process] - 1;
}

/* --- High water ------------------------------------------------------------------------ */

void tide_walk_rise(struct tide_walk *walk, uint32_t process)
{
    const struct tide_trace *const trace = walk->model.trace;
    const uint64_t active = walk->process[process].active[TIDE_IN_HEAP];
    if (walk->stretch.active > walk->stretch.peak)
        walk->stretch.peak = walk->stretch.active;
    struct tide_walk_process *const whole = &walk->process[process];
    if (whole->visit_count && whole->visits[whole->visit_count - 1].high_water < active)
        whole->visits[whole->visit_count - 1].high_water = active;
    for (size_t i = 0; walk->wish.water && i < trace->lane_count; i++) {
        struct tide_walk_lane *const lane = &walk->lanes[i];
        if (trace->lanes[i].process != process)
            continue;
        if (lane->high_water < active)
            lane->high_water = active;
        if (lane->visit_count &&
            lane->visits[lane->visit_count - 1].high_water < active)
            lane->visits[lane->visit_count - 1].high_water = active;
    }
}

/* --- Snapshots ------------------------------------------------------------------------- */

uint32_t tide_walk_shape(const struct tide_walk *walk, const struct tide_life *life)
{
    if (!walk->wish.shapes || !life->label)
        return 0;
    return tide_shapes_at(&walk->shapes, life->process, life->address);
}

/* The label that the block has; one that was never named so far has the one that it will
 * get, as in the row of its allocation. */
static struct tide_future_label label_then(const struct tide_walk *walk,
                                           const struct tide_life *life)
{
    if (life->space == TIDE_IN_POOL)
        return (struct tide_future_label){.label = life->label};
    if (life->label_now || life->label || life->renamed)
        return (struct tide_future_label){.label = life->label_now};
    const struct tide_future_label *const ahead =
        tide_foresight_label(&walk->foresight, life->id);
    return ahead ? *ahead : (struct tide_future_label){0};
}

enum tide_status tide_walk_standing(struct tide_walk *walk,
                                    const struct tide_life *life, uint32_t name,
                                    uint64_t ticks)
{
    const struct tide_future_label label = label_then(walk, life);
    if ((!walk->wish.every_space && life->space != TIDE_IN_HEAP) ||
        (walk->wish.labelled_only && !label.label))
        return TIDE_OK;
    const struct tide_record record = {
        .kind = TIDE_RECORD_STANDING,
        .process = life->process,
        .place = life->note,
        .other_place = TIDE_NO_PLACE,
        .ticks = ticks,
        .life = life,
        .label = label.label,
        .shape = label.id ? label.shape : tide_walk_shape(walk, life),
        .foreseen = label.id != 0,
        .name = name,
    };
    return walk->row(walk->user, &record);
}

bool tide_walk_has_left(const struct tide_walk *walk, uint32_t process, uint64_t ticks)
{
    const struct tide_trace *const trace = walk->model.trace;
    const struct tide_process *const about = &trace->processes[process];
    return about->ended && about->end_ticks && about->end_ticks < ticks &&
           ticks < trace->end_ticks;
}

enum tide_status tide_walk_snapshot(struct tide_walk *walk, uint32_t name,
                                    uint64_t ticks)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 1; i < walk->lives->count && !status; i++) {
        const struct tide_life *const life = &walk->lives->list[i];
        if (life->id && !tide_walk_has_left(walk, life->process, ticks))
            status = tide_walk_standing(walk, life, name, ticks);
    }
    return status ? status : tide_walk_pools_snapshot(walk, name, ticks);
}

/* --- Stretches of time ------------------------------------------------------------------ */

/* When stretch NUMBER ends. */
static uint64_t end_of_stretch(const struct tide_trace *trace, uint32_t number)
{
    const uint64_t all = trace->end_ticks > trace->start_ticks
                             ? trace->end_ticks - trace->start_ticks
                             : 0;
    return trace->start_ticks +
           (uint64_t)((double)all * (number + 1) / TIDE_QUERY_STRETCHES);
}

/* What was resident at TICKS, of all processes. */
static void sample_rss(struct tide_walk *walk, uint64_t ticks)
{
    const struct tide_trace *const trace = walk->model.trace;
    for (;
         walk->next_rss < trace->rss_count && trace->rss[walk->next_rss].ticks <= ticks;
         walk->next_rss++) {
        const struct tide_rss_sample *const sample = &trace->rss[walk->next_rss];
        if (sample->process >= trace->process_count)
            continue;
        walk->stretch.rss += sample->bytes - walk->rss[sample->process];
        walk->rss[sample->process] = sample->bytes;
        walk->stretch.rss_known = true;
    }
}

/* Processes that have ended before TICKS hold nothing. */
static void forget_ended(struct tide_walk *walk, uint64_t ticks)
{
    for (const struct tide_ending *end; (end = tide_ends_before(&walk->ends, ticks));) {
        struct tide_walk_process *const process = &walk->process[end->process];
        process->left = true;
        walk->stretch.active -= process->active[TIDE_IN_HEAP];
        walk->stretch.blocks -= process->allocs - process->frees;
    }
}

/* What is not counted event by event, at the end of a stretch. */
static void sum_up(struct tide_walk *walk)
{
    walk->stretch.mapped = 0;
    for (size_t i = 0; i < walk->model.trace->process_count; i++) {
        if (!walk->process[i].left) {
            walk->stretch.mapped += walk->process[i].active[TIDE_IN_MMAP];
            continue;
        }
        walk->stretch.rss -= walk->rss[i];
        walk->rss[i] = 0;
    }
}

enum tide_status tide_walk_time(struct tide_walk *walk, uint64_t ticks)
{
    const struct tide_trace *const trace = walk->model.trace;
    enum tide_status status = TIDE_OK;
    while (!status && walk->stretches < TIDE_QUERY_STRETCHES) {
        const uint64_t end = end_of_stretch(trace, walk->stretches);
        if (ticks <= end)
            break;
        sample_rss(walk, end);
        forget_ended(walk, end);
        sum_up(walk);
        const struct tide_record record = {
            .kind = TIDE_RECORD_STRETCH,
            .place = TIDE_NO_PLACE,
            .other_place = TIDE_NO_PLACE,
            .ticks = end,
            .active = walk->stretch.active,
            .stretch = &walk->stretch,
        };
        walk->stretches++;
        status = walk->row(walk->user, &record);
        walk->stretch.peak = walk->stretch.active;
    }
    forget_ended(walk, ticks);
    return status;
}
