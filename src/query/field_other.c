/* query/field_other.c - values that the table of attributes does not have: iterations of
 * loops by name, what programs set, and the blocks that addresses lie in.
 */
#include "query/field.h"

/* How things stand in RECORD; 0: nowhere. */
static uint32_t rounds_of(const struct tide_walk *walk,
                          const struct tide_record *record)
{
    const uint32_t place = tide_field_place(record, TIDE_ATTRIBUTE_ITERATION);
    return place == TIDE_NO_PLACE ? 0 : tide_walk_place(walk, place).rounds;
}

/* The value of a row that sets, begins or ends WHOSE. */
static struct tide_value set_value(const struct tide_walk *walk,
                                   const struct tide_record *record,
                                   enum tide_record_kind kind, uint32_t whose)
{
    if (record->kind != kind || walk->attributes.list[record->attribute].one != whose)
        return tide_value_none();
    return tide_walk_attribute_value(walk, record->attribute, record->number);
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
        return set_value(walk, record, TIDE_RECORD_SET, whose);
    case TIDE_SLOT_BEGIN:
        return set_value(walk, record, TIDE_RECORD_SET_BEGIN, whose);
    case TIDE_SLOT_END:
        return set_value(walk, record, TIDE_RECORD_SET_END, whose);
    case TIDE_SLOT_HOLDER_LABEL:
    case TIDE_SLOT_HOLDER_UID:
    case TIDE_SLOT_HOLDER_INDEX:
        return holder_value(walk, record, kind, whose);
    case TIDE_SLOT_NOTHING:
    default:
        return tide_value_none();
    }
}
