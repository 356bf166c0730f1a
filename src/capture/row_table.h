/* capture/row_table.h - rows of the frame tables, remembered by pc.
 *
 * For: stack_cfi.c.  All threads share the table, and it needs no lock: a slot is taken by
 * compare-and-swap, filled, then published with its key.  The key holds a generation that
 * rises when code is unloaded, so its rows are never found again.
 *
 * The table is as small as the rows allow, so that it does not drive the program's own data
 * out of the processor's caches: when it is half full, a larger one takes its place, and
 * rows are found anew.
 */
#ifndef TIDE_CAPTURE_ROW_TABLE_H
#define TIDE_CAPTURE_ROW_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/cfi_row.h"
#include "capture/self.h"

enum {
    TIDE_ROWS_LOG2 = 12, /* at first */
    TIDE_ROWS_LOG2_STEP = 2,
    TIDE_ROWS_LOG2_MOST = 16,
    TIDE_ROW_PROBES = 8,
    TIDE_OFFSET_BITS = 28,
    TIDE_EPOCH_SHIFT = 48,
    /* The kinds of packed rows that nearly all are of, in their lowest byte. */
    TIDE_PLAIN_ROW = TIDE_CFA_RSP | TIDE_RBP_SAME << 4,    /* offset >= 8, aligned */
    TIDE_SAVING_ROW = TIDE_CFA_RSP | TIDE_RBP_AT_CFA << 4, /* rbp saved */
    TIDE_FRAME_ROW = TIDE_CFA_RBP | TIDE_RBP_AT_CFA << 4,  /* with a frame pointer */
};

_Static_assert(8 + 2 * TIDE_OFFSET_BITS == 64, "a packed row fills a word");

struct tide_row_slot {
    _Atomic uint64_t key;
    _Atomic uint64_t row;
};
struct tide_row_table {
    uint32_t log2;
    _Atomic uint32_t taken;
    _Alignas(64) struct tide_row_slot slots[];
};
extern _Atomic(struct tide_row_table *) tide_rows; /* NULL: there is no memory for it */

/* Generation NEXT begins, and with it half of all that keys can hold: forget the rows that
 * are left of the last time. */
void tide_rows_forget(uint64_t next) TIDE_COLD;

/* Find the row for PC and remember it; it is returned packed. */
uint64_t tide_row_learn(uint64_t key, uintptr_t pc) TIDE_COLD;

/* Kind in the lowest byte, then two signed offsets.  A plain row has no second one, and its
 * first is not negative, so that one shift gives it. */
static inline intptr_t tide_row_first_offset(uint64_t packed)
{
    return (intptr_t)(packed << TIDE_OFFSET_BITS) >> (64 - TIDE_OFFSET_BITS);
}

static inline intptr_t tide_row_second_offset(uint64_t packed)
{
    return (intptr_t)packed >> (8 + TIDE_OFFSET_BITS);
}

static inline struct tide_cfi_row tide_row_unpack(uint64_t packed)
{
    return (struct tide_cfi_row){.cfa = packed & 15,
                                 .rbp = packed >> 4 & 15,
                                 .cfa_offset = (int32_t)tide_row_first_offset(packed),
                                 .rbp_offset = (int32_t)tide_row_second_offset(packed)};
}

/* The first place in TABLE where the row with KEY may be. */
static inline uint32_t tide_row_home(const struct tide_row_table *table, uint64_t key)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - table->log2));
}

static inline struct tide_row_slot *tide_row_at(struct tide_row_table *table,
                                                uint32_t place)
{
    return &table->slots[place & ((1u << table->log2) - 1)];
}

/* The row for PC in the generation EPOCH, packed. */
TIDE_HOT uint64_t tide_row_packed(uintptr_t pc, uint64_t epoch)
{
    struct tide_row_table *const table =
        atomic_load_explicit(&tide_rows, memory_order_acquire);
    const uint64_t key = pc ^ epoch << TIDE_EPOCH_SHIFT;
    const uint32_t home = tide_row_home(table, key);
    for (uint32_t i = 0; i < TIDE_ROW_PROBES; i++) {
        const struct tide_row_slot *slot = tide_row_at(table, home + i);
        const uint64_t seen = atomic_load_explicit(&slot->key, memory_order_acquire);
        if (TIDE_LIKELY(seen == key)) {
            const uint64_t row = atomic_load_explicit(&slot->row, memory_order_acquire);
            if (TIDE_LIKELY(atomic_load_explicit(&slot->key, memory_order_relaxed) ==
                            key))
                return row;
        }
        if (seen == 0)
            break;
    }
    return tide_row_learn(key, pc);
}

static inline struct tide_cfi_row tide_row_of(uintptr_t pc, uint64_t epoch)
{
    return tide_row_unpack(tide_row_packed(pc, epoch));
}

#endif
