/* query/walk_attributes.c - the walk: values that programs set by name.
 *
 * They belong to a thread.  A value that begins hides the one before, until it ends.  What
 * a place needs to know of them is the newest value of each name that the query asks for.
 */
#include <string.h>

#include "model/grow.h"
#include "query/user_names.h"
#include "query/walk.h"
#include "trace/format.h"

#define STEP(event) ((unsigned)((event)->value2 >> 4))
#define TYPE(event) ((uint32_t)((event)->value2 & 15u))

static uint32_t name_of(const struct tide_walk *walk, uint32_t attribute)
{
    return (uint32_t)walk->attributes.list[attribute].one;
}

struct tide_value tide_walk_attribute_value(const struct tide_walk *walk,
                                            uint32_t attribute, uint64_t word)
{
    const uint32_t type = (uint32_t)walk->attributes.list[attribute].other;
    return (struct tide_value){.type = tide_user_type(type), .word = word};
}

struct tide_value tide_walk_attribute(const struct tide_walk *walk, uint32_t rounds,
                                      uint32_t name)
{
    while (rounds) {
        const struct tide_pair pair = walk->rounds.list[rounds - 1];
        const uint32_t what = (uint32_t)pair.one;
        const uint32_t attribute = what & ~TIDE_ATTRIBUTE_ROUND;
        if (what >= TIDE_ATTRIBUTE_ROUND && what != TIDE_OUTER_LOOP &&
            name_of(walk, attribute) == name)
            return tide_walk_attribute_value(walk, attribute, pair.other);
        rounds = (uint32_t)(pair.one >> 32);
    }
    return tide_value_none();
}

static bool is_wanted(const struct tide_walk *walk, uint32_t attribute)
{
    const struct tide_walk_wish *const wish = &walk->wish;
    const char *const name = tide_names_string(&walk->names, name_of(walk, attribute));
    bool wanted = wish->all_attributes;
    for (size_t i = 0; i < wish->attribute_count && !wanted; i++)
        wanted = strcmp(wish->attributes[i], name) == 0;
    return wanted;
}

/* Does a later value hide the one at AT? */
static bool is_hidden(const struct tide_walk *walk, const struct tide_walk_lane *lane,
                      size_t at)
{
    const uint32_t name = name_of(walk, lane->held[at].attribute);
    for (size_t i = at + 1; i < lane->held_count; i++)
        if (name_of(walk, lane->held[i].attribute) == name)
            return true;
    return false;
}

bool tide_walk_add_values(struct tide_walk *walk, const struct tide_walk_lane *lane,
                          uint32_t *rounds)
{
    bool found = true;
    for (size_t i = 0; i < lane->held_count && found; i++) {
        const struct tide_walk_held *const held = &lane->held[i];
        if (is_wanted(walk, held->attribute) && !is_hidden(walk, lane, i))
            found = tide_walk_add_round(
                walk, rounds, TIDE_ATTRIBUTE_ROUND | held->attribute, held->value);
    }
    return found;
}

/* --- Changes --------------------------------------------------------------------------- */

/* The value of EVENT, as it is held. */
static uint64_t value_of(struct tide_walk *walk, const struct tide_event *event)
{
    const uint64_t value = event->value3;
    if (TYPE(event) == TIDE_ATTRIBUTE_INT)
        return value >> 1 ^ -(value & 1);
    if (TYPE(event) != TIDE_ATTRIBUTE_STRING)
        return value;
    const uint32_t text = tide_walk_called(walk, event->process, value);
    return text ? text : tide_names_text(&walk->names, "?");
}

/* The newest value of NAME: its place + 1; 0: there is none. */
static size_t newest(const struct tide_walk *walk, const struct tide_walk_lane *lane,
                     uint32_t name)
{
    size_t at = lane->held_count;
    while (at && name_of(walk, lane->held[at - 1].attribute) != name)
        at--;
    return at;
}

static void drop(struct tide_walk_lane *lane, size_t at)
{
    for (size_t i = at; i < lane->held_count; i++)
        lane->held[i - 1] = lane->held[i];
    lane->held_count--;
}

/* In place of the value at AT - 1; 0: beside all others. */
static enum tide_status hold(struct tide_walk_lane *lane, size_t at,
                             struct tide_walk_held held)
{
    if (at) {
        lane->held[at - 1] = held;
        return TIDE_OK;
    }
    if (lane->held_count == TIDE_WALK_HELD) {
        lane->unheld++;
        return TIDE_OK;
    }
    struct tide_walk_held *const list = tide_grown(lane->held, &lane->held_capacity,
                                                   lane->held_count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    lane->held = list;
    list[lane->held_count++] = held;
    return TIDE_OK;
}

static enum tide_status tell(struct tide_walk *walk, const struct tide_event *event,
                             enum tide_record_kind kind, struct tide_walk_held held)
{
    const struct tide_record record = {
        .kind = kind,
        .process = event->process,
        .place = tide_walk_here(walk, event->lane),
        .other_place = TIDE_NO_PLACE,
        .ticks = event->ticks,
        .active = walk->process[event->process].active[TIDE_IN_HEAP],
        .number = held.value,
        .attribute = held.attribute,
    };
    if (record.place == TIDE_NO_PLACE)
        return TIDE_ENOMEM;
    return walk->wish.source == TIDE_FROM_EVENTS ? walk->row(walk->user, &record)
                                                 : TIDE_OK;
}

/* The row of an end still has the value. */
static enum tide_status end(struct tide_walk *walk, const struct tide_event *event,
                            uint32_t name)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    size_t at = newest(walk, lane, name);
    if (STEP(event) == TIDE_ATTRIBUTE_END && lane->unheld) {
        lane->unheld--;
        return TIDE_OK;
    }
    if (!at)
        return TIDE_OK;
    const enum tide_status status =
        tell(walk, event, TIDE_RECORD_SET_END, lane->held[at - 1]);
    do {
        drop(lane, at);
        at = newest(walk, lane, name);
    } while (at && STEP(event) == TIDE_ATTRIBUTE_UNSET);
    lane->place = TIDE_NO_PLACE;
    return status;
}

enum tide_status tide_walk_set(struct tide_walk *walk, const struct tide_event *event)
{
    struct tide_walk_lane *const lane = &walk->lanes[event->lane];
    enum tide_status status = TIDE_OK;
    if (lane->where.thread == TIDE_NO_THREAD)
        status = tide_walk_thread(walk, event->lane, 0);
    uint32_t name = tide_walk_called(walk, event->process, event->value);
    if (!name)
        name = tide_names_text(&walk->names, "?");
    if (status || !name)
        return status ? status : TIDE_ENOMEM;
    if (STEP(event) == TIDE_ATTRIBUTE_END || STEP(event) == TIDE_ATTRIBUTE_UNSET)
        return end(walk, event, name);
    if (STEP(event) > TIDE_ATTRIBUTE_UNSET || !tide_user_type(TYPE(event)))
        return TIDE_OK; /* of a later version */
    struct tide_walk_held held = {.value = value_of(walk, event)};
    if (tide_pairs_find(&walk->attributes, (struct tide_pair){name, TYPE(event)},
                        &held.attribute))
        return TIDE_ENOMEM;
    const bool begins = STEP(event) == TIDE_ATTRIBUTE_BEGIN;
    status = hold(lane, begins ? 0 : newest(walk, lane, name), held);
    lane->place = TIDE_NO_PLACE;
    return status ? status
                  : tell(walk, event, begins ? TIDE_RECORD_SET_BEGIN : TIDE_RECORD_SET,
                         held);
}
