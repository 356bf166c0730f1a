/* capture/order.c - the table of slots. */
#include "capture/order.h"

#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process.h"

/* Where address space is limited to less it is the program's alone. */
enum { TIDE_ADDRESS_ROOM = 512 * 1024 * 1024 };

_Atomic uint32_t *tide_order_cells;

static bool is_cramped;

/* Asked at start: later the program may be in a sandbox that kills for less. */
void tide_order_prepare(void)
{
    struct rlimit limit;
    is_cramped = syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) == 0 &&
                 limit.rlim_cur < TIDE_ADDRESS_ROOM;
}

bool tide_order_init(void)
{
    const uint64_t bytes = ((1ull << TIDE_SLOT_BITS) + 1024) * sizeof(uint32_t);
    if (tide_order_cells) /* a forked child finds its parent's table, wiped */
        tide_process->mapped_bytes += bytes;
    else if (!is_cramped)
        tide_order_cells = tide_private_memory(bytes);
    tide_process->order_bytes = tide_order_cells ? bytes : 0;
    return tide_order_cells != NULL;
}
