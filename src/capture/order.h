/* capture/order.h - slot numbers: the order of events across threads.
 *
 * For: capture/.  The rule is in trace/format.h ("Order across lanes"), the proof in
 * docs/internals/order.md.  Cost: one uncontended compare-and-swap per event, nothing
 * while the process has one thread.
 */
#ifndef TIDE_CAPTURE_ORDER_H
#define TIDE_CAPTURE_ORDER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/stream.h"
#include "trace/format.h"

/* (1 << TIDE_SLOT_BITS) + 1 cells, owner << 20 | count; NULL until there are threads. */
extern _Atomic uint32_t *tide_order_cells;

/* Reserve the cells; false without memory.  Called before the second thread exists. */
bool tide_order_init(void);

/* Have SLOT's cell in memory.  A page fault in tide_order_step() would let a signal
 * handler in, whose events would step before the one under way and stand after it. */
static inline void tide_order_touch(uint32_t slot)
{
    uint32_t zero = 0;
    if (atomic_load_explicit(&tide_order_cells[slot], memory_order_relaxed) == 0)
        atomic_compare_exchange_strong(&tide_order_cells[slot], &zero, 0);
}

/* An event on SLOT happens now: its number goes to *NUMBER.  True when it has to be
 * written: the slot's previous event is not of this lane. */
static inline bool tide_order_step(const struct tide_stream *stream, uint32_t slot,
                                   uint16_t *number)
{
    const uint32_t count_mask = (1u << TIDE_OWNER_SHIFT) - 1;
    _Atomic uint32_t *cell = &tide_order_cells[slot];
    uint32_t old = atomic_load_explicit(cell, memory_order_relaxed);
    uint32_t new;
    do {
        new = (stream->owner << TIDE_OWNER_SHIFT) | ((old + 1) & count_mask);
    } while (!atomic_compare_exchange_weak_explicit(
        cell, &old, new, memory_order_acq_rel, memory_order_relaxed));
    *number = (uint16_t)old;
    return stream->owner == 0 || old >> TIDE_OWNER_SHIFT != stream->owner;
}

#endif
