/* trace/lane_memory.h - what the decoder of a lane remembers, as the coder does.
 *
 * For: decode*.c.  The rules are in format.h; encode_memory.h has the other side of them.
 */
#ifndef TIDE_TRACE_LANE_MEMORY_H
#define TIDE_TRACE_LANE_MEMORY_H

#include "trace/decode.h"

/* Take the address that a birth of USABLE bytes is expected at off its pile; 0: none. */
static inline uint64_t tide_lane_expects(struct tide_lane_memory *memory,
                                         uint64_t usable)
{
    struct tide_piles *const piles = &memory->piles;
    const uint64_t class = tide_class_of(usable);
    if (class >= TIDE_CLASSES || (!piles->count[class] && !piles->more[class]))
        return 0;
    return tide_piles_take(piles, class);
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
    tide_piles_add(&memory->piles, tide_class_of_born(born), born.address);
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
