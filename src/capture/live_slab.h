/* capture/live_slab.h - numbered slots of one size, without locks.
 *
 * For: live_table.c.  Slots are used again, and their memory stays: who reads one that was
 * given back reads something else, but reads.  The first word of a slot that is given
 * back is the slab's; it is a word that readers make no pointer of.
 */
#ifndef TIDE_CAPTURE_LIVE_SLAB_H
#define TIDE_CAPTURE_LIVE_SLAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { TIDE_SLAB_PIECE = 1 << 14, TIDE_SLAB_PIECES = 1 << 16 }; /* slots, pieces */

struct tide_live_slab {
    uint32_t slot_words;
    _Atomic uint64_t free;  /* number of the last one given back; above it a count of
                               changes, so that an old head is not taken for a new one */
    _Atomic uint32_t given; /* numbers handed out for the first time */
    _Atomic(_Atomic uint64_t *) *pieces; /* owned, for ever */
};

/* False: no memory. */
bool tide_live_slab_begin(struct tide_live_slab *slab, uint32_t slot_words);
/* A number of its own, from 1 on; 0: no memory.  Its words are what they were. */
uint32_t tide_live_slab_take(struct tide_live_slab *slab);
/* Give NUMBER back; 0 is fine. */
void tide_live_slab_give(struct tide_live_slab *slab, uint32_t number);

static inline _Atomic uint64_t *tide_live_slot(const struct tide_live_slab *slab,
                                               uint32_t number)
{
    const uint32_t at = number - 1;
    return atomic_load_explicit(&slab->pieces[at / TIDE_SLAB_PIECE],
                                memory_order_acquire) +
           (uint64_t)(at % TIDE_SLAB_PIECE) * slab->slot_words;
}

#endif
