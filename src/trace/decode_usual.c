/* trace/decode_usual.c - the records that traces are made of: decoded fast.
 *
 * This reads what decode.c and decode_stack.c read, with the same results, but only by
 * columns, and only births and deaths in their usual forms, with a stack that is known
 * already.  Which those are can be told from the tag alone (and the shape, if there is one),
 * before anything is taken.  Whatever is not usual is left where it stands, for them.
 *
 * What it costs is guessing wrong, more than what it does.  So the lengths of varints, which
 * nobody can foresee, are computed from one word of bytes: columns are followed by
 * TIDE_COLUMN_SLACK bytes that may be read.
 */
#include "trace/decode.h"

#include <endian.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/format.h"
#include "trace/lane_memory.h"

#define TIDE_INLINE static inline __attribute__((always_inline))

/* Where the next fields stand.  When something is wrong, an `at` may be beyond its end. */
struct hand {
    const uint8_t *at[TIDE_COLUMNS], *end[TIDE_COLUMNS];
    bool wrong;
};

/* The number in the bytes of a varint of up to eight. */
static uint64_t long_value(uint64_t bytes)
{
    uint64_t value = bytes;
    value = (value & 0x007f007f007f007fu) | (value & 0x7f007f007f007f00u) >> 1;
    value = (value & 0x00003fff00003fffu) | (value & 0x3fff00003fff0000u) >> 2;
    return (value & 0x0fffffffu) | (value & 0x0fffffff00000000u) >> 4;
}

/* The same, of up to four. */
TIDE_INLINE uint64_t short_value(uint64_t bytes)
{
    uint32_t value = (uint32_t)bytes;
    value = (value & 0x007f007fu) | (value & 0x7f007f00u) >> 1;
    return (value & 0x3fffu) | (value & 0x3fff0000u) >> 2;
}

/* The hand itself is not given to anybody, so that it can stay in registers. */
static __attribute__((noinline)) struct tide_cursor take_longest(
    struct tide_cursor cursor, uint64_t *value)
{
    *value = tide_cursor_varint(&cursor);
    return cursor;
}

TIDE_INLINE uint64_t take(struct hand *hand, unsigned column)
{
    uint64_t word;
    const uint8_t *const at = hand->at[column];
    memcpy(&word, at, sizeof(word));
    word = le64toh(word);
    const uint64_t ends = ~word & 0x8080808080808080u;
    if (__builtin_expect((uint32_t)ends == 0, 0)) {
        if (!ends) {
            uint64_t value;
            const struct tide_cursor cursor = take_longest(
                (struct tide_cursor){.at = at, .end = hand->end[column]}, &value);
            hand->at[column] = cursor.at;
            hand->wrong |= cursor.failed;
            return value;
        }
        hand->at[column] = at + (unsigned)__builtin_ctzll(ends) / 8 + 1;
        hand->wrong |= hand->at[column] > hand->end[column];
        return long_value(word & (ends ^ (ends - 1)));
    }
    const uint32_t near_ends = (uint32_t)ends;
    hand->at[column] = at + (unsigned)__builtin_ctz(near_ends) / 8 + 1;
    hand->wrong |= hand->at[column] > hand->end[column];
    return short_value((uint32_t)word & (near_ends ^ (near_ends - 1)));
}

/* The same, where two bytes are nearly always enough. */
TIDE_INLINE uint64_t take_small(struct hand *hand, unsigned column)
{
    uint16_t word;
    const uint8_t *const at = hand->at[column];
    memcpy(&word, at, sizeof(word));
    const uint32_t bytes = le16toh(word);
    if (__builtin_expect((~bytes & 0x8080u) == 0, 0))
        return take(hand, column);
    const uint32_t second = bytes >> 7 & 1;
    hand->at[column] = at + 1 + second;
    hand->wrong |= hand->at[column] > hand->end[column];
    return (bytes & 0x7f) | (bytes >> 1 & 0x3f80 & (0 - second));
}

TIDE_INLINE uint64_t near(uint64_t last, uint64_t value)
{
    return last + (uint64_t)tide_unzigzag(value) * 8;
}

/* The number of a record that has one. */
TIDE_INLINE void take_number(const struct tide_decoder *decoder, struct hand *hand,
                             struct tide_event *event)
{
    const uint8_t *const at = hand->at[TIDE_COLUMN_NUMBERS];
    hand->wrong |= hand->end[TIDE_COLUMN_NUMBERS] - at < 2;
    if (decoder->numbers)
        event->numbered = TIDE_ON_SLOT | TIDE_HAS_NUMBER;
    event->number = (uint16_t)(at[0] | at[1] << 8);
    hand->at[TIDE_COLUMN_NUMBERS] = at + 2;
}

/* FREE, FREE_AGE without far or stack. */
TIDE_INLINE void usual_free(const struct tide_decoder *decoder, struct hand *hand,
                            unsigned tag, struct tide_event *event)
{
    struct tide_lane_memory *const memory = decoder->memory;
    *event = decoder->blank;
    event->kind = TIDE_EVENT_FREE;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    if (TIDE_TAG_OP(tag) == TIDE_OP_FREE) {
        memory->last_death = near(memory->last_death, take(hand, TIDE_COLUMN_DEATHS));
        event->address = memory->last_death;
        return;
    }
    const uint64_t age = take_small(hand, TIDE_COLUMN_AGES);
    hand->wrong |= age >= TIDE_AGES || age >= memory->births;
    event->address = tide_lane_take_age(memory, (uint32_t)age % TIDE_AGES);
}

/* The birth is like the last one with its stack, RECENT. */
TIDE_INLINE void be_like(const struct tide_recent *recent, struct tide_event *event)
{
    event->alloc_kind = recent->kind;
    event->align_log2 = recent->align_log2;
    event->size = recent->size;
    event->usable = recent->usable;
}

/* The birth is what its record says, and the last one with the present stack. */
TIDE_INLINE void be_new(struct tide_decoder *decoder, struct hand *hand, unsigned tag,
                        struct tide_event *event)
{
    if (tag & TIDE_TAG_SHAPED)
        decoder->last_kind = *hand->at[TIDE_COLUMN_REST]++;
    event->alloc_kind = decoder->last_kind;
    event->size = take_small(hand, TIDE_COLUMN_SIZES);
    event->usable = TIDE_USABLE_GLIBC(event->size);
    tide_lane_keep_likeness(decoder, event);
}

/* ALLOC in all its forms, with a stack by NEXT or RECENT; memory->stacks > 0. */
TIDE_INLINE void usual_alloc(struct tide_decoder *decoder, struct hand *hand,
                             unsigned tag, struct tide_event *event)
{
    struct tide_lane_memory *const memory = decoder->memory;
    const unsigned op = TIDE_TAG_OP(tag);
    *event = decoder->blank;
    event->kind = TIDE_EVENT_ALLOC;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    uint64_t entry = TIDE_TAG_MODE(tag) == TIDE_STACK_RECENT
                         ? take_small(hand, TIDE_COLUMN_STACKS)
                         : memory->next[decoder->current];
    hand->wrong |= entry >= memory->stacks || entry >= TIDE_RECENTS;
    entry %= TIDE_RECENTS;
    const struct tide_recent *const recent = &memory->recent[entry];
    tide_lane_go_to(decoder, (uint32_t)entry);
    decoder->cut_stacks += recent->cut;
    event->stack = recent->node;
    if (op >= TIDE_OP_ALLOC_LIKE) {
        hand->wrong |= recent->like != decoder->mark;
        be_like(recent, event);
    } else {
        be_new(decoder, hand, tag, event);
    }
    const uint64_t expected = tide_lane_expects(memory, event->usable);
    if (op == TIDE_OP_ALLOC_HERE || op == TIDE_OP_ALLOC_LIKE_HERE) {
        event->address = expected;
        hand->wrong |= expected == 0;
    } else {
        event->address = near(memory->next_birth, take(hand, TIDE_COLUMN_BIRTHS));
    }
    tide_lane_add_birth(memory, event);
}

/* A birth of the usual form?  A kind may be said, but nothing more unusual. */
TIDE_INLINE bool is_usual_alloc(const struct hand *hand, unsigned tag)
{
    if (TIDE_TAG_MODE(tag) & 1) /* DELTA, LEAF */
        return false;
    if (!(tag & TIDE_TAG_SHAPED))
        return true;
    const uint8_t *const shape = hand->at[TIDE_COLUMN_REST];
    return TIDE_TAG_OP(tag) < TIDE_OP_ALLOC_LIKE &&
           shape < hand->end[TIDE_COLUMN_REST] && *shape < TIDE_KINDS;
}

/* Take the record at hand; false: it is none of the usual ones, and was left. */
TIDE_INLINE bool usual(struct tide_decoder *decoder, struct hand *hand,
                       struct tide_event *event)
{
    const unsigned tag = *hand->at[TIDE_COLUMN_TAGS];
    switch (TIDE_TAG_OP(tag)) {
    case TIDE_OP_FREE:
    case TIDE_OP_FREE_AGE:
        if (tag & ~(15u | TIDE_TAG_NUMBERED))
            return false;
        hand->at[TIDE_COLUMN_TAGS]++;
        usual_free(decoder, hand, tag, event);
        return true;
    case TIDE_OP_ALLOC:
    case TIDE_OP_ALLOC_HERE:
    case TIDE_OP_ALLOC_LIKE:
    case TIDE_OP_ALLOC_LIKE_HERE:
        if (!is_usual_alloc(hand, tag))
            return false;
        hand->at[TIDE_COLUMN_TAGS]++;
        usual_alloc(decoder, hand, tag, event);
        return true;
    default:
        return false;
    }
}

/* Give the columns back as far as they were read; false when one was overrun. */
static bool give_back(struct tide_fields *fields, const struct hand *hand)
{
    bool right = !hand->wrong;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        right &= hand->at[i] <= hand->end[i];
        fields->at[i].at = hand->at[i] <= hand->end[i] ? hand->at[i] : hand->end[i];
    }
    return right;
}

bool tide_decode_usual(struct tide_decoder *decoder, struct tide_fields *fields,
                       struct tide_event *events, size_t max, size_t *count)
{
    *count = 0;
    if (!fields->columns || !decoder->memory || decoder->memory->stacks == 0)
        return true;
    struct hand hand = {.wrong = false};
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        hand.at[i] = fields->at[i].at;
        hand.end[i] = fields->at[i].end;
    }
    decoder->blank =
        (struct tide_event){.numbered = decoder->numbers ? TIDE_ON_SLOT : 0,
                            .process = decoder->process,
                            .lane = decoder->lane,
                            .ticks = decoder->ticks};
    size_t made = 0;
    while (made < max && hand.at[TIDE_COLUMN_TAGS] < hand.end[TIDE_COLUMN_TAGS] &&
           usual(decoder, &hand, &events[made])) {
        if (__builtin_expect(hand.wrong, 0))
            break;
        made++;
    }
    *count = made;
    return give_back(fields, &hand);
}
