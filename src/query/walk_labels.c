/* query/walk_labels.c - the walk: what the program labels, each time that it does.
 *
 * A label is an event of its own, as with Caliper: a row when it is given, also again and
 * to memory that is no block, and one when it ends.  It ends when it is taken away, when
 * its place gets another one, or with the block that it lies in; so each row of a label
 * has the row of its end, and sums over both are what stands.
 *
 * A label is kept as a life: its id counts labels, moved_from is the id of the block that
 * begins at its address (0: none does), note is where it was given.
 */
#include "query/walk.h"

#include "trace/format.h"

bool tide_walk_labels_are_rows(const struct tide_walk *walk)
{
    return walk->wish.source == TIDE_FROM_EVENTS;
}

/* Does anybody want to know what has a label now? */
static bool is_followed(const struct tide_walk *walk)
{
    return tide_walk_labels_are_rows(walk) || walk->wish.labelled_only;
}

static enum tide_status tell(struct tide_walk *walk, const struct tide_life *life,
                             enum tide_record_kind kind, uint32_t lane, uint64_t ticks)
{
    const uint32_t here = tide_walk_here(walk, lane);
    const struct tide_record record = {
        .kind = kind,
        .process = life->process,
        .place = life->note,
        .other_place = kind == TIDE_RECORD_LABEL_END ? here : TIDE_NO_PLACE,
        .ticks = ticks,
        .life = life,
        .label = life->label,
        .active = walk->process[life->process].active[TIDE_IN_HEAP],
    };
    if (here == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return tide_walk_labels_are_rows(walk) ? walk->row(walk->user, &record) : TIDE_OK;
}

/* --- Labels begin and end ---------------------------------------------------------------- */

/* The range of the label at ADDRESS; 0: there is none. */
static uint32_t label_at(const struct tide_walk *walk, uint32_t process,
                         uint64_t address)
{
    const struct tide_ranges *const ranges = &walk->process[process].labels;
    const uint32_t range = tide_ranges_after(ranges, address);
    return range && ranges->list[range].start == address ? range : 0;
}

/* The label of RANGE ends at TICKS in LANE. */
static enum tide_status end_label(struct tide_walk *walk, uint32_t process,
                                  uint32_t range, uint32_t lane, uint64_t ticks)
{
    struct tide_ranges *const ranges = &walk->process[process].labels;
    const uint32_t entry = ranges->list[range].tag;
    struct tide_life *const life = &walk->labelled.list[entry];
    const enum tide_status status =
        tell(walk, life, TIDE_RECORD_LABEL_END, lane, ticks);
    if (walk->wish.resolve)
        tide_holders_remove(&walk->label_holders, &walk->labelled, life);
    if (walk->wish.labelled_only)
        tide_walk_fall(walk, life, lane);
    tide_lives_drop(&walk->labelled, entry);
    tide_ranges_remove(ranges, range);
    return status;
}

static enum tide_status begin_label(struct tide_walk *walk, struct tide_life life,
                                    uint32_t lane)
{
    uint32_t entry;
    life.id = ++walk->last_label;
    life.note = tide_walk_here(walk, lane);
    enum tide_status status = tide_lives_add(&walk->labelled, &life, &entry);
    if (!status)
        status = tide_ranges_add(&walk->process[life.process].labels, life.address,
                                 life.address + 1, entry);
    if (!status)
        status = tell(walk, &life, TIDE_RECORD_LABEL, lane, life.birth_ticks);
    if (!status && walk->wish.resolve)
        status = tide_holders_add(&walk->label_holders, &walk->labelled,
                                  &walk->labelled.list[entry]);
    if (!status && walk->wish.labelled_only)
        tide_walk_grow(walk, &life, lane);
    return status;
}

/* --- Events --------------------------------------------------------------------------- */

enum tide_status tide_walk_label(struct tide_walk *walk, const struct tide_event *event)
{
    if (!is_followed(walk) || event->value2 >= UINT32_MAX || event->value == UINT64_MAX)
        return TIDE_OK;
    const uint32_t entry =
        walk->lives ? tide_lives_find(walk->lives, event->process, event->value) : 0;
    const struct tide_life *const block = entry ? &walk->lives->list[entry] : NULL;
    const struct tide_life life = {
        .address = event->value,
        .size = event->value3 || !block ? event->value3 : block->size,
        .birth_ticks = event->ticks,
        .moved_from = block ? block->id : 0,
        .process = event->process,
        .label = (uint32_t)event->value2 + 1,
        .space = TIDE_IN_LABEL,
    };
    const uint32_t before = label_at(walk, life.process, life.address);
    const enum tide_status status =
        before ? end_label(walk, life.process, before, event->lane, event->ticks)
               : TIDE_OK;
    return status ? status : begin_label(walk, life, event->lane);
}

enum tide_status tide_walk_unlabel(struct tide_walk *walk,
                                   const struct tide_event *event)
{
    const uint32_t range = label_at(walk, event->process, event->value);
    return range ? end_label(walk, event->process, range, event->lane, event->ticks)
                 : TIDE_OK;
}

/* The block of the label of RANGE goes on at ADDRESS, and the label with it: no rows, since
 * the program labelled nothing. */
static enum tide_status move_label(struct tide_walk *walk, uint32_t process,
                                   uint32_t range, const struct tide_death *death)
{
    struct tide_ranges *const ranges = &walk->process[process].labels;
    const uint32_t entry = ranges->list[range].tag;
    struct tide_life *const life = &walk->labelled.list[entry];
    enum tide_status status = TIDE_OK;
    if (walk->wish.resolve)
        tide_holders_remove(&walk->label_holders, &walk->labelled, life);
    tide_ranges_remove(ranges, range);
    life->address = death->moved_to;
    const uint32_t there = label_at(walk, process, death->moved_to);
    if (there)
        status = end_label(walk, process, there, death->lane, death->ticks);
    if (!status)
        status = tide_ranges_add(ranges, death->moved_to, death->moved_to + 1, entry);
    if (!status && walk->wish.resolve)
        status = tide_holders_add(&walk->label_holders, &walk->labelled, life);
    return status;
}

void tide_walk_label_follows(struct tide_walk *walk, const struct tide_life *block)
{
    const uint32_t range = label_at(walk, block->process, block->address);
    if (range)
        walk->labelled.list[walk->process[block->process].labels.list[range].tag]
            .moved_from = block->id;
}

enum tide_status tide_walk_labels_end(struct tide_walk *walk,
                                      const struct tide_life *block,
                                      const struct tide_death *death)
{
    const struct tide_ranges *const ranges = &walk->process[block->process].labels;
    uint64_t from = block->address;
    enum tide_status status = TIDE_OK;
    while (ranges->root && !status) {
        const uint32_t range = tide_ranges_after(ranges, from);
        const uint64_t at = range ? ranges->list[range].start : 0;
        if (!range || (at != block->address && at - block->address >= block->size))
            break;
        const bool moves = death->moved_to && at == block->address;
        if (moves && death->moved_to != at)
            status = move_label(walk, block->process, range, death);
        else if (!moves)
            status = end_label(walk, block->process, range, death->lane, death->ticks);
        from = moves ? at + 1 : from;
    }
    return status;
}

const struct tide_life *tide_walk_label_holding(const struct tide_walk *walk,
                                                uint32_t process, uint64_t address)
{
    return tide_holders_find(&walk->label_holders, &walk->labelled, process, address);
}

void tide_walk_labels_release(struct tide_walk *walk)
{
    for (size_t i = 0; walk->process && i < walk->model.trace->process_count; i++)
        tide_ranges_release(&walk->process[i].labels);
    tide_holders_release(&walk->label_holders);
    tide_lives_release(&walk->labelled);
}
