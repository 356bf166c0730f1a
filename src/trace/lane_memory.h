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
    const uint32_t place = memory->births % TIDE_AGES;
    const uint64_t class = tide_class_of(event->usable);
    memory->ages[place] = event->address;
    memory->age_class[place] = class < TIDE_CLASSES ? (uint8_t) class : TIDE_CLASSES;
    memory->births++;
    memory->next_birth = event->address + event->usable + 8;
}

/* The block that was born AGE births ago, which is one of those remembered, dies: its
 * address. */
static inline uint64_t tide_lane_take_age(struct tide_lane_memory *memory, uint32_t age)
{
    const uint32_t place = (memory->births - 1 - age) % TIDE_AGES;
    const uint8_t class = memory->age_class[place];
    const uint64_t address = memory->ages[place];
    memory->last_death = address;
    if (class < TIDE_CLASSES)
        tide_piles_add(&memory->piles, class, address);
    return address;
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
