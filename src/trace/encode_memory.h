/* trace/encode_memory.h - what the encoder remembers while it makes a chunk.
 *
 * For: encode.c.  The rules are in format.h; lane_memory.h has the reader's side of them.
 */
#ifndef TIDE_TRACE_ENCODE_MEMORY_H
#define TIDE_TRACE_ENCODE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/born.h"
#include "trace/format.h"
#include "trace/piles.h"
#include "trace/row.h"
#include "trace/totals.h"
#include "trace/words.h"

#define TIDE_LIKE_NONE 0ull
#define TIDE_LIKE_ODD  UINT64_MAX /* it does not fit in 64 bits, and stands in `odd` */

struct tide_odd_likeness {
    uint64_t size, usable;
    uint32_t wish; /* kind | align_log2 << 8 */
};

/* Slots of the tables that find a place by its address: so many that few of those that are
 * remembered are forgotten because another one needs their slot. */
enum {
    TIDE_BORN_SLOT_BITS = 16,
    TIDE_AFTER_SLOT_BITS = 15,
    TIDE_DEAD_SLOT_BITS = 15,
    TIDE_NO_PLACE = TIDE_PLACE_NEAR << 8,
};

struct tide_encoder_memory {
    struct tide_totals totals; /* never forgotten */
    uint32_t births, deaths;
    uint64_t next_birth, last_death; /* address bases */
    uint8_t last_kind;
    uint16_t next[TIDE_RECENTS]; /* which entry stood after which */
    uint64_t like[TIDE_RECENTS]; /* by stack: what the last birth with it was like */
    struct tide_odd_likeness odd[TIDE_RECENTS];
    struct tide_words words;
    uint64_t dictionary[TIDE_DICTIONARY_SLOTS];
    struct tide_born born[TIDE_AGES];
    uint64_t dead[TIDE_DEAD];
    /* Where in these an address may stand. */
    uint16_t born_at[1 << TIDE_BORN_SLOT_BITS];
    uint16_t after_at[1 << TIDE_AFTER_SLOT_BITS];
    uint16_t dead_at[1 << TIDE_DEAD_SLOT_BITS];
    struct tide_piles piles;
};

static inline void tide_encoder_forget(struct tide_encoder_memory *memory)
{
    memory->births = memory->deaths = 0;
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

/* Blocks that are close to each other, as those born one after the other mostly are, never
 * need the same slot. */
static inline uint32_t tide_address_slot(uint64_t address, unsigned bits)
{
    return (uint32_t)(address >> 4 ^ address >> (4 + bits)) & ((1u << bits) - 1);
}

static inline void tide_encoder_add_birth(struct tide_encoder_memory *memory,
                                          uint64_t address, uint64_t usable)
{
    const uint32_t place = memory->births++ % TIDE_AGES;
    const struct tide_born born = tide_born_at(address, usable);
    memory->born[place] = born;
    memory->born_at[tide_address_slot(address, TIDE_BORN_SLOT_BITS)] = (uint16_t)place;
    memory->after_at[tide_address_slot(born.after, TIDE_AFTER_SLOT_BITS)] =
        (uint16_t)place;
    memory->next_birth = born.after;
}

/* Is the block at ADDRESS one of the last births?  Then its age is told, and its address
 * goes on its pile. */
static inline bool tide_encoder_knows(struct tide_encoder_memory *memory,
                                      uint64_t address, uint32_t *age)
{
    const uint32_t place =
        memory->born_at[tide_address_slot(address, TIDE_BORN_SLOT_BITS)];
    const struct tide_born born = memory->born[place];
    if (born.address != address || place >= memory->births)
        return false;
    *age = (memory->births - 1 - place) % TIDE_AGES;
    tide_piles_add(&memory->piles, tide_class_of_born(born), address);
    return true;
}

static inline void tide_encoder_add_death(struct tide_encoder_memory *memory,
                                          uint64_t address)
{
    const uint32_t place = memory->deaths++ % TIDE_DEAD;
    memory->dead[place] = address;
    memory->dead_at[tide_address_slot(address, TIDE_DEAD_SLOT_BITS)] = (uint16_t)place;
    memory->last_death = address;
}

/* The place of a birth at ADDRESS; TIDE_NO_PLACE: nothing was there, and nothing before it.
 * Which of them it is follows no rule, so all are looked at, at the same time. */
static inline uint32_t tide_encoder_place(const struct tide_encoder_memory *memory,
                                          uint64_t address)
{
    const uint32_t dead =
        memory->dead_at[tide_address_slot(address, TIDE_DEAD_SLOT_BITS)];
    const uint32_t before =
        memory->after_at[tide_address_slot(address, TIDE_AFTER_SLOT_BITS)];
    const bool died = (dead < memory->deaths) & (memory->dead[dead] == address);
    const bool behind =
        (before < memory->births) & (memory->born[before].after == address);
    const bool next = (memory->births > 0) & (memory->next_birth == address);
    uint32_t place = TIDE_NO_PLACE;
    place = behind ? TIDE_DEAD + (memory->births - 1 - before) % TIDE_AGES : place;
    place = died ? (memory->deaths - 1 - dead) % TIDE_DEAD : place;
    return next ? TIDE_DEAD : place;
}

#endif
