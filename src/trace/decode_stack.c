/* trace/decode_stack.c - stacks of events: recent ones, deltas, words.
 *
 * The present stack is one node of the tree: frames are taken off by going to its parents
 * and put on by going to children.  All of it belongs to one epoch of modules, since an
 * epoch begins with a reset.
 */
#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

#include "base/raw/varint.h"
#include "trace/format.h"
#include "trace/lane_memory.h"

static const uint64_t CUT_WORD = TIDE_WORD(TIDE_FRAME_SYNTHETIC, TIDE_SYNTHETIC_CUT);

static bool fail(struct tide_decoder *decoder, enum tide_status status)
{
    decoder->status = status;
    return false;
}

/* What is forgotten where a chunk begins. */
static void forget(struct tide_decoder *decoder)
{
    struct tide_lane_memory *const memory = decoder->memory;
    if (++decoder->mark == 0) { /* marks of long ago would look new */
        memset(memory->dictionary, 0, sizeof(memory->dictionary));
        for (uint32_t i = 0; i < TIDE_RECENTS; i++)
            memory->recent[i].like = 0;
        decoder->mark = 1;
    }
    for (uint32_t i = 0; i < TIDE_RECENTS; i++)
        memory->next[i] = (uint16_t)i;
    memory->births = memory->deaths = 0;
    memory->next_birth = memory->last_death = 0;
    tide_piles_clear(&memory->piles);
    tide_words_clear(&memory->words);
    decoder->last_kind = TIDE_KIND_MALLOC;
}

void tide_decoder_begin_chunk(struct tide_decoder *decoder)
{
    if (decoder->memory)
        forget(decoder);
}

bool tide_decoder_reset(struct tide_decoder *decoder)
{
    if (!decoder->memory)
        decoder->memory = calloc(1, sizeof(*decoder->memory));
    if (!decoder->memory)
        return fail(decoder, TIDE_ENOMEM);
    decoder->memory->stacks = 0;
    forget(decoder);
    return true;
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

/* The dictionary entry that TOKEN means at PLACE, with its frame; NULL when it means
 * nothing. */
static const struct tide_dictionary_entry *entry_of(struct tide_decoder *decoder,
                                                    struct tide_word_place *place,
                                                    uint64_t token)
{
    struct tide_lane_memory *const memory = decoder->memory;
    const bool given = token & 1;
    const uint64_t word =
        (memory->words.last_new + (uint64_t)tide_unzigzag(token >> 1)) & TIDE_WORD_MASK;
    const uint64_t known = token == 0 ? *place->expected : token >> 1;
    const uint64_t slot =
        given ? tide_word_slot(word) : known - 1; /* 0 - 1 is too high */
    if (slot >= TIDE_DICTIONARY_SLOTS)
        return NULL;
    struct tide_dictionary_entry *entry = &memory->dictionary[slot];
    if (given || entry->mark != decoder->mark) {
        if (!given && slot != tide_word_slot(0))
            return NULL;
        entry->word = given ? word : 0; /* 0: what the coder finds in an empty one */
        if (!look_up(decoder, entry->word, &entry->frame))
            return NULL;
        entry->mark = decoder->mark;
    }
    if (given)
        memory->words.last_new = word;
    tide_words_step(&memory->words, place, (uint32_t)slot);
    return entry;
}

/* The stack that is left when POPPED frames are taken off STACK. */
static void pop(const struct tide_stacks *tree, struct tide_recent *stack,
                uint64_t popped)
{
    for (uint64_t i = 0; i < popped; i++)
        stack->node = tree->nodes[stack->node].parent;
    stack->depth = (uint16_t)(stack->depth - popped);
    stack->cut = stack->cut && stack->depth > 0;
}

static bool push(struct tide_decoder *decoder, struct tide_recent *stack,
                 struct tide_word_place *place, uint64_t token)
{
    const struct tide_dictionary_entry *entry = entry_of(decoder, place, token);
    if (!entry || !child(decoder, stack->node, entry->frame, &stack->node))
        return false;
    stack->cut |= stack->depth == 0 && entry->word == CUT_WORD;
    stack->depth++;
    return true;
}

static bool change_stack(struct tide_decoder *decoder, struct tide_cursor *frames)
{
    struct tide_lane_memory *const memory = decoder->memory;
    struct tide_recent stack = {0};
    if (memory->stacks > 0)
        stack = memory->recent[decoder->current];
    stack.like = 0;
    const uint64_t popped = tide_cursor_varint(frames);
    const uint64_t pushed = tide_cursor_varint(frames);
    if (popped > stack.depth || pushed > TIDE_STACK_MAX - (stack.depth - popped) ||
        pushed > tide_cursor_left(frames))
        return false;
    pop(decoder->resolver->stacks, &stack, popped);
    struct tide_word_place place = tide_words_begin(&memory->words);
    for (uint64_t i = 0; i < pushed; i++)
        if (!push(decoder, &stack, &place, tide_cursor_varint(frames)) ||
            frames->failed)
            return false;
    const uint32_t entry = memory->stacks % TIDE_RECENTS;
    tide_lane_go_to(decoder, entry);
    memory->next[entry] = (uint16_t)entry;
    memory->recent[entry] = stack;
    if (memory->stacks < UINT32_MAX)
        memory->stacks++;
    return true;
}

static bool recall_stack(struct tide_decoder *decoder, uint64_t entry)
{
    if (entry >= TIDE_RECENTS || entry >= decoder->memory->stacks)
        return false;
    tide_lane_go_to(decoder, (uint32_t)entry);
    return true;
}

static bool leaf(struct tide_decoder *decoder, uint64_t word, struct tide_event *event)
{
    uint32_t frame;
    return look_up(decoder, word, &frame) && child(decoder, 0, frame, &event->stack);
}

/* NEXT.  Without any stack so far, there is none. */
static bool go_on(struct tide_decoder *decoder)
{
    const struct tide_lane_memory *const memory = decoder->memory;
    return memory->stacks == 0 || recall_stack(decoder, memory->next[decoder->current]);
}

bool tide_decode_stack(struct tide_decoder *decoder, struct tide_fields *fields,
                       unsigned mode, struct tide_event *event)
{
    struct tide_cursor *const frames = tide_field(fields, TIDE_COLUMN_FRAMES);
    if (mode == TIDE_STACK_LEAF)
        return leaf(decoder, tide_cursor_varint(frames), event);
    if (mode == TIDE_STACK_DELTA && !change_stack(decoder, frames))
        return false;
    if (mode == TIDE_STACK_RECENT &&
        !recall_stack(decoder, tide_field_varint(fields, TIDE_COLUMN_STACKS)))
        return false;
    if (mode > TIDE_STACK_LEAF || (mode == TIDE_STACK_NEXT && !go_on(decoder)))
        return false;
    if (decoder->memory->stacks == 0)
        return true;
    const struct tide_recent *const stack = &decoder->memory->recent[decoder->current];
    event->stack = stack->node;
    decoder->cut_stacks += stack->cut;
    return true;
}
