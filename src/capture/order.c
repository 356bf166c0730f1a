/* capture/order.c - the table of slots. */
#include "capture/order.h"

#include <stddef.h>

#include "capture/process.h"

_Atomic uint32_t *tide_order_cells;

bool tide_order_init(void)
{
    const uint64_t bytes = ((1ull << TIDE_SLOT_BITS) + 1024) * sizeof(uint32_t);
    if (tide_order_cells) /* a forked child finds its parent's table, wiped */
        tide_process->mapped_bytes += bytes;
    else
        tide_order_cells = tide_private_memory(bytes);
    tide_process->order_bytes = tide_order_cells ? bytes : 0;
    return tide_order_cells != NULL;
}
