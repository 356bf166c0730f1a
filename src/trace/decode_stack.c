/* trace/decode_stack.c - stacks of events: recent ones, deltas, words.
 *
 * The present stack is one node of the tree: frames are taken off by going to its parents
 * and put on by going to children.  All of it belongs to one epoch of modules, since an
 * epoch begins with a reset.
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

bool tide_decoder_reset(struct tide_decoder *decoder)
{
    if (!decoder->memory)
        decoder->memory = calloc(1, sizeof(*decoder->memory));
    struct tide_lane_memory *const memory = decoder->memory;
    if (!memory)
        return fail(decoder, TIDE_ENOMEM);
    if (++decoder->mark == 0) { /* marks of long ago would look new */
        memset(memory->dictionary, 0, sizeof(memory->dictionary));
        decoder->mark = 1;
    }
    memory->stacks = memory->births = 0;
    memory->next_birth = memory->last_death = 0;
    memset(memory->pile_count, 0, sizeof(memory->pile_count));
    decoder->last_kind = TIDE_KIND_MALLOC;
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

/* The dictionary entry that TOKEN means, with its frame; NULL when it means nothing. */
static const struct tide_dictionary_entry *entry_of(struct tide_decoder *decoder,
                                                    uint64_t token)
{
    const bool given = token & 1;
    const uint64_t word = token >> 1;
    const uint64_t place = given ? tide_word_slot(word) : word;
    if (place >= TIDE_DICTIONARY_SLOTS)
        return NULL;
    struct tide_dictionary_entry *entry = &decoder->memory->dictionary[place];
    if (!given && entry->mark == decoder->mark)
        return entry;
    if (!given && place != tide_word_slot(0))
        return NULL;
    entry->word = given ? word : 0; /* 0: what the coder finds in an empty one */
    if (!look_up(decoder, entry->word, &entry->frame))
        return NULL;
    entry->mark = decoder->mark;
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
                 uint64_t token)
{
    const struct tide_dictionary_entry *entry = entry_of(decoder, token);
    if (!entry || !child(decoder, stack->node, entry->frame, &stack->node))
        return false;
    stack->cut |= stack->depth == 0 && entry->word == CUT_WORD;
    stack->depth++;
    return true;
}

static bool change_stack(struct tide_decoder *decoder, struct tide_cursor *cursor)
{
    struct tide_lane_memory *const memory = decoder->memory;
    struct tide_recent stack = {0};
    if (memory->stacks > 0)
        stack = memory->recent[decoder->current];
    stack.like = false;
    const uint64_t popped = tide_cursor_varint(cursor);
    const uint64_t pushed = tide_cursor_varint(cursor);
    if (popped > stack.depth || pushed > TIDE_STACK_MAX - (stack.depth - popped) ||
        pushed > tide_cursor_left(cursor))
        return false;
    pop(decoder->resolver->stacks, &stack, popped);
    for (uint64_t i = 0; i < pushed; i++)
        if (!push(decoder, &stack, tide_cursor_varint(cursor)) || cursor->failed)
            return false;
    decoder->current = memory->stacks % TIDE_RECENTS;
    memory->recent[decoder->current] = stack;
    if (memory->stacks < UINT32_MAX)
        memory->stacks++;
    return true;
}

static bool recall_stack(struct tide_decoder *decoder, struct tide_cursor *cursor)
{
    const uint64_t entry = tide_cursor_varint(cursor);
    if (entry >= TIDE_RECENTS || entry >= decoder->memory->stacks)
        return false;
    decoder->current = (uint32_t)entry;
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
    if (mode == TIDE_STACK_RECENT && !recall_stack(decoder, cursor))
        return false;
    if (mode > TIDE_STACK_LEAF)
        return false;
    if (decoder->memory->stacks == 0)
        return true;
    const struct tide_recent *const stack = &decoder->memory->recent[decoder->current];
    event->stack = stack->node;
    decoder->cut_stacks += stack->cut;
    return true;
}
