/* trace/decode_usual.c - the records that traces are made of: decoded fast.
 *
 * This reads what decode.c and decode_stack.c read, with the same results, but only births
 * and deaths in their usual forms, with a stack that is known already, and only while
 * there are bytes enough that none of it can run over the end.  Whatever is not usual is
 * left where it stands, for them.
 *
 * What it costs is guessing wrong, more than what it does.  So the lengths of sizes and
 * addresses, which nobody can foresee, are computed from one word of bytes.
 */
#include "trace/decode.h"

#include <endian.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/format.h"
#include "trace/lane_memory.h"

enum { TIDE_ROOM = 32 }; /* bytes that a usual record may look at */

/* What became of a record. */
enum outcome {
    TIDE_USUAL,   /* it was read */
    TIDE_UNUSUAL, /* it was left: nothing has changed */
    TIDE_WRONG,   /* it is none */
};

/* Where the next record stands. */
struct hand {
    const uint8_t *at, *end;
};

/* The next eight bytes; BITS of them are used up. */
struct window {
    uint64_t word;
    unsigned bits;
};

static inline struct window window_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
    return (struct window){.word = le64toh(word)};
}

/* The number in the bytes of a varint of up to eight. */
static uint64_t long_value(uint64_t bytes)
{
    uint64_t value = bytes;
    value = (value & 0x007f007f007f007fu) | (value & 0x7f007f007f007f00u) >> 1;
    value = (value & 0x00003fff00003fffu) | (value & 0x3fff00003fff0000u) >> 2;
    return (value & 0x0fffffffu) | (value & 0x0fffffff00000000u) >> 4;
}

/* The same, of up to four. */
static inline uint64_t short_value(uint64_t bytes)
{
    uint32_t value = (uint32_t)bytes;
    value = (value & 0x007f007fu) | (value & 0x7f007f00u) >> 1;
    return (value & 0x3fffu) | (value & 0x3fff0000u) >> 2;
}

/* Take a varint out of WINDOW; false when it is not wholly in there. */
static inline bool take_varint(struct window *window, uint64_t *value)
{
    const uint64_t ends = ~window->word & 0x8080808080808080u;
    if (!ends)
        return false;
    const unsigned bits = (unsigned)__builtin_ctzll(ends) + 1;
    const uint64_t bytes = window->word & (ends ^ (ends - 1));
    *value = bits <= 32 ? short_value(bytes) : long_value(bytes);
    /* What is shifted in looks like the end of a varint: then bits is above 64. */
    window->word = window->word >> (bits - 1) >> 1;
    window->bits += bits;
    return window->bits <= 64;
}

static inline uint64_t near(uint64_t last, uint64_t value)
{
    return last + (uint64_t)tide_unzigzag(value) * 8;
}

/* The number of a record that has one. */
static inline void take_number(const struct tide_decoder *decoder, struct hand *hand,
                               struct tide_event *event)
{
    if (decoder->numbers)
        event->numbered = TIDE_ON_SLOT | TIDE_HAS_NUMBER;
    event->number = (uint16_t)(hand->at[0] | hand->at[1] << 8);
    hand->at += 2;
}

static inline enum outcome usual_free(const struct tide_decoder *decoder,
                                      struct hand *hand, struct tide_event *event)
{
    struct tide_lane_memory *const memory = decoder->memory;
    const unsigned tag = *hand->at++;
    if (tag & ~(15u | TIDE_TAG_NUMBERED))
        return TIDE_UNUSUAL;
    *event = decoder->blank;
    event->kind = TIDE_EVENT_FREE;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    struct window window = window_at(hand->at);
    uint64_t value;
    if (!take_varint(&window, &value))
        return TIDE_UNUSUAL;
    hand->at += window.bits / 8;
    if (TIDE_TAG_OP(tag) == TIDE_OP_FREE) {
        memory->last_death = near(memory->last_death, value);
        event->address = memory->last_death;
        return TIDE_USUAL;
    }
    if (value >= TIDE_AGES || value >= memory->births)
        return TIDE_WRONG;
    event->address = tide_lane_take_age(memory, (uint32_t)value);
    return TIDE_USUAL;
}

/* What the fields of a birth say, before anything of it is believed. */
struct birth {
    uint64_t size, distance, entry;
    uint8_t kind;
};

static inline bool take_birth(const struct tide_decoder *decoder, struct hand *hand,
                              unsigned tag, struct birth *birth)
{
    const unsigned op = TIDE_TAG_OP(tag);
    birth->kind = decoder->last_kind;
    if (tag & TIDE_TAG_SHAPED) {
        birth->kind = *hand->at++;
        if (birth->kind >= TIDE_KINDS || op >= TIDE_OP_ALLOC_LIKE)
            return false; /* or there is more to the shape */
    }
    struct window window = window_at(hand->at);
    birth->entry = decoder->current;
    if (op < TIDE_OP_ALLOC_LIKE && !take_varint(&window, &birth->size))
        return false;
    if ((op == TIDE_OP_ALLOC || op == TIDE_OP_ALLOC_LIKE) &&
        !take_varint(&window, &birth->distance))
        return false;
    if (TIDE_TAG_MODE(tag) == TIDE_STACK_RECENT && !take_varint(&window, &birth->entry))
        return false;
    hand->at += window.bits / 8;
    return true;
}

/* The birth is like the last one with its stack, RECENT. */
static inline void be_like(const struct tide_recent *recent, struct tide_event *event)
{
    event->alloc_kind = recent->kind;
    event->align_log2 = recent->align_log2;
    event->size = recent->size;
    event->usable = recent->usable;
}

/* The birth is what its record says, and the last one with the present stack. */
static inline void be_new(struct tide_decoder *decoder, const struct birth *birth,
                          struct tide_event *event)
{
    decoder->last_kind = birth->kind;
    event->alloc_kind = birth->kind;
    event->size = birth->size;
    event->usable = TIDE_USABLE_GLIBC(birth->size);
    tide_lane_keep_likeness(decoder, event);
}

static inline enum outcome usual_alloc(struct tide_decoder *decoder, struct hand *hand,
                                       struct tide_event *event)
{
    struct tide_lane_memory *const memory = decoder->memory;
    const unsigned tag = *hand->at++, op = TIDE_TAG_OP(tag);
    const bool like = op >= TIDE_OP_ALLOC_LIKE;
    const bool here = op == TIDE_OP_ALLOC_HERE || op == TIDE_OP_ALLOC_LIKE_HERE;
    if (TIDE_TAG_MODE(tag) & 1)
        return TIDE_UNUSUAL; /* DELTA, LEAF */
    *event = decoder->blank;
    event->kind = TIDE_EVENT_ALLOC;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    struct birth birth = {0};
    if (!take_birth(decoder, hand, tag, &birth))
        return TIDE_UNUSUAL;
    if (birth.entry >= memory->stacks || birth.entry >= TIDE_RECENTS)
        return memory->stacks ? TIDE_WRONG : TIDE_UNUSUAL;
    struct tide_recent *const recent = &memory->recent[birth.entry];
    if (like && !recent->like)
        return TIDE_WRONG;
    decoder->current = (uint32_t)birth.entry;
    decoder->cut_stacks += recent->cut;
    event->stack = recent->node;
    if (like)
        be_like(recent, event);
    else
        be_new(decoder, &birth, event);
    const uint64_t expected = tide_lane_expects(memory, event->usable);
    event->address = here ? expected : near(memory->next_birth, birth.distance);
    if (here && !expected)
        return TIDE_WRONG;
    tide_lane_add_birth(memory, event);
    return TIDE_USUAL;
}

static inline enum outcome usual(struct tide_decoder *decoder, struct hand *hand,
                                 struct tide_event *event)
{
    switch (TIDE_TAG_OP(*hand->at)) {
    case TIDE_OP_FREE:
    case TIDE_OP_FREE_AGE:
        return usual_free(decoder, hand, event);
    case TIDE_OP_ALLOC:
    case TIDE_OP_ALLOC_HERE:
    case TIDE_OP_ALLOC_LIKE:
    case TIDE_OP_ALLOC_LIKE_HERE:
        return usual_alloc(decoder, hand, event);
    default:
        return TIDE_UNUSUAL;
    }
}

bool tide_decode_usual(struct tide_decoder *decoder, struct tide_cursor *cursor,
                       struct tide_event *events, size_t max, size_t *count)
{
    struct hand hand = {.at = cursor->at, .end = cursor->end};
    decoder->blank =
        (struct tide_event){.numbered = decoder->numbers ? TIDE_ON_SLOT : 0,
                            .process = decoder->process,
                            .lane = decoder->lane,
                            .ticks = decoder->ticks};
    const uint8_t *start = hand.at; /* of the record at hand */
    enum outcome outcome = TIDE_USUAL;
    size_t made = 0;
    while (made < max && decoder->memory && hand.end - hand.at >= TIDE_ROOM) {
        outcome = usual(decoder, &hand, &events[made]);
        if (outcome != TIDE_USUAL)
            break;
        start = hand.at;
        made++;
    }
    cursor->at = start;
    *count = made;
    return outcome != TIDE_WRONG;
}
