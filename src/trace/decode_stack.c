/* trace/decode_stack.c - stacks of events: words, dictionary, epochs.
 *
 * Invariant: nodes of the stack are those of their words in the present epoch, unless
 * stack_stale is set.  A dictionary entry is there when mark >= reset_mark, and its frame
 * is that of the present epoch when mark >= epoch_mark.
 */
#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

#include "trace/format.h"

static const uint64_t CUT_WORD = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT);

static bool fail(struct tide_decoder *decoder, enum tide_status status)
{
    decoder->status = status;
    return false;
}

/* A mark higher than all before. */
static uint32_t next_mark(struct tide_decoder *decoder)
{
    if (decoder->mark == UINT32_MAX) {
        if (decoder->dictionary)
            memset(decoder->dictionary, 0,
                   TIDE_DICTIONARY_SLOTS * sizeof(*decoder->dictionary));
        decoder->mark = decoder->reset_mark = decoder->epoch_mark = 0;
    }
    return ++decoder->mark;
}

void tide_decoder_enter_epoch(struct tide_decoder *decoder, uint64_t epoch)
{
    if (epoch == decoder->epoch)
        return;
    decoder->epoch = epoch;
    decoder->epoch_mark = next_mark(decoder);
    decoder->stack_stale = decoder->stack.count > 0;
}

void tide_decoder_reset(struct tide_decoder *decoder)
{
    decoder->last_address = 0;
    decoder->last_kind = TIDE_KIND_MALLOC;
    decoder->stack.count = 0;
    decoder->stack_stale = false;
    decoder->stack_cut = false;
    decoder->refreshed = 0;
    decoder->reset_mark = next_mark(decoder);
}

static bool look_up(struct tide_decoder *decoder, uint64_t word, uint32_t *frame)
{
    const enum tide_status status =
        tide_resolve(decoder->resolver, decoder->process, decoder->epoch, word, frame);
    return status ? fail(decoder, status) : true;
}

static bool child(struct tide_decoder *decoder, uint32_t parent, uint32_t frame,
                  uint32_t *node)
{
    const enum tide_status status =
        tide_stacks_child(decoder->resolver->stacks, parent, frame, node);
    return status ? fail(decoder, status) : true;
}

static bool need_dictionary(struct tide_decoder *decoder)
{
    if (!decoder->dictionary)
        decoder->dictionary =
            calloc(TIDE_DICTIONARY_SLOTS, sizeof(*decoder->dictionary));
    return decoder->dictionary ? true : fail(decoder, TIDE_ENOMEM);
}

/* The dictionary entry that TOKEN means, with its frame; NULL when it means nothing. */
static const struct tide_dictionary_entry *entry_of(struct tide_decoder *decoder,
                                                    uint64_t token)
{
    const bool given = token & 1;
    const uint64_t word = token >> 1;
    const uint64_t place = given ? tide_word_slot(word) : word;
    if (place >= TIDE_DICTIONARY_SLOTS || !need_dictionary(decoder))
        return NULL;
    struct tide_dictionary_entry *entry = &decoder->dictionary[place];
    if (given) {
        entry->word = word;
    } else if (entry->mark < decoder->reset_mark) {
        if (place != tide_word_slot(0))
            return NULL;
        entry->word = 0; /* what the coder finds in an empty dictionary */
    } else if (entry->mark >= decoder->epoch_mark) {
        return entry;
    }
    if (!look_up(decoder, entry->word, &entry->frame))
        return NULL;
    entry->mark = decoder->mark;
    return entry;
}

bool tide_decode_push(struct tide_decoder *decoder, uint64_t token)
{
    const struct tide_dictionary_entry *entry = entry_of(decoder, token);
    struct tide_list *stack = &decoder->stack;
    if (!entry)
        return false;
    if (!tide_list_reserve(stack, stack->count + 1))
        return fail(decoder, TIDE_ENOMEM);
    struct tide_stacked *frames = stack->items;
    const uint32_t parent = stack->count ? frames[stack->count - 1].node : 0;
    struct tide_stacked *top = &frames[stack->count];
    top->word = entry->word;
    if (!child(decoder, parent, entry->frame, &top->node))
        return false;
    stack->count++;
    return true;
}

/* Find the nodes of the kept frames again: their addresses may mean other modules now.
 * A lane that has this done all the time is made to keep us busy. */
static bool refresh(struct tide_decoder *decoder)
{
    struct tide_stacked *frames = decoder->stack.items;
    decoder->refreshed += (uint32_t)decoder->stack.count;
    if (decoder->refreshed > TIDE_REFRESH_MAX)
        return false;
    uint32_t node = 0;
    for (size_t i = 0; i < decoder->stack.count; i++) {
        uint32_t frame;
        if (!look_up(decoder, frames[i].word, &frame) ||
            !child(decoder, node, frame, &node))
            return false;
        frames[i].node = node;
    }
    decoder->stack_stale = false;
    return true;
}

void tide_decode_look_for_cut(struct tide_decoder *decoder)
{
    const struct tide_stacked *frames = decoder->stack.items;
    decoder->stack_cut = decoder->stack.count && frames[0].word == CUT_WORD;
}

static bool change_stack(struct tide_decoder *decoder, struct tide_cursor *cursor)
{
    const uint64_t popped = tide_cursor_varint(cursor);
    const uint64_t pushed = tide_cursor_varint(cursor);
    if (popped > decoder->stack.count)
        return false;
    const size_t kept = decoder->stack.count - (size_t)popped;
    if (pushed > TIDE_STACK_MAX - kept || pushed > tide_cursor_left(cursor))
        return false;
    decoder->stack.count = kept;
    if (decoder->stack_stale && !refresh(decoder))
        return false;
    for (uint64_t i = 0; i < pushed; i++)
        if (!tide_decode_push(decoder, tide_cursor_varint(cursor)) || cursor->failed)
            return false;
    if (kept == 0)
        tide_decode_look_for_cut(decoder);
    return true;
}

static bool leaf(struct tide_decoder *decoder, uint64_t word, struct tide_event *event)
{
    uint32_t frame;
    return look_up(decoder, word, &frame) && child(decoder, 0, frame, &event->stack);
}

bool tide_decode_stack(struct tide_decoder *decoder, struct tide_cursor *cursor,
                       unsigned mode, struct tide_event *event)
{
    if (mode == TIDE_STACK_LEAF)
        return leaf(decoder, tide_cursor_varint(cursor), event);
    if (mode == TIDE_STACK_DELTA && !change_stack(decoder, cursor))
        return false;
    if (mode != TIDE_STACK_DELTA && mode != TIDE_STACK_SAME)
        return false;
    if (decoder->stack_stale && !refresh(decoder))
        return false;
    const struct tide_stacked *frames = decoder->stack.items;
    const size_t depth = decoder->stack.count;
    if (depth == 0)
        return true;
    event->stack = frames[depth - 1].node;
    decoder->cut_stacks += decoder->stack_cut;
    return true;
}
