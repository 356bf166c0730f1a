/* trace/decode.c - the bytes of a lane -> events.
 *
 * One function per operation, each as format.h gives its fields.  A record that makes no
 * sense (unknown operation, a frame that was never given, a pop below the bottom) ends
 * the decoding; the lane goes on at its next reset.  Stacks are read in decode_stack.c, the
 * records of which there are most in decode_usual.c.
 */
#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/format.h"
#include "trace/lane_memory.h"

void tide_decoder_init(struct tide_decoder *decoder, struct tide_resolver *resolver,
                       uint32_t process, uint32_t lane)
{
    *decoder =
        (struct tide_decoder){.resolver = resolver, .process = process, .lane = lane};
}

void tide_decoder_release(struct tide_decoder *decoder)
{
    free(decoder->memory);
    decoder->memory = NULL;
}

/* --- Records --- */

static uint64_t near(uint64_t base, uint64_t distance)
{
    return base + (uint64_t)tide_unzigzag(distance) * 8;
}

static uint16_t read_u16(struct tide_fields *fields, enum tide_column low,
                         enum tide_column high)
{
    const unsigned first = tide_cursor_u8(tide_field(fields, low));
    return (uint16_t)(first | (unsigned)tide_cursor_u8(tide_field(fields, high)) << 8);
}

static void read_number(struct tide_fields *fields, unsigned tag,
                        struct tide_event *event)
{
    if (!(tag & TIDE_TAG_NUMBERED))
        return;
    event->number = read_u16(fields, TIDE_COLUMN_NUMBERS_LOW, TIDE_COLUMN_NUMBERS_HIGH);
    event->numbered |= TIDE_HAS_NUMBER;
}

static void read_order(const struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned tag, struct tide_event *event)
{
    read_number(fields, tag, event);
    event->numbered = decoder->numbers ? event->numbered | TIDE_ON_SLOT : 0;
}

static bool read_shape(struct tide_decoder *decoder, uint8_t shape)
{
    const uint8_t kind = TIDE_SHAPE_KIND(shape);
    if (kind >= TIDE_KINDS || shape & 0x80)
        return false;
    decoder->last_kind = kind;
    return true;
}

static uint64_t read_size(struct tide_fields *fields)
{
    const uint64_t first = tide_cursor_u8(tide_field(fields, TIDE_COLUMN_SIZES));
    if (first < 0x80)
        return first;
    struct tide_cursor *const more = tide_field(fields, TIDE_COLUMN_SIZES_MORE);
    const uint64_t rest = tide_cursor_varint(more);
    return (first & 0x7f) |
           (rest > UINT64_MAX >> 7 ? tide_cursor_fail(more) : rest << 7);
}

/* The place of a birth, as an address. */
static bool read_place(struct tide_decoder *decoder, struct tide_fields *fields,
                       uint64_t *address)
{
    const struct tide_lane_memory *const memory = decoder->memory;
    const uint32_t high = tide_cursor_u8(tide_field(fields, TIDE_COLUMN_PLACES_HIGH));
    if (high < TIDE_PLACE_NEAR) {
        const uint32_t place =
            high << 8 | tide_cursor_u8(tide_field(fields, TIDE_COLUMN_PLACES_LOW));
        *address = tide_lane_place(memory, memory->births, memory->deaths, place);
        return tide_lane_has_place(memory->births, memory->deaths, place);
    }
    const uint64_t at = tide_field_varint(fields, TIDE_COLUMN_BIRTHS);
    *address = high == TIDE_PLACE_FAR ? at : near(memory->next_birth, at);
    return true;
}

/* Size, shape and address as they stand in the record. */
static bool read_details(struct tide_decoder *decoder, struct tide_fields *fields,
                         unsigned tag, struct tide_event *event)
{
    unsigned shape = 0;
    if (tag & TIDE_TAG_SHAPED) {
        shape = tide_cursor_u8(tide_field(fields, TIDE_COLUMN_REST));
        if (!read_shape(decoder, (uint8_t)shape))
            return false;
    }
    event->alloc_kind = decoder->last_kind;
    event->size = read_size(fields);
    event->usable = shape & TIDE_SHAPE_SLACK
                        ? tide_add_saturating(
                              event->size, tide_field_varint(fields, TIDE_COLUMN_REST))
                        : TIDE_USABLE_GLIBC(event->size);
    if (shape & TIDE_SHAPE_ALIGN)
        event->align_log2 = tide_cursor_u8(tide_field(fields, TIDE_COLUMN_REST));
    if (event->align_log2 > 63)
        return false;
    const bool fresh = TIDE_TAG_OP(tag) != TIDE_OP_MOVE_END;
    const uint64_t here = fresh ? tide_lane_expects(decoder->memory, event->usable) : 0;
    if (TIDE_TAG_OP(tag) != TIDE_OP_ALLOC_HERE)
        return read_place(decoder, fields, &event->address);
    event->address = here;
    return here != 0;
}

/* ALLOC, ALLOC_HERE, MOVE_END. */
static bool read_birth(struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned tag, struct tide_event *event)
{
    read_order(decoder, fields, tag, event);
    if (!read_details(decoder, fields, tag, event) ||
        !tide_decode_stack(decoder, fields, TIDE_TAG_MODE(tag), event))
        return false;
    if (TIDE_TAG_MODE(tag) != TIDE_STACK_LEAF)
        tide_lane_keep_likeness(decoder, event);
    tide_lane_add_birth(decoder->memory, event);
    return true;
}

/* ALLOC_LIKE, ALLOC_LIKE_HERE: which stack comes last, but tells the size, on which the
 * expected address depends. */
static bool read_like(struct tide_decoder *decoder, struct tide_fields *fields,
                      unsigned tag, struct tide_event *event)
{
    const bool here = TIDE_TAG_OP(tag) == TIDE_OP_ALLOC_LIKE_HERE;
    if (tag & TIDE_TAG_SHAPED || TIDE_TAG_MODE(tag) & 1)
        return false;
    read_order(decoder, fields, tag, event);
    uint64_t place = 0;
    if (!here && !read_place(decoder, fields, &place))
        return false;
    if (!tide_decode_stack(decoder, fields, TIDE_TAG_MODE(tag), event) ||
        decoder->memory->stacks == 0)
        return false;
    const struct tide_recent *const recent = &decoder->memory->recent[decoder->current];
    if (recent->like != decoder->mark)
        return false;
    event->alloc_kind = recent->kind;
    event->align_log2 = recent->align_log2;
    event->size = recent->size;
    event->usable = recent->usable;
    const uint64_t there = tide_lane_expects(decoder->memory, event->usable);
    event->address = here ? there : place;
    tide_lane_add_birth(decoder->memory, event);
    return !here || there != 0;
}

/* FREE, MOVE_BEGIN. */
static bool read_death(struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned tag, struct tide_event *event)
{
    if (tag & TIDE_TAG_SHAPED)
        return false;
    read_order(decoder, fields, tag, event);
    const uint64_t at = tide_field_varint(fields, TIDE_COLUMN_DEATHS);
    event->address = tag & TIDE_TAG_FAR ? at : near(decoder->memory->last_death, at);
    tide_lane_add_death(decoder->memory, event->address);
    if (!(tag & TIDE_TAG_STACKED))
        return true;
    return tide_decode_stack(
        decoder, fields, tide_cursor_u8(tide_field(fields, TIDE_COLUMN_REST)), event);
}

/* FREE_AGE. */
static bool read_death_of_age(struct tide_decoder *decoder, struct tide_fields *fields,
                              unsigned tag, struct tide_event *event)
{
    struct tide_lane_memory *const memory = decoder->memory;
    event->kind = TIDE_EVENT_FREE;
    if (tag & (TIDE_TAG_SHAPED | TIDE_TAG_FAR))
        return false;
    read_order(decoder, fields, tag, event);
    const uint32_t age = read_u16(fields, TIDE_COLUMN_AGES_LOW, TIDE_COLUMN_AGES_HIGH);
    if (age >= TIDE_AGES || age >= memory->births)
        return false;
    event->address = tide_lane_take_age(memory, age);
    if (!(tag & TIDE_TAG_STACKED))
        return true;
    return tide_decode_stack(
        decoder, fields, tide_cursor_u8(tide_field(fields, TIDE_COLUMN_REST)), event);
}

static bool read_alloc(struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned tag, struct tide_event *event)
{
    event->kind = TIDE_EVENT_ALLOC;
    return TIDE_TAG_OP(tag) < TIDE_OP_ALLOC_LIKE
               ? read_birth(decoder, fields, tag, event)
               : read_like(decoder, fields, tag, event);
}

static bool read_free(struct tide_decoder *decoder, struct tide_fields *fields,
                      unsigned tag, struct tide_event *event)
{
    event->kind = TIDE_EVENT_FREE;
    return read_death(decoder, fields, tag, event);
}

static bool read_move_begin(struct tide_decoder *decoder, struct tide_fields *fields,
                            unsigned tag, struct tide_event *event)
{
    event->kind = TIDE_EVENT_MOVE_BEGIN;
    if (!read_death(decoder, fields, tag, event))
        return false;
    if (decoder->move_count == TIDE_MOVES_KEPT) { /* the oldest will not end any more */
        memmove(decoder->moves, decoder->moves + 1,
                sizeof(decoder->moves) - sizeof(decoder->moves[0]));
        decoder->move_count--;
    }
    decoder->moves[decoder->move_count++] = event->address;
    return true;
}

/* The old address of the innermost move under way, which ends; 0 when there is none. */
static uint64_t end_move(struct tide_decoder *decoder)
{
    return decoder->move_count ? decoder->moves[--decoder->move_count] : 0;
}

static bool read_move_end(struct tide_decoder *decoder, struct tide_fields *fields,
                          unsigned tag, struct tide_event *event)
{
    event->kind = TIDE_EVENT_MOVE_END;
    if (!read_birth(decoder, fields, tag, event))
        return false;
    event->value = end_move(decoder);
    return true;
}

static bool read_move_back(struct tide_decoder *decoder, struct tide_fields *fields,
                           unsigned tag, struct tide_event *event)
{
    const bool gone = tag & TIDE_TAG_GONE;
    if (tag & ~(15u | TIDE_TAG_NUMBERED | TIDE_TAG_GONE))
        return false;
    const bool known = decoder->move_count > 0;
    event->kind = gone ? TIDE_EVENT_MOVE_GONE : TIDE_EVENT_MOVE_BACK;
    event->address = end_move(decoder);
    read_order(decoder, fields, tag, event);
    if (gone || !known)
        event->numbered = 0;
    return true;
}

static bool read_map(struct tide_decoder *decoder, struct tide_fields *fields,
                     unsigned tag, struct tide_event *event)
{
    if (tag & TIDE_TAG_SHAPED)
        return false;
    read_order(decoder, fields, tag, event);
    const uint64_t call = tide_field_varint(fields, TIDE_COLUMN_REST);
    if (call >= TIDE_MAP_CALLS)
        return false;
    event->kind = TIDE_EVENT_MAP;
    event->map_call = (uint8_t)call;
    event->address = tide_field_varint(fields, TIDE_COLUMN_REST);
    event->size = tide_field_varint(fields, TIDE_COLUMN_REST);
    event->value = tide_field_varint(fields, TIDE_COLUMN_REST);
    event->value2 = tide_field_varint(fields, TIDE_COLUMN_REST);
    return tide_decode_stack(decoder, fields, TIDE_TAG_MODE(tag), event);
}

/* How many varints each kind carries. */
static const uint8_t EXTRA_VALUES[] = {
    [TIDE_EXTRA_THREAD_BEGIN] = 1, [TIDE_EXTRA_THREAD_END] = 0,
    [TIDE_EXTRA_NUMBERS] = 0,      [TIDE_EXTRA_DROPPED] = 2,
    [TIDE_EXTRA_FAILED] = 2,       [TIDE_EXTRA_CUT] = 1,
    [TIDE_EXTRA_REGION_BEGIN] = 1, [TIDE_EXTRA_REGION_END] = 1,
    [TIDE_EXTRA_LABEL] = 3,        [TIDE_EXTRA_EVENT] = 1,
    [TIDE_EXTRA_SNAPSHOT] = 1,     [TIDE_EXTRA_LOOP_BEGIN] = 1,
    [TIDE_EXTRA_ITERATION] = 1,    [TIDE_EXTRA_ITERATION_END] = 0,
    [TIDE_EXTRA_REGION_BASE] = 3,  [TIDE_EXTRA_PHASE_BEGIN] = 1,
    [TIDE_EXTRA_PHASE_END] = 1,    [TIDE_EXTRA_UNLABEL] = 1,
    [TIDE_EXTRA_SHAPE] = 3,        [TIDE_EXTRA_POOL_ALLOC] = 3,
    [TIDE_EXTRA_POOL_FREE] = 2,    [TIDE_EXTRA_PAUSE] = 1,
    [TIDE_EXTRA_RESUME] = 1,       [TIDE_EXTRA_ATTRIBUTE] = 3,
    [TIDE_EXTRA_WINDOW_BEGIN] = 2, [TIDE_EXTRA_WINDOW_END] = 2,
};
enum { TIDE_EXTRA_KINDS = sizeof(EXTRA_VALUES) };

static void read_values(struct tide_cursor *values, struct tide_event *event)
{
    const uint8_t count = EXTRA_VALUES[event->extra];
    if (count > 0)
        event->value = tide_cursor_varint(values);
    if (count > 1)
        event->value2 = tide_cursor_varint(values);
    if (count > 2)
        event->value3 = tide_cursor_varint(values);
}

/* What an EXTRA means for the coder itself. */
static void obey_extra(struct tide_decoder *decoder, struct tide_event *event)
{
    if (event->extra == TIDE_EXTRA_THREAD_BEGIN)
        decoder->move_count = 0;
    else if (event->extra == TIDE_EXTRA_NUMBERS)
        decoder->numbers = true;
    else if (event->extra == TIDE_EXTRA_FAILED && event->value < TIDE_KINDS)
        event->alloc_kind = (uint8_t)event->value;
}

static bool read_extra(struct tide_decoder *decoder, struct tide_fields *fields,
                       struct tide_event *event, bool *known)
{
    struct tide_cursor *const rest = tide_field(fields, TIDE_COLUMN_REST);
    const uint64_t kind = tide_cursor_varint(rest);
    struct tide_cursor values = tide_cursor_part(rest, tide_cursor_varint(rest));
    *known = kind > 0 && kind < TIDE_EXTRA_KINDS;
    if (!*known || rest->failed)
        return !rest->failed;
    event->kind = TIDE_EVENT_EXTRA;
    event->extra = (uint8_t)kind;
    read_values(&values, event);
    if (values.failed)
        return false;
    obey_extra(decoder, event);
    return true;
}

/* --- Time --- */

static bool read_time(struct tide_decoder *decoder, struct tide_fields *fields)
{
    const uint64_t past = tide_field_varint(fields, TIDE_COLUMN_TIMES);
    decoder->ticks = tide_add_saturating(decoder->ticks, past);
    fields->counted = false;
    return !tide_fields_failed(fields);
}

/* A lane's time never goes back, whatever its stamps say. */
static bool read_sync(struct tide_decoder *decoder, struct tide_fields *fields)
{
    struct tide_cursor *const rest = tide_field(fields, TIDE_COLUMN_REST);
    const uint64_t ticks = tide_cursor_varint(rest);
    const uint64_t epoch = tide_cursor_varint(rest);
    (void)tide_cursor_varint(rest); /* tid: THREAD_BEGIN says it too */
    const uint64_t flags = tide_cursor_varint(rest);
    if (rest->failed)
        return false;
    if (ticks > decoder->ticks)
        decoder->ticks = ticks;
    decoder->numbers = flags & 1;
    decoder->epoch = epoch;
    return tide_decoder_reset(decoder);
}

/* --- The loop --- */

/* What the next record is. */
enum next {
    TIDE_NEXT_NONE, /* there is none */
    TIDE_NEXT_TIME,
    TIDE_NEXT_SYNC,
    TIDE_NEXT_EVENT,
};

/* What comes next; a stamp's tag is taken, and counted. */
static enum next look_ahead(struct tide_fields *fields)
{
    struct tide_cursor *const tags = &fields->at[TIDE_COLUMN_TAGS];
    if (tide_fields_until_time(fields) == 0)
        return TIDE_NEXT_TIME;
    if (tide_cursor_left(tags) == 0)
        return TIDE_NEXT_NONE;
    const bool time = *tags->at == TIDE_OP_TIME && !fields->columns;
    if (!time && *tags->at != TIDE_OP_SYNC)
        return TIDE_NEXT_EVENT;
    tags->at++;
    fields->until_time--;
    return time ? TIDE_NEXT_TIME : TIDE_NEXT_SYNC;
}

/* *KNOWN tells whether it is an event: EXTRA records of a later version are not. */
static bool read_record(struct tide_decoder *decoder, struct tide_fields *fields,
                        struct tide_event *event, bool *known)
{
    const unsigned tag = *fields->at[TIDE_COLUMN_TAGS].at++;
    *known = true;
    switch (TIDE_TAG_OP(tag)) {
    case TIDE_OP_ALLOC:
    case TIDE_OP_ALLOC_HERE:
    case TIDE_OP_ALLOC_LIKE:
    case TIDE_OP_ALLOC_LIKE_HERE:
        return read_alloc(decoder, fields, tag, event);
    case TIDE_OP_FREE:
        return read_free(decoder, fields, tag, event);
    case TIDE_OP_FREE_AGE:
        return read_death_of_age(decoder, fields, tag, event);
    case TIDE_OP_MOVE_BEGIN:
        return read_move_begin(decoder, fields, tag, event);
    case TIDE_OP_MOVE_END:
        return read_move_end(decoder, fields, tag, event);
    case TIDE_OP_MOVE_BACK:
        return read_move_back(decoder, fields, tag, event);
    case TIDE_OP_MAP:
        return read_map(decoder, fields, tag, event);
    case TIDE_OP_EXTRA:
        return tag == TIDE_OP_EXTRA && read_extra(decoder, fields, event, known);
    default:
        return false;
    }
}

/* A record that is no stamp. */
static bool read_event(struct tide_decoder *decoder, struct tide_fields *fields,
                       struct tide_event *event, bool *known)
{
    *event = (struct tide_event){
        .process = decoder->process, .lane = decoder->lane, .ticks = decoder->ticks};
    return decoder->memory && /* a lane begins with a reset */
           read_record(decoder, fields, event, known) && !tide_fields_failed(fields);
}

/* EVENT was decoded; of those that are no MAP only births have a size. */
static void count_event(struct tide_decoder *decoder, const struct tide_event *event)
{
    decoder->others += event->kind >= TIDE_EVENT_MAP;
    if (event->kind != TIDE_EVENT_MAP)
        decoder->born_bytes = tide_add_saturating(decoder->born_bytes, event->size);
}

/* What comes next is no event: read it. */
static enum tide_decode_stop stop_at(struct tide_decoder *decoder,
                                     struct tide_fields *fields, enum next next)
{
    if (next == TIDE_NEXT_NONE)
        return tide_fields_empty(fields) ? TIDE_STOP_EMPTY : TIDE_STOP_BAD;
    const bool right = next == TIDE_NEXT_TIME ? read_time(decoder, fields)
                                              : read_sync(decoder, fields);
    return right ? TIDE_STOP_STAMP : TIDE_STOP_BAD;
}

enum tide_decode_stop tide_decode_plain(struct tide_decoder *decoder,
                                        struct tide_fields *fields,
                                        struct tide_event *events, size_t max,
                                        size_t *count)
{
    for (*count = 0; *count < max;) {
        const enum next next = look_ahead(fields);
        if (next != TIDE_NEXT_EVENT)
            return stop_at(decoder, fields, next);
        bool known;
        fields->until_time--;
        if (!read_event(decoder, fields, &events[*count], &known))
            return TIDE_STOP_BAD;
        if (known)
            count_event(decoder, &events[*count]);
        *count += known;
    }
    return TIDE_STOP_FULL;
}

enum tide_decode_stop tide_decode(struct tide_decoder *decoder,
                                  struct tide_fields *fields, struct tide_event *events,
                                  size_t max, size_t *count)
{
    enum tide_decode_stop stop = TIDE_STOP_FULL;
    for (*count = 0; *count < max && stop == TIDE_STOP_FULL;) {
        size_t some;
        if (!tide_decode_usual(decoder, fields, events + *count, max - *count, &some))
            stop = TIDE_STOP_BAD;
        *count += some;
        if (stop != TIDE_STOP_FULL || *count == max)
            break;
        stop = tide_decode_plain(decoder, fields, events + *count, 1, &some);
        *count += some;
    }
    return stop;
}
