/* trace/lane_memory.h - what the decoder of a lane remembers, as the coder does.
 *
 * For: decode*.c.  The rules are in format.h; encode_memory.h has the other side of them.
 */
#ifndef TIDE_TRACE_LANE_MEMORY_H
#define TIDE_TRACE_LANE_MEMORY_H

#include "trace/decode.h"

/* The same as tide_piles_take() for a birth of USABLE bytes.  How full piles are follows no
 * rule that a processor could guess, and it takes long to find out: here and below there is
 * no branch on it. */
static inline uint64_t tide_lane_expects(struct tide_lane_memory *memory,
                                         uint64_t usable)
{
    struct tide_piles *const piles = &memory->piles;
    const uint64_t any = tide_class_of(usable);
    const uint64_t class = any < TIDE_CLASSES ? any : TIDE_NO_CLASS;
    const unsigned count = piles->count[class], empty = (count - 1) >> 8;
    if (__builtin_expect(empty & piles->more[class], 0))
        return tide_piles_refill(piles, class);
    piles->count[class] = (uint8_t)(count - (count != 0));
    return piles->pile[class][(count - 1) % (TIDE_PILE + 1)];
}

/* The same as tide_piles_add() for the block that BORN was. */
static inline void tide_lane_pile(struct tide_lane_memory *memory,
                                  struct tide_born born)
{
    struct tide_piles *const piles = &memory->piles;
    const uint64_t class = tide_class_of_born(born);
    const unsigned count = piles->count[class], more = piles->more[class];
    const unsigned first = piles->more_first[class];
    const unsigned full = (count + 1) / (TIDE_PILE + 1), over = full & more / TIDE_HEAP;
    char *const on_pile = (char *)&piles->pile[class][count];
    char *const in_heap = (char *)&piles->heap[class][(first + more) % TIDE_HEAP];
    memcpy(on_pile + ((in_heap - on_pile) & -(ptrdiff_t)full), &born.address,
           sizeof(born.address));
    piles->count[class] = (uint8_t)(count + 1 - full);
    piles->more[class] = (uint8_t)(more + full - over);
    piles->more_first[class] = (uint8_t)((first + over) % TIDE_HEAP);
}

static inline void tide_lane_add_birth(struct tide_lane_memory *memory,
                                       const struct tide_event *event)
{
    const struct tide_born born = tide_born_at(event->address, event->usable);
    memory->born[memory->births++ % TIDE_AGES] = born;
    memory->next_birth = born.after;
}

static inline void tide_lane_add_death(struct tide_lane_memory *memory,
                                       uint64_t address)
{
    memory->dead[memory->deaths++ % TIDE_DEAD] = address;
    memory->last_death = address;
}

/* The block that was born AGE births ago, which is one of those remembered, dies: its
 * address. */
static inline uint64_t tide_lane_take_age(struct tide_lane_memory *memory, uint32_t age)
{
    const struct tide_born born = memory->born[(memory->births - 1 - age) % TIDE_AGES];
    tide_lane_pile(memory, born);
    tide_lane_add_death(memory, born.address);
    return born.address;
}

/* Is there something at PLACE of a birth, not NEAR or FAR? */
static inline bool tide_lane_has_place(uint32_t births, uint32_t deaths, uint32_t place)
{
    const uint32_t age = place - TIDE_DEAD;
    return place < TIDE_DEAD ? place < deaths : age < births && age < TIDE_AGES;
}

/* The address of it. */
static inline uint64_t tide_lane_place(const struct tide_lane_memory *memory,
                                       uint32_t births, uint32_t deaths, uint32_t place)
{
    const uint32_t age = place - TIDE_DEAD;
    return place < TIDE_DEAD ? memory->dead[(deaths - 1 - place) % TIDE_DEAD]
                             : memory->born[(births - 1 - age) % TIDE_AGES].after;
}

/* ENTRY is the present stack from here on. */
static inline void tide_lane_go_to(struct tide_decoder *decoder, uint32_t entry)
{
    if (decoder->memory->stacks > 0)
        decoder->memory->next[decoder->current] = (uint16_t)entry;
    decoder->current = entry;
}

/* EVENT is the last birth with the present stack. */
static inline void tide_lane_keep_likeness(struct tide_decoder *decoder,
                                           const struct tide_event *event)
{
    if (decoder->memory->stacks == 0)
        return;
    struct tide_recent *const recent = &decoder->memory->recent[decoder->current];
    recent->like = decoder->mark;
    recent->kind = event->alloc_kind;
    recent->align_log2 = event->align_log2;
    recent->size = event->size;
    recent->usable = event->usable;
}

#endif
