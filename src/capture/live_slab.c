/* capture/live_slab.c - numbered slots of one size. */
#include "capture/live_slab.h"

#include <stddef.h>

#include "capture/process.h"

typedef _Atomic(_Atomic uint64_t *) piece;

bool tide_live_slab_begin(struct tide_live_slab *slab, uint32_t slot_words)
{
    slab->slot_words = slot_words;
    slab->pieces = tide_lasting_memory(TIDE_SLAB_PIECES * sizeof(piece));
    return slab->pieces != NULL;
}

/* The memory that slot NUMBER lies in.  Who comes second takes what the first one made. */
static bool have_piece(struct tide_live_slab *slab, uint32_t number)
{
    piece *const place = &slab->pieces[(number - 1) / TIDE_SLAB_PIECE];
    const uint64_t bytes = (uint64_t)TIDE_SLAB_PIECE * slab->slot_words * 8;
    _Atomic uint64_t *found = atomic_load(place);
    if (found)
        return true;
    _Atomic uint64_t *const made = tide_lasting_memory(bytes);
    if (made && !atomic_compare_exchange_strong(place, &found, made))
        tide_lasting_release(made, bytes);
    return made != NULL;
}

static uint32_t take_new(struct tide_live_slab *slab)
{
    uint32_t given = atomic_load(&slab->given);
    do {
        if (given >= (uint32_t)TIDE_SLAB_PIECE * TIDE_SLAB_PIECES - 1 ||
            !have_piece(slab, given + 1))
            return 0;
    } while (!atomic_compare_exchange_weak(&slab->given, &given, given + 1));
    return given + 1;
}

uint32_t tide_live_slab_take(struct tide_live_slab *slab)
{
    uint64_t head = atomic_load(&slab->free);
    uint64_t next;
    do {
        if ((uint32_t)head == 0)
            return take_new(slab);
        next = (uint32_t)atomic_load(tide_live_slot(slab, (uint32_t)head));
        next |= ((head >> 32) + 1) << 32;
    } while (!atomic_compare_exchange_weak(&slab->free, &head, next));
    return (uint32_t)head;
}

void tide_live_slab_give(struct tide_live_slab *slab, uint32_t number)
{
    uint64_t head = atomic_load(&slab->free);
    if (!number)
        return;
    do
        atomic_store(tide_live_slot(slab, number), (uint32_t)head);
    while (!atomic_compare_exchange_weak(&slab->free, &head,
                                         ((head >> 32) + 1) << 32 | number));
}
