/* capture/row_table.h - rows of the frame tables, remembered by pc.
 *
 * For: stack_cfi.c, stack_cache.h.  All threads share the table, and it needs no lock: a slot
 * is taken by compare-and-swap, filled, then published with its key.  The key holds a
 * generation that rises when code is unloaded, so its rows are never found again.
 *
 * The table is as small as the rows allow, so that it does not drive the program's own data
 * out of the processor's caches: when it is five eighths full, a larger one takes its place.
 * Rows are found anew then, so that those that are no longer needed do not go with it.
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
    TIDE_ROWS_LOG2_MOST = 16,
    TIDE_ROW_PROBES = 8,
    TIDE_FIRST_BITS = 32,
    TIDE_SECOND_BITS = 24,
    TIDE_EPOCH_SHIFT = 48,
    /* The kinds of packed rows that nearly all are of, in their lowest byte: what they say
     * was looked at when they were packed. */
    TIDE_PLAIN_ROW = TIDE_CFA_RSP | TIDE_RBP_SAME << 4,    /* offset >= 8, aligned */
    TIDE_SAVING_ROW = TIDE_CFA_RSP | TIDE_RBP_AT_CFA << 4, /* and rbp saved in it */
    TIDE_FRAME_ROW = TIDE_CFA_RBP | TIDE_RBP_AT_CFA << 4,  /* CFA = rbp + 16 */
    TIDE_ODD_ROW = 0x80,                                   /* not as these promise */
    TIDE_SAVES_RBP = 0x10, /* by which the first differs from the second */
};

_Static_assert(8 + TIDE_FIRST_BITS + TIDE_SECOND_BITS == 64,
               "a packed row fills a word");

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

/* The row for PC, which is not in the first place of TABLE where it may be, packed.  If need
 * be, it is found and remembered. */
uint64_t tide_row_look_on(struct tide_row_table *table, uint64_t key, uintptr_t pc);

/* Kind in the lowest byte, then two signed offsets.  The second one of a plain row tells
 * where the return address stands, so that it can be treated as one that saves rbp. */
static inline intptr_t tide_row_first_offset(uint64_t packed)
{
    return (int32_t)(packed >> 8);
}

static inline intptr_t tide_row_second_offset(uint64_t packed)
{
    return (intptr_t)packed >> (64 - TIDE_SECOND_BITS);
}

/* Is it a plain or a saving row?  Which, nobody can foretell, so that is no branch where it
 * is much asked. */
static inline bool tide_row_is_by_rsp(uint64_t packed)
{
    return (packed & (0xff ^ TIDE_SAVES_RBP)) == TIDE_PLAIN_ROW;
}

static inline struct tide_cfi_row tide_row_unpack(uint64_t packed)
{
    return (struct tide_cfi_row){.cfa = packed & 15,
                                 .rbp = packed >> 4 & 7,
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

/* The row of SLOT, packed, if that is the one with KEY. */
TIDE_HOT bool tide_row_in(const struct tide_row_slot *slot, uint64_t key, uint64_t *row)
{
    if (atomic_load_explicit(&slot->key, memory_order_acquire) != key)
        return false;
    *row = atomic_load_explicit(&slot->row, memory_order_acquire);
    return TIDE_LIKELY(atomic_load_explicit(&slot->key, memory_order_relaxed) == key);
}

/* The row for PC in the generation EPOCH, packed. */
TIDE_HOT uint64_t tide_row_packed(uintptr_t pc, uint64_t epoch)
{
    struct tide_row_table *const table =
        atomic_load_explicit(&tide_rows, memory_order_acquire);
    const uint64_t key = pc ^ epoch << TIDE_EPOCH_SHIFT;
    uint64_t row;
    if (TIDE_LIKELY(tide_row_in(&table->slots[tide_row_home(table, key)], key, &row)))
        return row;
    return tide_row_look_on(table, key, pc);
}

/* The row for PC will be asked for soon. */
static inline void tide_row_fetch(uintptr_t pc, uint64_t epoch)
{
    const struct tide_row_table *const table =
        atomic_load_explicit(&tide_rows, memory_order_acquire);
    __builtin_prefetch(
        &table->slots[tide_row_home(table, pc ^ epoch << TIDE_EPOCH_SHIFT)]);
}

static inline struct tide_cfi_row tide_row_of(uintptr_t pc, uint64_t epoch)
{
    return tide_row_unpack(tide_row_packed(pc, epoch));
}

#endif
