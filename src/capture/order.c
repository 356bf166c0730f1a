/* capture/order.c - the table of slots. */
#include "capture/order.h"

#include <stddef.h>

#include "capture/process.h"

_Atomic uint32_t *tide_order_cells;

bool tide_order_init(void)
{
    if (tide_order_cells)
        return true; /* a forked child finds its parent's table, wiped */
    tide_order_cells =
        tide_private_memory(((1ull << TIDE_SLOT_BITS) + 1024) * sizeof(uint32_t));
    return tide_order_cells != NULL;
}
