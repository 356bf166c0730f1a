/* query/walk_pools.c - the walk: blocks that the program's own pools give out.
 *
 * They lie in blocks of the heap and are not added to them: rows only for queries that name
 * the space.  While a block lives its process is the number of (process, pool), so that two
 * pools can have a block at the same address; rows are told of a copy.
 */
#include "query/walk.h"
#include "trace/format.h"

/* LIFE, of walk->pooled, as rows show it. */
static struct tide_life as_told(const struct tide_walk *walk,
                                const struct tide_life *life)
{
    struct tide_life told = *life;
    told.process = (uint32_t)walk->pools.list[life->process].one;
    return told;
}

static enum tide_status tell(struct tide_walk *walk, const struct tide_life *life,
                             enum tide_record_kind kind, const struct tide_death *death)
{
    const struct tide_record record = {
        .kind = kind,
        .process = life->process,
        .place = life->note,
        .other_place = death ? tide_walk_here(walk, death->lane) : TIDE_NO_PLACE,
        .ticks = kind == TIDE_RECORD_DEATH ? death->ticks : life->birth_ticks,
        .life = life,
        .death = death,
        .label = life->label,
        .active = walk->process[life->process].active[TIDE_IN_HEAP],
    };
    return tide_walk_counts(walk, life, life->label) ? walk->row(walk->user, &record)
                                                     : TIDE_OK;
}

/* The block of ENTRY, which nobody finds any more, is given back. */
static enum tide_status end(struct tide_walk *walk, const struct tide_event *event,
                            uint32_t entry)
{
    const struct tide_life life = as_told(walk, &walk->pooled.list[entry]);
    const struct tide_death death = {.ticks = event->ticks, .lane = event->lane};
    enum tide_status status = TIDE_OK;
    if (walk->wish.source == TIDE_FROM_EVENTS)
        status = tell(walk, &life, TIDE_RECORD_DEATH, &death);
    else if (walk->wish.source == TIDE_FROM_BLOCKS)
        status = tell(walk, &life, TIDE_RECORD_BLOCK, &death);
    tide_lives_drop(&walk->pooled, entry);
    return status;
}

/* One that is given out twice was given back in between. */
static enum tide_status begin(struct tide_walk *walk, const struct tide_event *event,
                              uint32_t pool)
{
    const uint32_t label = (uint32_t)event->value3;
    const struct tide_life life = {
        .id = ++walk->last_pooled,
        .address = event->value,
        .size = event->value2,
        .usable = event->value2,
        .left = event->value2,
        .birth_ticks = event->ticks,
        .moved_from = event->value3 >> 32,
        .process = pool,
        .label = label && label < UINT32_MAX ? label + 1 : 0,
        .note = tide_walk_here(walk, event->lane),
        .space = TIDE_IN_POOL,
    };
    const uint32_t before = tide_lives_take(&walk->pooled, pool, life.address);
    enum tide_status status = before ? end(walk, event, before) : TIDE_OK;
    uint32_t entry;
    if (!status)
        status = tide_lives_add(&walk->pooled, &life, &entry);
    if (!status)
        status = tide_lives_put(&walk->pooled, entry);
    const struct tide_life told = as_told(walk, &life);
    return status || walk->wish.source != TIDE_FROM_EVENTS
               ? status
               : tell(walk, &told, TIDE_RECORD_BIRTH, NULL);
}

enum tide_status tide_walk_pool(struct tide_walk *walk, const struct tide_event *event)
{
    const bool begins = event->extra == TIDE_EXTRA_POOL_ALLOC;
    const uint64_t name = begins ? event->value3 >> 32 : event->value2;
    uint32_t pool;
    enum tide_status status =
        walk->pooled.slots ? TIDE_OK : tide_lives_init(&walk->pooled);
    if (!status)
        status = tide_pairs_find(&walk->pools, (struct tide_pair){event->process, name},
                                 &pool);
    if (status || tide_walk_here(walk, event->lane) == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    if (begins)
        return begin(walk, event, pool);
    const uint32_t entry = tide_lives_take(&walk->pooled, pool, event->value);
    return entry ? end(walk, event, entry) : TIDE_OK;
}

enum tide_status tide_walk_pools_snapshot(struct tide_walk *walk, uint32_t name,
                                          uint64_t ticks)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 1; i < walk->pooled.count && !status; i++) {
        if (!walk->pooled.list[i].id)
            continue;
        const struct tide_life life = as_told(walk, &walk->pooled.list[i]);
        if (!tide_walk_has_left(walk, life.process, ticks))
            status = tide_walk_standing(walk, &life, name, ticks);
    }
    return status;
}

enum tide_status tide_walk_pools_end(struct tide_walk *walk)
{
    enum tide_status status = TIDE_OK;
    if (walk->wish.source == TIDE_FROM_SNAPSHOTS)
        return tide_walk_pools_snapshot(walk,
                                        tide_names_text(&walk->names, "end of run"),
                                        walk->model.trace->end_ticks);
    if (walk->wish.source != TIDE_FROM_BLOCKS)
        return TIDE_OK;
    for (size_t i = 1; i < walk->pooled.count && !status; i++) {
        if (!walk->pooled.list[i].id)
            continue;
        const struct tide_life life = as_told(walk, &walk->pooled.list[i]);
        status = tell(walk, &life, TIDE_RECORD_BLOCK, NULL);
    }
    return status;
}
