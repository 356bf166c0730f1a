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
    const uint8_t *at;
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

/* Take a varint out of WINDOW; false when it is not wholly in there. */
static inline bool take_varint(struct window *window, uint64_t *value)
{
    const uint64_t ends = ~window->word & 0x8080808080808080u;
    if (!ends)
        return false;
    const unsigned bits = (unsigned)__builtin_ctzll(ends) + 1;
    uint64_t sevens = window->word & (ends ^ (ends - 1));
    sevens = (sevens & 0x007f007f007f007fu) | (sevens & 0x7f007f007f007f00u) >> 1;
    sevens = (sevens & 0x00003fff00003fffu) | (sevens & 0x3fff00003fff0000u) >> 2;
    *value = (sevens & 0x0fffffffu) | (sevens & 0x0fffffff00000000u) >> 4;
    /* What is shifted in looks like the end of a varint: then bits is above 64. */
    window->word = window->word >> (bits - 1) >> 1;
    window->bits += bits;
    return window->bits <= 64;
}

static inline uint64_t near(uint64_t last, uint64_t value)
{
    return last + (uint64_t)tide_unzigzag(value) * 8;
}

/* Fields are stored one by one where they belong: an event that is put together elsewhere
 * and copied waits for its own bytes. */
static inline void begin_event(const struct tide_decoder *decoder,
                               enum tide_event_kind kind, struct tide_event *event)
{
    event->kind = (uint8_t)kind;
    event->alloc_kind = 0;
    event->map_call = 0;
    event->extra = 0;
    event->numbered = decoder->numbers ? TIDE_ON_SLOT : 0;
    event->align_log2 = 0;
    event->number = 0;
    event->process = decoder->process;
    event->lane = decoder->lane;
    event->stack = 0;
    event->ticks = decoder->ticks;
    event->size = 0;
    event->usable = 0;
    event->value = 0;
}

/* The number of a record that has one. */
static inline void take_number(const uint8_t **at, struct tide_event *event)
{
    if (event->numbered)
        event->numbered = TIDE_ON_SLOT | TIDE_HAS_NUMBER;
    event->number = (uint16_t)((*at)[0] | (*at)[1] << 8);
    *at += 2;
}

static inline enum outcome usual_free(const struct tide_decoder *decoder,
                                      struct hand *hand, struct tide_event *event)
{
    const unsigned tag = hand->at[0];
    if (tag & ~(15u | TIDE_TAG_NUMBERED))
        return TIDE_UNUSUAL;
    const uint8_t *at = hand->at + 1;
    begin_event(decoder, TIDE_EVENT_FREE, event);
    if (tag & TIDE_TAG_NUMBERED)
        take_number(&at, event);
    struct window window = window_at(at);
    uint64_t distance;
    if (!take_varint(&window, &distance))
        return TIDE_UNUSUAL;
    hand->last_address = near(hand->last_address, distance);
    event->address = hand->last_address;
    hand->at = at + window.bits / 8;
    return TIDE_USUAL;
}

/* The token at *AT, which has TIDE_TOKEN_ROOM bytes; false when it is none. */
static inline bool take_token(const uint8_t **at, uint64_t *token)
{
    const uint64_t low = (*at)[0], high = (*at)[1];
    if (low < 0x80) {
        *token = low;
        *at += 1;
        return true;
    }
    if (high < 0x80) {
        *token = (low & 0x7f) | high << 7;
        *at += 2;
        return true;
    }
    struct tide_cursor cursor = tide_cursor_over(*at, TIDE_TOKEN_ROOM);
    *token = tide_cursor_varint(&cursor);
    *at = cursor.at;
    return !cursor.failed;
}

/* The node of the frame that TOKEN means, called from PARENT; 0 when that takes more than
 * a look.  *WORD is its word. */
static inline uint32_t peek_frame(const struct tide_decoder *decoder, uint64_t token,
                                  uint32_t parent, uint64_t *word)
{
    const uint64_t place = token >> 1;
    if ((token & 1) || place >= TIDE_DICTIONARY_SLOTS)
        return 0;
    const struct tide_dictionary_entry *entry = &decoder->dictionary[place];
    if (entry->mark < decoder->reset_mark || entry->mark < decoder->epoch_mark)
        return 0;
    *word = entry->word;
    return tide_stacks_peek(decoder->resolver->stacks, parent, entry->frame);
}

/* Read COUNT frames and put them on top of the stack, which has room. */
static inline bool take_frames(struct tide_decoder *decoder, const uint8_t **at,
                               size_t count)
{
    struct tide_stacked *frames = decoder->stack.items;
    size_t depth = decoder->stack.count;
    uint32_t node = depth ? frames[depth - 1].node : 0;
    for (size_t end = depth + count; depth < end; depth++) {
        uint64_t token, word;
        if (!take_token(at, &token))
            return false;
        const uint32_t child = peek_frame(decoder, token, node, &word);
        if (child) {
            frames[depth] = (struct tide_stacked){.word = word, .node = child};
            node = child;
            continue;
        }
        decoder->stack.count = depth;
        if (!tide_decode_push(decoder, token))
            return false;
        node = frames[depth].node;
    }
    decoder->stack.count = depth;
    return true;
}

/* A stack given as what it has not in common with the one before. */
static inline enum outcome usual_delta(struct tide_decoder *decoder, const uint8_t **at,
                                       const uint8_t *end)
{
    const size_t popped = (*at)[0], pushed = (*at)[1];
    const size_t depth = decoder->stack.count;
    const size_t room = (size_t)(end - *at);
    if (((popped | pushed) & 0x80) || popped > depth ||
        depth - popped + pushed > decoder->stack.capacity ||
        depth - popped + pushed > TIDE_STACK_MAX ||
        room < 2 + pushed * TIDE_TOKEN_ROOM || !decoder->dictionary)
        return TIDE_UNUSUAL;
    *at += 2;
    decoder->stack.count = depth - popped;
    if (!take_frames(decoder, at, pushed))
        return TIDE_WRONG;
    if (popped == depth)
        tide_decode_look_for_cut(decoder);
    return TIDE_USUAL;
}

static inline enum outcome usual_stack(struct tide_decoder *decoder, unsigned mode,
                                       const uint8_t **at, const uint8_t *end,
                                       struct tide_event *event)
{
    if (mode > TIDE_STACK_DELTA || decoder->stack_stale)
        return TIDE_UNUSUAL;
    if (mode == TIDE_STACK_DELTA) {
        const enum outcome outcome = usual_delta(decoder, at, end);
        if (outcome != TIDE_USUAL)
            return outcome;
    }
    const struct tide_stacked *frames = decoder->stack.items;
    const size_t depth = decoder->stack.count;
    event->stack = depth ? frames[depth - 1].node : 0;
    decoder->cut_stacks += decoder->stack_cut;
    return TIDE_USUAL;
}

static inline enum outcome usual_alloc(struct tide_decoder *decoder, struct hand *hand,
                                       const uint8_t *end, struct tide_event *event)
{
    const unsigned tag = hand->at[0];
    const uint8_t *at = hand->at + 1;
    uint8_t kind = hand->last_kind;
    begin_event(decoder, TIDE_EVENT_ALLOC, event);
    if (tag & TIDE_TAG_NUMBERED)
        take_number(&at, event);
    if (tag & TIDE_TAG_SHAPED) {
        if (*at >= TIDE_KINDS)
            return TIDE_UNUSUAL;
        kind = *at++;
    }
    struct window window = window_at(at);
    uint64_t size, distance;
    if (!take_varint(&window, &size) || !take_varint(&window, &distance))
        return TIDE_UNUSUAL;
    at += window.bits / 8;
    const enum outcome outcome =
        usual_stack(decoder, TIDE_TAG_MODE(tag), &at, end, event);
    if (outcome != TIDE_USUAL)
        return outcome;
    hand->at = at;
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
    const uint8_t *const end = cursor->end;
    struct hand hand = {.at = cursor->at,
                        .last_address = decoder->last_address,
                        .last_kind = decoder->last_kind};
    enum outcome outcome = TIDE_USUAL;
    size_t made = 0;
    while (made < max && end - hand.at >= TIDE_ROOM) {
        const unsigned operation = TIDE_TAG_OP(hand.at[0]);
        if (operation == TIDE_OP_FREE)
            outcome = usual_free(decoder, &hand, &events[made]);
        else if (operation == TIDE_OP_ALLOC)
            outcome = usual_alloc(decoder, &hand, end, &events[made]);
        else
            break;
        if (outcome != TIDE_USUAL)
            break;
        made++;
    }
    cursor->at = hand.at;
    decoder->last_address = hand.last_address;
    decoder->last_kind = hand.last_kind;
    *count = made;
    return outcome != TIDE_WRONG;
}
