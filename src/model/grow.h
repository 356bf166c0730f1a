/* model/grow.h - arrays that grow.
 *
 * For: model/.
 */
#ifndef TIDE_MODEL_GROW_H
#define TIDE_MODEL_GROW_H

#include <stddef.h>

/* ITEMS (owned by the caller, *CAPACITY of them, ITEM_BYTES each) with room for at least
 * WANTED > 0; new items are zeros, which every table of this room takes for "empty".
 * The result takes the place of ITEMS; NULL without memory, then all stands as it was. */
void *tide_grown(void *items, size_t *capacity, size_t wanted, size_t item_bytes);

#endif
