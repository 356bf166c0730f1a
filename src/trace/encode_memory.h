/* trace/encode_memory.h - what the encoder remembers while it makes a chunk.
 *
 * For: encode.c.  The rules are in format.h; lane_memory.h has the reader's side of them.
 */
#ifndef TIDE_TRACE_ENCODE_MEMORY_H
#define TIDE_TRACE_ENCODE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/format.h"
#include "trace/piles.h"
#include "trace/row.h"
#include "trace/words.h"

#define TIDE_LIKE_NONE 0ull
#define TIDE_LIKE_ODD  UINT64_MAX /* it does not fit in 64 bits, and stands in `odd` */

struct tide_odd_likeness {
    uint64_t size, usable;
    uint32_t wish; /* kind | align_log2 << 8 */
};

enum { TIDE_CLASS_SHIFT = 56, TIDE_AGE_SLOTS = 8 * TIDE_AGES };

struct tide_encoder_memory {
    uint32_t births;
    uint64_t next_birth, last_death; /* address bases */
    uint8_t last_kind;
    uint16_t next[TIDE_RECENTS]; /* which entry stood after which */
    uint64_t like[TIDE_RECENTS]; /* by stack: what the last birth with it was like */
    struct tide_odd_likeness odd[TIDE_RECENTS];
    struct tide_words words;
    uint64_t dictionary[TIDE_DICTIONARY_SLOTS];
    uint64_t ages[TIDE_AGES];        /* address | class << 56 */
    uint16_t age_at[TIDE_AGE_SLOTS]; /* address -> place in ages */
    struct tide_piles piles;
};

static inline void tide_encoder_forget(struct tide_encoder_memory *memory)
{
    memory->births = 0;
    memory->next_birth = memory->last_death = 0;
    memory->last_kind = TIDE_KIND_MALLOC;
    tide_piles_clear(&memory->piles);
    tide_words_clear(&memory->words);
    memset(memory->dictionary, 0, sizeof(memory->dictionary));
    memset(memory->like, 0, sizeof(memory->like));
    for (uint32_t i = 0; i < TIDE_RECENTS; i++)
        memory->next[i] = (uint16_t)i;
}

/* What a birth was like that has no alignment and whose size and slack fit in BODY, as in
 * its row: never TIDE_LIKE_NONE or TIDE_LIKE_ODD. */
static inline uint64_t tide_likeness(uint64_t body, uint64_t kind)
{
    return (kind + 1) << TIDE_ROW_ENTRY_SHIFT | body;
}

static inline uint32_t tide_age_slot(uint64_t address)
{
    return (uint32_t)((address * 0x9e3779b97f4a7c15ull) >> 49); /* of TIDE_AGE_SLOTS */
}

static inline void tide_encoder_add_birth(struct tide_encoder_memory *memory,
                                          uint64_t address, uint64_t usable)
{
    const uint64_t class = tide_class_of(usable);
    const uint32_t place = memory->births++ % TIDE_AGES;
    memory->ages[place] = address | (class < TIDE_CLASSES ? class : TIDE_CLASSES)
                                        << TIDE_CLASS_SHIFT;
    memory->age_at[tide_age_slot(address)] = (uint16_t)place;
    memory->next_birth = address + usable + 8;
}

/* Is the block at ADDRESS one of the last births?  Then its age is told, and its address
 * goes on its pile. */
static inline bool tide_encoder_knows(struct tide_encoder_memory *memory,
                                      uint64_t address, uint32_t *age)
{
    const uint32_t place = memory->age_at[tide_age_slot(address)];
    const uint64_t kept = memory->ages[place];
    const uint64_t class = kept >> TIDE_CLASS_SHIFT;
    if ((kept ^ class << TIDE_CLASS_SHIFT) != address || place >= memory->births)
        return false;
    *age = (memory->births - 1 - place) % TIDE_AGES;
    tide_piles_add(&memory->piles, class, address);
    return true;
}

#endif
