/* capture/memory.h - the stacks that the reader of a lane has already.
 *
 * For: coder.h.  A stack that was given in full becomes an entry of a table that the reader
 * keeps as well (trace/format.h: RECENT); from then on its number is enough.
 */
#ifndef TIDE_CAPTURE_MEMORY_H
#define TIDE_CAPTURE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/stream.h"
#include "trace/format.h"

static inline bool tide_memory_has_stack(const struct tide_memory *memory,
                                         uint64_t hash, uint32_t *entry)
{
    *entry = memory->recent_at[hash % (2 * TIDE_RECENTS)];
    return *entry < memory->stacks && memory->recent[*entry] == hash;
}

static inline void tide_memory_add_stack(struct tide_memory *memory, uint64_t hash)
{
    const uint32_t entry = memory->stacks % TIDE_RECENTS;
    memory->recent[entry] = hash;
    memory->recent_at[hash % (2 * TIDE_RECENTS)] = (uint16_t)entry;
    memory->stacks++;
}

#endif
