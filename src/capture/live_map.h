/* capture/live_map.h - numbers by address, and the nearest one before an address.
 *
 * For: live_table.c.  A tree of three levels over the whole address space: a root, branches
 * of 8 GiB, leaves of 256 KiB, which have a number for each eight bytes and a bit that says
 * whether there is one.  Nothing is ever moved or given back, and every change is one
 * atomic operation on a place of its own, so there are no locks: threads, signal handlers
 * that interrupt them and forked children find it whole at any time.
 */
#ifndef TIDE_CAPTURE_LIVE_MAP_H
#define TIDE_CAPTURE_LIVE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tide_live_branch;

struct tide_live_map {
    _Atomic(struct tide_live_branch *) *roots; /* owned, for ever; NULL: not begun */
};

/* False: no memory. */
bool tide_live_map_begin(struct tide_live_map *map);

/* ADDRESS has NUMBER from here on; *BEFORE is the number that it had, 0 for none.  False:
 * no memory, and it has none. */
bool tide_live_map_put(struct tide_live_map *map, uint64_t address, uint32_t number,
                       uint32_t *before);
/* ADDRESS has none any more; returns the one that it had. */
uint32_t tide_live_map_take(struct tide_live_map *map, uint64_t address);
/* The number of ADDRESS. */
uint32_t tide_live_map_at(const struct tide_live_map *map, uint64_t address);
/* The number of the nearest address that has one, at or below *ADDRESS and not below
 * LOWEST (each but for the last three bits); *ADDRESS becomes that.  0: there is none. */
uint32_t tide_live_map_before(const struct tide_live_map *map, uint64_t *address,
                              uint64_t lowest);

#endif
