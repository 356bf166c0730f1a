/* trace/decode_usual.c - the records that traces are made of: decoded fast.
 *
 * This reads what decode.c and decode_stack.c read, with the same results, but only
 * FREE and ALLOC in their usual forms, and only while there are bytes enough that none
 * of it can run over the end.  Whatever is not usual is left where it stands, for them.
 *
 * What it costs is guessing wrong, more than what it does.  So the lengths of sizes and
 * addresses, which nobody can foresee, are computed from one word of bytes; those of
 * counts and frames, which are nearly always the same, are branches.
 */
#include "trace/decode.h"

#include <endian.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/format.h"

enum {
    TIDE_ROOM = 32, /* bytes that a usual record may look at, but for its frames */
    TIDE_TOKEN_ROOM = TIDE_VARINT_MAX,
};

/* What became of a record. */
enum outcome {
    TIDE_USUAL,   /* it was read */
    TIDE_UNUSUAL, /* it was left: nothing has changed */
    TIDE_WRONG,   /* it is none */
};

/* The decoder's state that changes with every record, in registers. */
struct hand {
    const uint8_t *at, *end;
    uint64_t last_address;
    uint8_t last_kind;
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
    const unsigned tag = *hand->at++;
    if (tag & ~(15u | TIDE_TAG_NUMBERED))
        return TIDE_UNUSUAL;
    *event = decoder->blank;
    event->kind = TIDE_EVENT_FREE;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    struct window window = window_at(hand->at);
    uint64_t distance;
    if (!take_varint(&window, &distance))
        return TIDE_UNUSUAL;
    hand->at += window.bits / 8;
    hand->last_address = near(hand->last_address, distance);
    event->address = hand->last_address;
    return TIDE_USUAL;
}

struct token {
    uint64_t value;
    const uint8_t *end; /* where it ends; NULL: it is none */
};

/* A token of more than two bytes at AT, which has TIDE_TOKEN_ROOM. */
static struct token __attribute__((noinline)) long_token(const uint8_t *at)
{
    struct tide_cursor cursor = tide_cursor_over(at, TIDE_TOKEN_ROOM);
    const uint64_t value = tide_cursor_varint(&cursor);
    return (struct token){.value = value, .end = cursor.failed ? NULL : cursor.at};
}

static inline struct token token_at(const uint8_t *at)
{
    const uint64_t low = at[0], high = at[1];
    if (low < 0x80)
        return (struct token){low, at + 1};
    if (high < 0x80)
        return (struct token){(low & 0x7f) | high << 7, at + 2};
    return long_token(at);
}

/* Put the frame that TOKEN means on top of the stack, which is DEPTH deep, whatever it
 * takes; its node, or 0 when it means none. */
static uint32_t __attribute__((noinline))
push_at(struct tide_decoder *decoder, size_t depth, uint64_t token)
{
    decoder->stack.count = depth;
    if (!tide_decode_push(decoder, token))
        return 0;
    const struct tide_stacked *frames = decoder->stack.items;
    return frames[depth].node;
}

/* Read COUNT frames at AT and put them on top of the stack, which has room and is DEPTH
 * deep.  Where they end; NULL when they make no sense. */
static const uint8_t *take_frames(struct tide_decoder *decoder, const uint8_t *at,
                                  size_t depth, size_t count)
{
    const struct tide_dictionary_entry *dictionary = decoder->dictionary;
    const struct tide_stacks *stacks = decoder->resolver->stacks;
    const uint32_t good_mark = decoder->reset_mark > decoder->epoch_mark
                                   ? decoder->reset_mark
                                   : decoder->epoch_mark;
    struct tide_stacked *frames = decoder->stack.items;
    uint32_t node = depth ? frames[depth - 1].node : 0;
    for (const size_t end = depth + count; depth < end; depth++) {
        const struct token token = token_at(at);
        if (!token.end)
            return NULL;
        at = token.end;
        /* Not given here, and a place of the dictionary: a look will do. */
        uint32_t child = 0;
        if (!(token.value & ~(uint64_t)(2 * TIDE_DICTIONARY_SLOTS - 2))) {
            const struct tide_dictionary_entry *entry = &dictionary[token.value / 2];
            frames[depth].word = entry->word;
            if (entry->mark >= good_mark)
                child = tide_stacks_peek(stacks, node, entry->frame);
        }
        node = child ? child : push_at(decoder, depth, token.value);
        if (!node)
            return NULL;
        frames[depth].node = node;
    }
    decoder->stack.count = depth;
    return at;
}

/* A stack given as what it has not in common with the one before. */
static enum outcome __attribute__((noinline))
usual_delta(struct tide_decoder *decoder, const uint8_t **at, const uint8_t *end)
{
    const size_t popped = (*at)[0], pushed = (*at)[1];
    const size_t depth = decoder->stack.count;
    const size_t room = (size_t)(end - *at);
    if (((popped | pushed) & 0x80) || popped > depth ||
        depth - popped + pushed > decoder->stack.capacity ||
        depth - popped + pushed > TIDE_STACK_MAX ||
        room < 2 + pushed * TIDE_TOKEN_ROOM || !decoder->dictionary)
        return TIDE_UNUSUAL;
    *at = take_frames(decoder, *at + 2, depth - popped, pushed);
    if (!*at)
        return TIDE_WRONG;
    if (popped == depth)
        tide_decode_look_for_cut(decoder);
    return TIDE_USUAL;
}

static inline enum outcome usual_stack(struct tide_decoder *decoder, struct hand *hand,
                                       unsigned mode, struct tide_event *event)
{
    if (mode > TIDE_STACK_DELTA || decoder->stack_stale)
        return TIDE_UNUSUAL;
    if (mode == TIDE_STACK_DELTA) {
        const uint8_t *at = hand->at;
        const enum outcome outcome = usual_delta(decoder, &at, hand->end);
        if (outcome != TIDE_USUAL)
            return outcome;
        hand->at = at;
    }
    const struct tide_stacked *frames = decoder->stack.items;
    const size_t depth = decoder->stack.count;
    event->stack = depth ? frames[depth - 1].node : 0;
    decoder->cut_stacks += decoder->stack_cut;
    return TIDE_USUAL;
}

static inline enum outcome usual_alloc(struct tide_decoder *decoder, struct hand *hand,
                                       struct tide_event *event)
{
    const unsigned tag = *hand->at++;
    *event = decoder->blank;
    event->kind = TIDE_EVENT_ALLOC;
    if (tag & TIDE_TAG_NUMBERED)
        take_number(decoder, hand, event);
    uint8_t kind = hand->last_kind;
    if (tag & TIDE_TAG_SHAPED) {
        kind = *hand->at++;
        if (kind >= TIDE_KINDS) /* or there is more to the shape */
            return TIDE_UNUSUAL;
    }
    struct window window = window_at(hand->at);
    uint64_t size, distance;
    if (!take_varint(&window, &size) || !take_varint(&window, &distance))
        return TIDE_UNUSUAL;
    hand->at += window.bits / 8;
    const enum outcome outcome = usual_stack(decoder, hand, TIDE_TAG_MODE(tag), event);
    if (outcome != TIDE_USUAL)
        return outcome;
    hand->last_address = near(hand->last_address, distance);
    hand->last_kind = kind;
    event->alloc_kind = kind;
    event->size = size;
    event->usable = TIDE_USABLE_GLIBC(size);
    event->address = hand->last_address;
    return TIDE_USUAL;
}

bool tide_decode_usual(struct tide_decoder *decoder, struct tide_cursor *cursor,
                       struct tide_event *events, size_t max, size_t *count)
{
    struct hand hand = {.at = cursor->at,
                        .end = cursor->end,
                        .last_address = decoder->last_address,
                        .last_kind = decoder->last_kind};
    decoder->blank =
        (struct tide_event){.numbered = decoder->numbers ? TIDE_ON_SLOT : 0,
                            .process = decoder->process,
                            .lane = decoder->lane,
                            .ticks = decoder->ticks};
    const uint8_t *start = hand.at; /* of the record at hand */
    enum outcome outcome = TIDE_USUAL;
    size_t made = 0;
    while (made < max && hand.end - hand.at >= TIDE_ROOM) {
        const unsigned operation = TIDE_TAG_OP(hand.at[0]);
        if (operation == TIDE_OP_FREE)
            outcome = usual_free(decoder, &hand, &events[made]);
        else if (operation == TIDE_OP_ALLOC)
            outcome = usual_alloc(decoder, &hand, &events[made]);
        else
            break;
        if (outcome != TIDE_USUAL)
            break;
        start = hand.at;
        made++;
    }
    cursor->at = start;
    decoder->last_address = hand.last_address;
    decoder->last_kind = hand.last_kind;
    *count = made;
    return outcome != TIDE_WRONG;
}
