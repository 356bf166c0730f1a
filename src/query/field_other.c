/* query/field_other.c - values that the table of attributes does not have: iterations of
 * loops by name, what programs set, and the blocks that addresses lie in.
 */
#include "query/field.h"

#include <string.h>

/* How things stand in RECORD; 0: nowhere. */
static uint32_t rounds_of(const struct tide_walk *walk,
                          const struct tide_record *record)
{
    const uint32_t place = tide_field_place(record, TIDE_ATTRIBUTE_ITERATION);
    return place == TIDE_NO_PLACE ? 0 : tide_walk_place(walk, place).rounds;
}

/* The loop of which TEXT is the iteration; NULL: it is none. */
static const char *loop_of(const char *text)
{
    const size_t start = strlen(TIDE_ITERATION_OF);
    return strncmp(text, TIDE_ITERATION_OF, start) == 0 ? text + start : NULL;
}

/* The value of a row that begins or ends WHOSE, which is no value that the program sets:
 * the name of a region, or the number of an iteration. */
static struct tide_value mark_value(const struct tide_walk *walk,
                                    const struct tide_record *record, uint32_t whose)
{
    if (record->kind == TIDE_RECORD_BEGIN || record->kind == TIDE_RECORD_END)
        return record->region_kind == whose && record->name
                   ? tide_value_string(record->name)
                   : tide_value_none();
    const char *const loop = loop_of(tide_names_string(&walk->names, whose));
    return loop && record->name &&
                   strcmp(tide_names_string(&walk->names, record->name), loop) == 0
               ? tide_value_int((int64_t)record->number)
               : tide_value_none();
}

/* The value of a row that sets, begins or ends WHOSE. */
static struct tide_value set_value(const struct tide_walk *walk,
                                   const struct tide_record *record,
                                   enum tide_slot_kind kind, uint32_t whose)
{
    const bool sets = record->kind == TIDE_RECORD_SET;
    const bool begins = record->kind == TIDE_RECORD_SET_BEGIN;
    const bool ends = record->kind == TIDE_RECORD_SET_END;
    if (kind == TIDE_SLOT_SET && record->kind == TIDE_RECORD_THREAD &&
        strcmp(tide_names_string(&walk->names, whose), TIDE_THREAD_SET) == 0)
        return tide_value_uint(record->number);
    if (kind == TIDE_SLOT_BEGIN &&
        (record->kind == TIDE_RECORD_BEGIN || record->kind == TIDE_RECORD_ROUND))
        return mark_value(walk, record, whose);
    if (kind == TIDE_SLOT_END &&
        (record->kind == TIDE_RECORD_END || record->kind == TIDE_RECORD_ROUND_END))
        return mark_value(walk, record, whose);
    const bool fits = kind == TIDE_SLOT_SET     ? sets
                      : kind == TIDE_SLOT_BEGIN ? begins
                                                : ends;
    if (!fits || walk->attributes.list[record->attribute].one != whose)
        return tide_value_none();
    return tide_walk_attribute_value(walk, record->attribute, record->number);
}

/* The path of the regions that are WHOSE; 0: of all, with what they are. */
static struct tide_value regions_value(struct tide_walk *walk,
                                       const struct tide_record *record, uint32_t whose)
{
    const uint32_t place = tide_field_place(record, TIDE_ATTRIBUTE_REGION);
    return place == TIDE_NO_PLACE
               ? tide_value_none()
               : tide_value_path(tide_walk_path_of(
                     walk, tide_walk_place(walk, place).region, whose));
}

static struct tide_value index_value(const struct tide_walk *walk,
                                     const struct tide_life *life, uint64_t address)
{
    const uint32_t shape = tide_walk_shape(walk, life);
    const uint64_t bytes = shape ? walk->shapes.list[shape - 1].element_bytes : 1;
    return tide_value_uint((address - life->address) / (bytes ? bytes : 1));
}

/* The smallest block or labelled memory that holds ADDRESS when the row is told. */
static const struct tide_life *holder_of(const struct tide_walk *walk, uint32_t process,
                                         uint64_t address)
{
    const struct tide_life *const labelled =
        tide_walk_label_holding(walk, process, address);
    const struct tide_life *const block =
        walk->lives ? tide_holders_find(&walk->holders, walk->lives, process, address)
                    : NULL;
    return labelled && (!block || labelled->size <= block->size) ? labelled : block;
}

/* A label has the number of the block that begins where it does. */
static struct tide_value uid_value(const struct tide_life *life)
{
    const uint64_t id = life->space == TIDE_IN_LABEL ? life->moved_from : life->id;
    return id ? tide_value_uint(id) : tide_value_none();
}

/* Of the block that lives when the row is told. */
static struct tide_value holder_value(struct tide_walk *walk,
                                      const struct tide_record *record,
                                      enum tide_slot_kind kind, uint32_t whose)
{
    const struct tide_value at =
        tide_walk_attribute(walk, rounds_of(walk, record), whose);
    const struct tide_life *const life = at.type == TIDE_VALUE_ADDRESS
                                             ? holder_of(walk, record->process, at.word)
                                             : NULL;
    if (!life)
        return tide_value_none();
    if (kind == TIDE_SLOT_HOLDER_UID)
        return uid_value(life);
    if (kind == TIDE_SLOT_HOLDER_INDEX)
        return index_value(walk, life, at.word);
    return life->label ? tide_value_string(
                             tide_walk_called(walk, life->process, life->label - 1))
                       : tide_field_kind(walk, life);
}

struct tide_value tide_field_other(struct tide_walk *walk,
                                   const struct tide_record *record,
                                   enum tide_slot_kind kind, uint32_t whose)
{
    switch (kind) {
    case TIDE_SLOT_ITERATION:
        return tide_walk_round(walk, rounds_of(walk, record), whose);
    case TIDE_SLOT_USER:
        return tide_walk_attribute(walk, rounds_of(walk, record), whose);
    case TIDE_SLOT_SET:
    case TIDE_SLOT_BEGIN:
    case TIDE_SLOT_END:
        return set_value(walk, record, kind, whose);
    case TIDE_SLOT_REGIONS:
        return regions_value(walk, record, whose);
    case TIDE_SLOT_TYPED:
        return regions_value(walk, record, 0);
    case TIDE_SLOT_HOLDER_LABEL:
    case TIDE_SLOT_HOLDER_UID:
    case TIDE_SLOT_HOLDER_INDEX:
        return holder_value(walk, record, kind, whose);
    case TIDE_SLOT_NOTHING:
    default:
        return tide_value_none();
    }
}
