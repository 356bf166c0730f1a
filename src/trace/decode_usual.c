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

#define RARE(condition) __builtin_expect((condition) != 0, 0)

/* Operations, as sets of bits. */
#define TIDE_BIT(op) (1u << (op))
#define TIDE_BIRTHS                                           \
    (TIDE_BIT(TIDE_OP_ALLOC) | TIDE_BIT(TIDE_OP_ALLOC_HERE) | \
     TIDE_BIT(TIDE_OP_ALLOC_LIKE) | TIDE_BIT(TIDE_OP_ALLOC_LIKE_HERE))
#define TIDE_LIKES  (TIDE_BIT(TIDE_OP_ALLOC_LIKE) | TIDE_BIT(TIDE_OP_ALLOC_LIKE_HERE))
#define TIDE_HERES  (TIDE_BIT(TIDE_OP_ALLOC_HERE) | TIDE_BIT(TIDE_OP_ALLOC_LIKE_HERE))
#define TIDE_DEATHS (TIDE_BIT(TIDE_OP_FREE) | TIDE_BIT(TIDE_OP_FREE_AGE))

/* Where the next fields stand.  When something is wrong, an `at` may be beyond its end. */
struct columns {
    const uint8_t *at[TIDE_COLUMNS], *end[TIDE_COLUMNS];
};

/* What changes from record to record is kept here, where no store of an event can change
 * it, and given back at the end. */
struct hand {
    struct tide_lane_memory *memory;
    uint64_t next_birth, last_death, cut_stacks;
    uint32_t births, deaths, current, mark;
    uint32_t entries; /* of the recent stacks: those there are */
    unsigned wrong;   /* not 0: the record at hand makes no sense */
    uint8_t last_kind;
    bool numbers;
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

/* A varint of any length at AT, before END; *AFTER becomes where it ends, NULL when it
 * does not. */
static __attribute__((noinline)) uint64_t long_varint(const uint8_t *at,
                                                      const uint8_t *end,
                                                      const uint8_t **after)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    word = le64toh(word);
    const uint64_t ends = ~word & 0x8080808080808080u;
    if (ends) {
        *after = at + (unsigned)__builtin_ctzll(ends) / 8 + 1;
        return long_value(word & (ends ^ (ends - 1)));
    }
    struct tide_cursor cursor = {.at = at, .end = end};
    const uint64_t value = tide_cursor_varint(&cursor);
    *after = cursor.failed ? NULL : cursor.at;
    return value;
}

TIDE_INLINE uint64_t take_long(struct columns *columns, struct hand *hand,
                               unsigned column)
{
    const uint8_t *after;
    const uint8_t *const end = columns->end[column];
    const uint64_t value = long_varint(columns->at[column], end, &after);
    hand->wrong |= !after || after > end;
    columns->at[column] = after ? after : end;
    return value;
}

TIDE_INLINE uint64_t take(struct columns *columns, struct hand *hand, unsigned column)
{
    uint32_t word;
    const uint8_t *const at = columns->at[column];
    memcpy(&word, at, sizeof(word));
    word = le32toh(word);
    const uint32_t ends = ~word & 0x80808080u;
    if (RARE(ends == 0))
        return take_long(columns, hand, column);
    columns->at[column] = at + (unsigned)__builtin_ctz(ends) / 8 + 1;
    hand->wrong |= columns->at[column] > columns->end[column];
    return short_value(word & (ends ^ (ends - 1)));
}

/* The same, where two bytes are nearly always enough. */
TIDE_INLINE uint64_t take_small(struct columns *columns, struct hand *hand,
                                unsigned column)
{
    const uint8_t *const at = columns->at[column];
    const uint32_t first = at[0];
    const uint32_t goes_on = 0 - (first >> 7); /* all bits or none */
    const uint32_t second = at[1] & goes_on;
    if (RARE(second & 0x80))
        return take_long(columns, hand, column);
    columns->at[column] = at + 1 + (goes_on & 1);
    hand->wrong |= columns->at[column] > columns->end[column];
    return (first & 0x7f) | second << 7;
}

TIDE_INLINE uint64_t near(uint64_t last, uint64_t value)
{
    return last + (uint64_t)tide_unzigzag(value) * 8;
}

/* A byte, which is nonsense beyond the end, and wrong. */
TIDE_INLINE uint32_t take_byte(struct columns *columns, struct hand *hand,
                               unsigned column)
{
    const uint8_t *const at = columns->at[column]++;
    hand->wrong |= at >= columns->end[column];
    return *at;
}

/* The number of a record that has one. */
TIDE_INLINE void take_number(struct columns *columns, struct hand *hand,
                             struct tide_event *event)
{
    const uint32_t low = take_byte(columns, hand, TIDE_COLUMN_NUMBERS_LOW);
    const uint32_t high = take_byte(columns, hand, TIDE_COLUMN_NUMBERS_HIGH);
    if (hand->numbers)
        event->numbered = TIDE_ON_SLOT | TIDE_HAS_NUMBER;
    event->number = (uint16_t)(low | high << 8);
}

/* FREE, FREE_AGE without far or stack. */
TIDE_INLINE void usual_free(struct columns *columns, struct hand *hand, unsigned tag,
                            struct tide_event *event)
{
    struct tide_lane_memory *const memory = hand->memory;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(columns, hand, event);
    uint64_t address;
    if (TIDE_TAG_OP(tag) == TIDE_OP_FREE) {
        address = near(hand->last_death, take(columns, hand, TIDE_COLUMN_DEATHS));
    } else {
        const uint32_t low = take_byte(columns, hand, TIDE_COLUMN_AGES_LOW);
        const uint32_t age = low | take_byte(columns, hand, TIDE_COLUMN_AGES_HIGH) << 8;
        hand->wrong |= age >= TIDE_AGES || age >= hand->births;
        const struct tide_born born =
            memory->born[(hand->births - 1 - age) % TIDE_AGES];
        address = born.address;
        tide_lane_pile(memory, born);
    }
    event->address = hand->last_death = address;
    memory->dead[hand->deaths++ % TIDE_DEAD] = address;
}

/* The entry of the recent stacks that a birth gives by NEXT or RECENT. */
TIDE_INLINE uint32_t take_entry(struct columns *columns, struct hand *hand,
                                unsigned tag)
{
    uint16_t *const next = hand->memory->next;
    uint64_t entry = next[hand->current];
    if (TIDE_TAG_MODE(tag) == TIDE_STACK_RECENT) {
        entry = take_small(columns, hand, TIDE_COLUMN_STACKS);
        next[hand->current] = (uint16_t)entry;
    }
    hand->wrong |= entry >= hand->entries;
    hand->current = (uint32_t)entry % TIDE_RECENTS;
    return hand->current;
}

/* The birth is like the last one with its stack, RECENT. */
TIDE_INLINE void be_like(struct hand *hand, const struct tide_recent *recent,
                         struct tide_event *event)
{
    hand->wrong |= recent->like != hand->mark;
    event->alloc_kind = recent->kind;
    event->align_log2 = recent->align_log2;
    event->size = recent->size;
    event->usable = recent->usable;
}

TIDE_INLINE uint64_t take_size(struct columns *columns, struct hand *hand)
{
    const uint64_t first = take_byte(columns, hand, TIDE_COLUMN_SIZES);
    const uint64_t goes_on = 0 - (first >> 7); /* all bits or none */
    const uint8_t *const at = columns->at[TIDE_COLUMN_SIZES_MORE];
    const uint64_t more = *at & goes_on;
    if (RARE(more & 0x80)) {
        const uint64_t rest = take_long(columns, hand, TIDE_COLUMN_SIZES_MORE);
        hand->wrong |= rest > UINT64_MAX >> 7;
        return (first & 0x7f) | rest << 7;
    }
    columns->at[TIDE_COLUMN_SIZES_MORE] = at + (goes_on & 1);
    hand->wrong |=
        columns->at[TIDE_COLUMN_SIZES_MORE] > columns->end[TIDE_COLUMN_SIZES_MORE];
    return (first & 0x7f) | more << 7;
}

/* Where a birth is that is not where it was expected. */
TIDE_INLINE uint64_t take_place(struct columns *columns, struct hand *hand)
{
    const uint32_t high = take_byte(columns, hand, TIDE_COLUMN_PLACES_HIGH);
    if (RARE(high >= TIDE_PLACE_NEAR)) {
        const uint64_t at = take(columns, hand, TIDE_COLUMN_BIRTHS);
        return high == TIDE_PLACE_FAR ? at : near(hand->next_birth, at);
    }
    const uint32_t place = high << 8 | take_byte(columns, hand, TIDE_COLUMN_PLACES_LOW);
    hand->wrong |= !tide_lane_has_place(hand->births, hand->deaths, place);
    return tide_lane_place(hand->memory, hand->births, hand->deaths, place);
}

/* The birth is what its record says, and the last one with its stack, RECENT. */
TIDE_INLINE void be_new(struct columns *columns, struct hand *hand, unsigned tag,
                        struct tide_recent *recent, struct tide_event *event)
{
    if (tag & TIDE_TAG_SHAPED)
        hand->last_kind = *columns->at[TIDE_COLUMN_REST]++;
    const uint64_t size = take_size(columns, hand);
    const uint64_t large = ((size + 23) & ~15ull) - 8;
    const uint64_t is_large = 0 - (uint64_t)(size > 24);
    const uint64_t usable = 24 ^ ((24 ^ large) & is_large);
    recent->kind = event->alloc_kind = hand->last_kind;
    recent->align_log2 = 0;
    recent->like = hand->mark;
    recent->size = event->size = size;
    recent->usable = event->usable = usable;
}

/* ALLOC in all its forms, with a stack by NEXT or RECENT. */
TIDE_INLINE void usual_alloc(struct columns *columns, struct hand *hand, unsigned tag,
                             struct tide_event *event)
{
    struct tide_lane_memory *const memory = hand->memory;
    const unsigned op = TIDE_TAG_OP(tag);
    if (tag & TIDE_TAG_NUMBERED)
        take_number(columns, hand, event);
    struct tide_recent *const recent = &memory->recent[take_entry(columns, hand, tag)];
    hand->cut_stacks += recent->cut;
    event->stack = recent->node;
    if (TIDE_LIKES >> op & 1)
        be_like(hand, recent, event);
    else
        be_new(columns, hand, tag, recent, event);
    uint64_t address = tide_lane_expects(memory, event->usable);
    if (TIDE_HERES >> op & 1)
        hand->wrong |= address == 0;
    else
        address = take_place(columns, hand);
    event->address = address;
    const struct tide_born born = tide_born_at(address, event->usable);
    memory->born[hand->births++ % TIDE_AGES] = born;
    hand->next_birth = born.after;
}

/* A birth of the usual form, though it is shaped or has a mode of its own?  A kind may be
 * said, but nothing more unusual. */
TIDE_INLINE bool is_usual_shape(const struct columns *columns, unsigned tag)
{
    const uint8_t *const shape = columns->at[TIDE_COLUMN_REST];
    return !(TIDE_TAG_MODE(tag) & 1) && /* DELTA, LEAF */
           !(TIDE_LIKES >> TIDE_TAG_OP(tag) & 1) &&
           shape < columns->end[TIDE_COLUMN_REST] && *shape < TIDE_KINDS;
}

/* Take the record of TAG, but for the tag itself; false: it is none of the usual ones,
 * and was left.  BLANK is what every event begins with. */
TIDE_INLINE bool usual(struct columns *columns, struct hand *hand, unsigned tag,
                       const struct tide_event *blank, struct tide_event *event)
{
    const unsigned odd_mode = 1u << TIDE_TAG_MODE_SHIFT;
    if (TIDE_BIRTHS >> TIDE_TAG_OP(tag) & 1) {
        if (RARE(tag & (odd_mode | TIDE_TAG_SHAPED)) && !is_usual_shape(columns, tag))
            return false;
        *event = *blank;
        usual_alloc(columns, hand, tag, event);
        return true;
    }
    if (!(TIDE_DEATHS >> TIDE_TAG_OP(tag) & 1) || tag & ~(15u | TIDE_TAG_NUMBERED))
        return false;
    *event = *blank;
    event->kind = TIDE_EVENT_FREE;
    usual_free(columns, hand, tag, event);
    return true;
}

static struct hand take_in_hand(const struct tide_decoder *decoder)
{
    struct tide_lane_memory *const memory = decoder->memory;
    return (struct hand){
        .memory = memory,
        .next_birth = memory->next_birth,
        .last_death = memory->last_death,
        .births = memory->births,
        .deaths = memory->deaths,
        .current = decoder->current,
        .mark = decoder->mark,
        .entries = memory->stacks < TIDE_RECENTS ? memory->stacks : TIDE_RECENTS,
        .last_kind = decoder->last_kind,
        .numbers = decoder->numbers,
    };
}

static void give_back(struct tide_decoder *decoder, const struct hand *hand)
{
    hand->memory->next_birth = hand->next_birth;
    hand->memory->last_death = hand->last_death;
    hand->memory->births = hand->births;
    hand->memory->deaths = hand->deaths;
    decoder->current = hand->current;
    decoder->last_kind = hand->last_kind;
    decoder->cut_stacks += hand->cut_stacks;
}

/* FIELDS are read so far; false when a column was overrun. */
static bool go_on_from(struct tide_fields *fields, const struct columns *columns)
{
    bool right = true;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        const uint8_t *const at = columns->at[i], *const end = columns->end[i];
        right &= at <= end;
        fields->at[i].at = at <= end ? at : end;
    }
    return right;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

bool tide_decode_usual(struct tide_decoder *decoder, struct tide_fields *fields,
                       struct tide_event *events, size_t max, size_t *count)
{
    *count = 0;
    if (!fields->columns || !decoder->memory || decoder->memory->stacks == 0)
        return true;
    const uint64_t until_time = tide_fields_until_time(fields);
    struct columns columns;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++) {
        columns.at[i] = fields->at[i].at;
        columns.end[i] = fields->at[i].end;
    }
    struct hand hand = take_in_hand(decoder);
    decoder->blank =
        (struct tide_event){.numbered = decoder->numbers ? TIDE_ON_SLOT : 0,
                            .process = decoder->process,
                            .lane = decoder->lane,
                            .ticks = decoder->ticks};
    const uint8_t *tag = columns.at[TIDE_COLUMN_TAGS];
    const size_t tags = (size_t)(columns.end[TIDE_COLUMN_TAGS] - tag);
    const size_t most = smaller(smaller(tags, max), until_time);
    const struct tide_event *const full = events + most;
    struct tide_event *event = events;
    uint64_t born_bytes = decoder->born_bytes;
    for (; event < full && usual(&columns, &hand, *tag, &decoder->blank, event);
         event++) {
        tag++;
        if (RARE(hand.wrong))
            break;
        born_bytes = tide_add_saturating(born_bytes, event->size);
    }
    columns.at[TIDE_COLUMN_TAGS] = tag;
    *count = (size_t)(event - events);
    fields->until_time -= *count;
    decoder->born_bytes = born_bytes;
    give_back(decoder, &hand);
    return go_on_from(fields, &columns) && !hand.wrong;
}
