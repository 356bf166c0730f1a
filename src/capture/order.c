/* capture/order.c - the table of slots. */
#include "capture/order.h"

#include <stddef.h>

#include "capture/process.h"
#include "capture/reserve.h"

/* Where address space is limited to less it is the program's alone. */
enum { TIDE_ADDRESS_ROOM = 512 * 1024 * 1024 };

_Atomic uint32_t *tide_order_cells;

bool tide_order_init(void)
{
    const uint64_t bytes = ((1ull << TIDE_SLOT_BITS) + 1024) * sizeof(uint32_t);
    /* A forked child finds its parent's table, wiped. */
    if (!tide_order_cells && tide_reserve_limit() >= TIDE_ADDRESS_ROOM)
        tide_order_cells = tide_private_memory(bytes);
    if (!tide_order_cells)
        return false;
    tide_process->mapped_bytes += bytes;
    tide_process->order_bytes = bytes;
    return true;
}
