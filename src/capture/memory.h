/* capture/memory.h - what the coder of a lane remembers, and its reader as well.
 *
 * For: coder.h.  The rules are in trace/format.h ("What coder and decoder of a lane
 * remember alike"); what a record may say depends on them, so both sides must follow them
 * to the letter.
 */
#ifndef TIDE_CAPTURE_MEMORY_H
#define TIDE_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stream.h"
#include "trace/format.h"

/* --- Recent stacks -------------------------------------------------------------------- */

static inline bool tide_memory_has_stack(const struct tide_memory *memory,
                                         uint64_t hash, uint32_t *entry)
{
    *entry = memory->recent_at[hash % (2 * TIDE_RECENTS)];
    return *entry < memory->stacks && memory->recent[*entry].hash == hash;
}

static inline void tide_memory_add_stack(struct tide_memory *memory, uint64_t hash)
{
    const uint32_t entry = memory->stacks % TIDE_RECENTS;
    memory->recent[entry] =
        (struct tide_recent_stack){.hash = hash, .rest = UINT32_MAX};
    memory->recent_at[hash % (2 * TIDE_RECENTS)] = (uint16_t)entry;
    memory->current = entry;
    memory->stacks++;
}

/* What a birth is like: size, usable size, kind and alignment in 64 bits. */
struct tide_likeness {
    uint32_t size, rest; /* rest is UINT32_MAX when they do not fit: like nothing */
};

static inline struct tide_likeness tide_likeness(uint64_t size, uint64_t usable,
                                                 uint8_t kind, uint8_t align_log2)
{
    const uint64_t slack = usable - size;
    const uint32_t rest = (uint32_t)slack << 11 | (uint32_t)align_log2 << 5 | kind;
    const bool fits = (size >> 32 | slack >> 20) == 0;
    return (struct tide_likeness){(uint32_t)size, fits ? rest : UINT32_MAX};
}

static inline bool tide_memory_is_like(const struct tide_memory *memory, uint32_t entry,
                                       struct tide_likeness likeness)
{
    const struct tide_recent_stack *const recent = &memory->recent[entry];
    return recent->size == likeness.size && recent->rest == likeness.rest &&
           likeness.rest != UINT32_MAX;
}

/* Of the present stack. */
static inline void tide_memory_keep_likeness(struct tide_memory *memory,
                                             struct tide_likeness likeness)
{
    memory->recent[memory->current].size = likeness.size;
    memory->recent[memory->current].rest = likeness.rest;
}

/* --- Ages and expected addresses ------------------------------------------------------ */

enum { TIDE_CLASS_SHIFT = 56 };

static inline uint32_t tide_age_slot(uint64_t address)
{
    return (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 51); /* of 2 * TIDE_AGES */
}

static inline uint32_t tide_class_within(uint64_t usable)
{
    const uint64_t class = tide_class_of(usable);
    return class < TIDE_CLASSES ? (uint32_t) class : TIDE_CLASSES;
}

/* Take the address that a birth of USABLE bytes is expected at off its pile; 0: none. */
static inline uint64_t tide_memory_expects(struct tide_memory *memory, uint64_t usable)
{
    const uint32_t class = tide_class_within(usable);
    if (class == TIDE_CLASSES || memory->pile_count[class] == 0)
        return 0;
    return memory->piles[class][--memory->pile_count[class]];
}

static inline void tide_memory_add_birth(struct tide_memory *memory, uint64_t address,
                                         uint64_t usable)
{
    const uint32_t place = memory->births++ % TIDE_AGES;
    memory->ages[place] = address | (uint64_t)tide_class_within(usable)
                                        << TIDE_CLASS_SHIFT;
    memory->age_at[tide_age_slot(address)] = (uint16_t)place;
    memory->next_birth = address + usable + 8;
}

/* Is the block at ADDRESS one of the last births?  Then its age is told, and its address
 * goes on its pile. */
static inline bool tide_memory_has_birth(struct tide_memory *memory, uint64_t address,
                                         uint32_t *age)
{
    const uint32_t place = memory->age_at[tide_age_slot(address)];
    const uint64_t kept = memory->ages[place];
    const uint64_t class = kept >> TIDE_CLASS_SHIFT;
    if ((kept ^ class << TIDE_CLASS_SHIFT) != address || place >= memory->births)
        return false;
    *age = (memory->births - 1 - place) % TIDE_AGES;
    if (class < TIDE_CLASSES && memory->pile_count[class] < TIDE_PILE)
        memory->piles[class][memory->pile_count[class]++] = address;
    return true;
}

static inline uint8_t tide_op_of_birth(bool like, bool here)
{
    static const uint8_t ops[] = {TIDE_OP_ALLOC, TIDE_OP_ALLOC_HERE, TIDE_OP_ALLOC_LIKE,
                                  TIDE_OP_ALLOC_LIKE_HERE};
    return ops[2 * like + here];
}

#endif
