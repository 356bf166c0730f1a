/* query/field.c - take an attribute out of a record.
 *
 * This runs for every attribute of every row, so what is costly (names of stacks, threads
 * and labels) is looked up once and remembered by number in the walk.
 */
#include "query/field.h"

#include "trace/format.h"

struct tide_value tide_field_kind(struct tide_walk *walk, const struct tide_life *life)
{
    if (life->space == TIDE_IN_POOL)
        return tide_value_string(tide_names_text(&walk->names, "tide_pool_alloc"));
    uint32_t *const known = &walk->kind_texts[life->space & 1][life->kind & 31];
    if (!*known)
        *known = tide_names_text(&walk->names, tide_life_kind(life));
    return tide_value_string(*known);
}

static struct tide_value label_value(struct tide_walk *walk,
                                     const struct tide_record *record)
{
    if (!record->label)
        return tide_value_none();
    return tide_value_string(
        tide_walk_called(walk, record->process, record->label - 1));
}

/* A pool is a space of its own name. */
static struct tide_value space_value(struct tide_walk *walk,
                                     const struct tide_life *life)
{
    if (life->space == TIDE_IN_POOL)
        return tide_value_string(
            tide_walk_called(walk, life->process, life->moved_from));
    return tide_value_string(
        tide_names_text(&walk->names, tide_space_name((enum tide_space)life->space)));
}

static struct tide_value shape_value(struct tide_walk *walk,
                                     const struct tide_record *record)
{
    struct tide_shape *const list =
        record->foreseen ? walk->foresight.shapes : walk->shapes.list;
    if (!record->shape)
        return tide_value_none();
    return tide_value_string(tide_shape_text(&list[record->shape - 1], &walk->names));
}

/* Its label, or the call that made it. */
static struct tide_value called(struct tide_walk *walk,
                                const struct tide_record *record)
{
    const struct tide_value label = label_value(walk, record);
    return label.type ? label : tide_field_kind(walk, record->life);
}

/* What mem.alloc and mem.free call it: where labels have rows of their own, not by them. */
static struct tide_value event_name(struct tide_walk *walk,
                                    const struct tide_record *record)
{
    return tide_walk_labels_are_rows(walk) && record->life->space != TIDE_IN_POOL
               ? tide_field_kind(walk, record->life)
               : called(walk, record);
}

/* --- Blocks --------------------------------------------------------------------------- */

static double seconds(const struct tide_walk *walk, uint64_t ticks)
{
    return tide_trace_seconds(walk->model.trace, ticks);
}

static struct tide_value span_value(const struct tide_walk *walk, uint64_t from,
                                    uint64_t to)
{
    const double ticks = to > from ? (double)(to - from) : 0;
    return tide_value_real(ticks / walk->model.trace->ticks_per_second);
}

static struct tide_value age_value(const struct tide_walk *walk,
                                   const struct tide_record *record)
{
    const uint64_t birth = record->life->birth_ticks;
    if (record->kind == TIDE_RECORD_STANDING)
        return span_value(walk, birth, record->ticks);
    if (record->kind == TIDE_RECORD_BIRTH)
        return tide_value_real(0);
    return span_value(walk, birth,
                      record->death ? record->death->ticks
                                    : walk->model.trace->end_ticks);
}

static struct tide_value death_value(const struct tide_walk *walk,
                                     const struct tide_record *record,
                                     enum tide_attribute_id attribute)
{
    if (!record->death)
        return tide_value_none();
    if (attribute == TIDE_ATTRIBUTE_LIFETIME)
        return span_value(walk, record->life->birth_ticks, record->death->ticks);
    return tide_value_real(seconds(walk, record->death->ticks));
}

static struct tide_value stack_value(struct tide_walk *walk, uint32_t stack,
                                     enum tide_attribute_id attribute)
{
    if (attribute == TIDE_ATTRIBUTE_STACK)
        return tide_value_path(tide_frames_path(&walk->frames, stack));
    const struct tide_stack_place *const place =
        tide_frames_place(&walk->frames, stack);
    if (!place) {
        walk->names.failed = true;
        return tide_value_none();
    }
    if (attribute == TIDE_ATTRIBUTE_LEAF)
        return tide_value_string(place->function);
    if (attribute == TIDE_ATTRIBUTE_MODULE)
        return tide_value_string(place->module);
    if (attribute == TIDE_ATTRIBUTE_FILE)
        return tide_value_string(place->file);
    return place->line ? tide_value_uint(place->line) : tide_value_none();
}

/* Did another thread free the block than made it? */
static bool is_foreign(const struct tide_walk *walk, const struct tide_record *record)
{
    return record->other_place != TIDE_NO_PLACE &&
           tide_walk_place(walk, record->other_place).thread !=
               tide_walk_place(walk, record->place).thread;
}

/* Rows of labels have what Caliper's have; what else there is to know of the memory is
 * said by the row of its block. */
static struct tide_value label_row_value(struct tide_walk *walk,
                                         const struct tide_record *record,
                                         enum tide_attribute_id attribute)
{
    const struct tide_life *const life = record->life;
    const bool ends = record->kind == TIDE_RECORD_LABEL_END;
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_MEM_ALLOC:
        return ends ? tide_value_none() : label_value(walk, record);
    case TIDE_ATTRIBUTE_MEM_FREE:
        return ends ? label_value(walk, record) : tide_value_none();
    case TIDE_ATTRIBUTE_LABEL:
        return walk->wish.labelled_only ? label_value(walk, record) : tide_value_none();
    case TIDE_ATTRIBUTE_ALLOC_UID:
        return life->moved_from ? tide_value_uint(life->moved_from) : tide_value_none();
    case TIDE_ATTRIBUTE_ALLOC_ADDRESS:
        return (struct tide_value){.type = TIDE_VALUE_ADDRESS, .word = life->address};
    case TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE:
        return tide_value_int(ends ? -(int64_t)life->size : (int64_t)life->size);
    default:
        return tide_value_none();
    }
}

/* Attributes of rows that have to do with a block. */
static struct tide_value block_value(struct tide_walk *walk,
                                     const struct tide_record *record,
                                     enum tide_attribute_id attribute)
{
    const struct tide_life *const life = record->life;
    const bool death = record->kind == TIDE_RECORD_DEATH;
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_MEM_ALLOC:
        return death ? tide_value_none() : event_name(walk, record);
    case TIDE_ATTRIBUTE_MEM_FREE:
        return death ? event_name(walk, record) : tide_value_none();
    case TIDE_ATTRIBUTE_BLOCK_LABEL:
        return death ? tide_value_none() : called(walk, record);
    case TIDE_ATTRIBUTE_ALLOC_UID:
        return tide_value_uint(life->id);
    case TIDE_ATTRIBUTE_ALLOC_ADDRESS:
        return (struct tide_value){.type = TIDE_VALUE_ADDRESS, .word = life->address};
    case TIDE_ATTRIBUTE_ALLOC_TOTAL_SIZE:
        return tide_value_int(death ? -(int64_t)life->size : (int64_t)life->size);
    case TIDE_ATTRIBUTE_LABEL:
        return label_value(walk, record);
    case TIDE_ATTRIBUTE_SHAPE:
        return shape_value(walk, record);
    case TIDE_ATTRIBUTE_KIND:
        return tide_field_kind(walk, life);
    case TIDE_ATTRIBUTE_SPACE:
        return space_value(walk, life);
    case TIDE_ATTRIBUTE_SIZE:
        return tide_value_uint(life->size);
    case TIDE_ATTRIBUTE_USABLE:
        return tide_value_uint(life->usable);
    case TIDE_ATTRIBUTE_AGE:
        return age_value(walk, record);
    case TIDE_ATTRIBUTE_LIFETIME:
    case TIDE_ATTRIBUTE_FREE_TIME:
        return death_value(walk, record, attribute);
    case TIDE_ATTRIBUTE_LIVE:
        return tide_value_flag(record->kind == TIDE_RECORD_BLOCK && !record->death);
    case TIDE_ATTRIBUTE_TEMPORARY:
        return tide_value_flag(record->temporary);
    case TIDE_ATTRIBUTE_FOREIGN:
        return tide_value_flag(is_foreign(walk, record));
    case TIDE_ATTRIBUTE_PEAK:
        return tide_value_flag(record->peak);
    default:
        return stack_value(walk, life->stack, attribute);
    }
}

/* --- Places --------------------------------------------------------------------------- */

uint32_t tide_field_place(const struct tide_record *record,
                          enum tide_attribute_id attribute)
{
    const bool death =
        record->kind == TIDE_RECORD_DEATH || record->kind == TIDE_RECORD_LABEL_END;
    const bool of_birth = attribute == TIDE_ATTRIBUTE_ALLOC_REGION ||
                          attribute == TIDE_ATTRIBUTE_ALLOC_THREAD;
    const bool of_death = attribute == TIDE_ATTRIBUTE_FREE_REGION ||
                          attribute == TIDE_ATTRIBUTE_FREE_THREAD;
    if (of_birth)
        return record->life ? record->place : TIDE_NO_PLACE;
    return of_death || death ? record->other_place : record->place;
}

/* The path of those regions around that are what ATTRIBUTE is called. */
static struct tide_value kind_value(struct tide_walk *walk, uint32_t region,
                                    enum tide_attribute_id attribute)
{
    uint32_t *const name = &walk->kind_names[attribute - TIDE_ATTRIBUTE_FUNCTION];
    if (!*name)
        *name = tide_names_text(&walk->names, tide_attribute_table[attribute].name);
    return tide_value_path(tide_walk_path_of(walk, region, *name));
}

/* What the program calls `iteration` stands where no loop iterates: as of a place (USER),
 * or as it begins or ends. */
static struct tide_value own_iteration(struct tide_walk *walk,
                                       const struct tide_record *record,
                                       enum tide_slot_kind kind)
{
    const char *const name = tide_attribute_table[TIDE_ATTRIBUTE_ITERATION].name;
    return walk->attributes.count
               ? tide_field_other(walk, record, kind,
                                  tide_names_text(&walk->names, name))
               : tide_value_none();
}

static struct tide_value place_value(struct tide_walk *walk,
                                     const struct tide_record *record,
                                     enum tide_attribute_id attribute)
{
    const uint32_t number = tide_field_place(record, attribute);
    if (number == TIDE_NO_PLACE)
        return tide_value_none();
    const struct tide_walk_place place = tide_walk_place(walk, number);
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_REGION:
    case TIDE_ATTRIBUTE_ALLOC_REGION:
    case TIDE_ATTRIBUTE_FREE_REGION:
        return tide_value_path(tide_walk_region(walk, place.region));
    case TIDE_ATTRIBUTE_FUNCTION:
    case TIDE_ATTRIBUTE_ANNOTATION:
    case TIDE_ATTRIBUTE_LOOP:
    case TIDE_ATTRIBUTE_PHASE:
        return kind_value(walk, place.region, attribute);
    case TIDE_ATTRIBUTE_THREAD_NAME:
        return tide_value_string(tide_walk_thread_name(walk, place.thread));
    case TIDE_ATTRIBUTE_EVENT:
        return tide_walk_round(walk, place.rounds, TIDE_OUTER_LOOP);
    case TIDE_ATTRIBUTE_ITERATION: {
        const struct tide_value round = tide_walk_round(walk, place.rounds, 0);
        return round.type ? round : own_iteration(walk, record, TIDE_SLOT_USER);
    }
    default: {
        const uint32_t tid = walk->contexts.threads[place.thread].tid;
        return tid ? tide_value_uint(tid) : tide_value_none();
    }
    }
}

/* --- Marks, visits, stretches ----------------------------------------------------------- */

static struct tide_value mark_value(struct tide_walk *walk,
                                    const struct tide_record *record,
                                    enum tide_attribute_id attribute)
{
    const enum tide_record_kind kind = record->kind;
    const bool named =
        (attribute == TIDE_ATTRIBUTE_BEGIN_REGION && kind == TIDE_RECORD_BEGIN) ||
        (attribute == TIDE_ATTRIBUTE_END_REGION && kind == TIDE_RECORD_END) ||
        (attribute == TIDE_ATTRIBUTE_SNAPSHOT && kind == TIDE_RECORD_STANDING);
    if (named)
        return tide_value_string(record->name);
    if (attribute == TIDE_ATTRIBUTE_SET_EVENT && kind == TIDE_RECORD_ITERATION)
        return tide_value_uint(record->number);
    if ((attribute == TIDE_ATTRIBUTE_BEGIN_ITERATION && kind == TIDE_RECORD_ROUND) ||
        (attribute == TIDE_ATTRIBUTE_END_ITERATION && kind == TIDE_RECORD_ROUND_END))
        return tide_value_int((int64_t)record->number);
    if (attribute == TIDE_ATTRIBUTE_BEGIN_ITERATION && kind == TIDE_RECORD_SET_BEGIN)
        return own_iteration(walk, record, TIDE_SLOT_BEGIN);
    if (attribute == TIDE_ATTRIBUTE_END_ITERATION && kind == TIDE_RECORD_SET_END)
        return own_iteration(walk, record, TIDE_SLOT_END);
    return tide_value_none();
}

static struct tide_value visit_value(const struct tide_walk *walk,
                                     const struct tide_record *record,
                                     enum tide_attribute_id attribute)
{
    const struct tide_visit *const visit = record->visit;
    const struct tide_walk_tally tally = tide_walk_tally(walk, visit->region);
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_DURATION:
        return span_value(walk, visit->begin_ticks, record->ticks);
    case TIDE_ATTRIBUTE_TIME_DURATION:
        return span_value(walk, 0, visit->own);
    case TIDE_ATTRIBUTE_ALLOCS:
        return tide_value_uint(visit->allocs);
    case TIDE_ATTRIBUTE_ALLOCATED:
        return tide_value_uint(visit->allocated);
    case TIDE_ATTRIBUTE_FREES:
        return tide_value_uint(visit->frees);
    case TIDE_ATTRIBUTE_FREED:
        return tide_value_uint(visit->freed);
    case TIDE_ATTRIBUTE_TALLY:
        return tide_value_uint(tally.most);
    case TIDE_ATTRIBUTE_OWN_COUNT:
        return tide_value_uint(tally.calls);
    case TIDE_ATTRIBUTE_OWN_BYTES:
        return tide_value_uint(tally.bytes);
    case TIDE_ATTRIBUTE_OWN_AVERAGE:
        return tally.calls ? tide_value_uint(tally.bytes / tally.calls)
                           : tide_value_none();
    case TIDE_ATTRIBUTE_OWN_LARGEST:
        return tally.calls ? tide_value_uint(tally.largest) : tide_value_none();
    default:
        return tide_value_int((int64_t)(visit->allocated - visit->freed));
    }
}

static struct tide_value stretch_value(const struct tide_record *record,
                                       enum tide_attribute_id attribute)
{
    const struct tide_stretch_facts *const facts = record->stretch;
    const uint64_t page = 4096; /* of x86-64, which is recorded */
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_MEM_PEAK:
        return tide_value_uint(facts->peak);
    case TIDE_ATTRIBUTE_MMAP_ACTIVE:
        return tide_value_uint(facts->mapped);
    case TIDE_ATTRIBUTE_BLOCKS:
        return tide_value_uint(facts->blocks);
    case TIDE_ATTRIBUTE_RSS_PAGES:
        return facts->rss_known ? tide_value_uint(facts->rss / page)
                                : tide_value_none();
    default:
        return facts->rss_known ? tide_value_uint(facts->rss) : tide_value_none();
    }
}

static struct tide_value time_value(const struct tide_walk *walk,
                                    const struct tide_record *record,
                                    enum tide_attribute_id attribute)
{
    const uint64_t ticks = record->visit ? record->visit->begin_ticks : record->ticks;
    const double at = seconds(walk, ticks);
    if (attribute == TIDE_ATTRIBUTE_TIME_OFFSET)
        return tide_value_real(at * 1e6);
    if (attribute == TIDE_ATTRIBUTE_TIME_OFFSET_NS)
        return tide_value_uint(at > 0 ? (uint64_t)(at * 1e9 + 0.5) : 0);
    return tide_value_real(at);
}

static struct tide_value process_value(struct tide_walk *walk,
                                       const struct tide_record *record,
                                       enum tide_attribute_id attribute)
{
    if (record->stretch)
        return tide_value_none();
    if (attribute == TIDE_ATTRIBUTE_PROCESS)
        return tide_value_uint(walk->model.trace->processes[record->process].pid);
    return tide_value_string(tide_walk_process_name(walk, record->process));
}

static struct tide_value level_value(const struct tide_record *record,
                                     enum tide_attribute_id attribute)
{
    const enum tide_record_kind kind = record->kind;
    const bool active = attribute == TIDE_ATTRIBUTE_MEM_ACTIVE;
    const bool known = active
                           ? kind != TIDE_RECORD_BLOCK && kind != TIDE_RECORD_STANDING
                           : kind == TIDE_RECORD_BEGIN || kind == TIDE_RECORD_END ||
                                 kind == TIDE_RECORD_VISIT;
    if (!known)
        return tide_value_none();
    return tide_value_uint(active ? record->active : record->high_water);
}

/* MPI's rank.  A launcher has none; only where nobody has one it is the number of the
 * trace.  A stretch is of no process, and there may be none in what is left of a trace. */
static struct tide_value rank_of(const struct tide_walk *walk,
                                 const struct tide_record *record)
{
    if (!walk->has_ranks)
        return tide_value_uint(walk->rank);
    if (record->stretch)
        return tide_value_none();
    const struct tide_process *const process =
        &walk->model.trace->processes[record->process];
    return process->ranked ? tide_value_uint(process->rank) : tide_value_none();
}

/* --- All ------------------------------------------------------------------------------- */

/* Of a visit to a region, a stretch of time, a label or a block. */
static struct tide_value sum_value(struct tide_walk *walk,
                                   const struct tide_record *record,
                                   enum tide_attribute_id attribute)
{
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_DURATION:
    case TIDE_ATTRIBUTE_TIME_DURATION:
    case TIDE_ATTRIBUTE_ALLOCS:
    case TIDE_ATTRIBUTE_ALLOCATED:
    case TIDE_ATTRIBUTE_FREES:
    case TIDE_ATTRIBUTE_FREED:
    case TIDE_ATTRIBUTE_GROWTH:
    case TIDE_ATTRIBUTE_TALLY:
    case TIDE_ATTRIBUTE_OWN_COUNT:
    case TIDE_ATTRIBUTE_OWN_BYTES:
    case TIDE_ATTRIBUTE_OWN_AVERAGE:
    case TIDE_ATTRIBUTE_OWN_LARGEST:
        return record->visit ? visit_value(walk, record, attribute) : tide_value_none();
    case TIDE_ATTRIBUTE_MEM_PEAK:
    case TIDE_ATTRIBUTE_MMAP_ACTIVE:
    case TIDE_ATTRIBUTE_BLOCKS:
    case TIDE_ATTRIBUTE_RSS:
    case TIDE_ATTRIBUTE_RSS_PAGES:
        return record->stretch ? stretch_value(record, attribute) : tide_value_none();
    default:
        if (record->kind == TIDE_RECORD_LABEL || record->kind == TIDE_RECORD_LABEL_END)
            return label_row_value(walk, record, attribute);
        return record->life ? block_value(walk, record, attribute) : tide_value_none();
    }
}

struct tide_value tide_field(struct tide_walk *walk, const struct tide_record *record,
                             enum tide_attribute_id attribute)
{
    switch ((int)attribute) {
    case TIDE_ATTRIBUTE_REGION:
    case TIDE_ATTRIBUTE_FUNCTION:
    case TIDE_ATTRIBUTE_ANNOTATION:
    case TIDE_ATTRIBUTE_LOOP:
    case TIDE_ATTRIBUTE_PHASE:
    case TIDE_ATTRIBUTE_ALLOC_REGION:
    case TIDE_ATTRIBUTE_FREE_REGION:
    case TIDE_ATTRIBUTE_THREAD:
    case TIDE_ATTRIBUTE_THREAD_NAME:
    case TIDE_ATTRIBUTE_ALLOC_THREAD:
    case TIDE_ATTRIBUTE_FREE_THREAD:
    case TIDE_ATTRIBUTE_EVENT:
    case TIDE_ATTRIBUTE_ITERATION:
        return place_value(walk, record, attribute);
    case TIDE_ATTRIBUTE_PROCESS:
    case TIDE_ATTRIBUTE_PROCESS_NAME:
        return process_value(walk, record, attribute);
    case TIDE_ATTRIBUTE_RANK:
        return rank_of(walk, record);
    case TIDE_ATTRIBUTE_TRACE:
        return tide_value_string(walk->trace_name);
    case TIDE_ATTRIBUTE_TIME:
    case TIDE_ATTRIBUTE_TIME_OFFSET:
    case TIDE_ATTRIBUTE_TIME_OFFSET_NS:
        return time_value(walk, record, attribute);
    case TIDE_ATTRIBUTE_MEM_ACTIVE:
    case TIDE_ATTRIBUTE_HIGH_WATER:
        return level_value(record, attribute);
    case TIDE_ATTRIBUTE_BEGIN_REGION:
    case TIDE_ATTRIBUTE_END_REGION:
    case TIDE_ATTRIBUTE_BEGIN_ITERATION:
    case TIDE_ATTRIBUTE_END_ITERATION:
    case TIDE_ATTRIBUTE_SET_EVENT:
    case TIDE_ATTRIBUTE_SNAPSHOT:
        return mark_value(walk, record, attribute);
    default:
        return sum_value(walk, record, attribute);
    }
}
