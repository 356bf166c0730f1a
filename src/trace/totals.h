/* trace/totals.h - how much of everything a trace holds.
 *
 * For: trace/, collect/, model/, tests/.  Counted while events are encoded and written at the end
 * of the file, so nobody has to walk through all events to say how many there are.
 */
#ifndef TIDE_TRACE_TOTALS_H
#define TIDE_TRACE_TOTALS_H

#include <stdint.h>

#include "trace/format.h"

enum { TIDE_TOTALS_EXTRAS = 32 };

struct tide_totals {
    uint64_t events;          /* ALLOC, FREE, MOVE_* and MAP records */
    uint64_t allocated_bytes; /* asked for by all births */
    uint64_t free_calls;      /* with the old halves of realloc, without what failed */
    uint64_t kinds[TIDE_KINDS];
    uint64_t maps[TIDE_MAP_CALLS];
    uint64_t extras[TIDE_TOTALS_EXTRAS]; /* by enum tide_extra */
};

static inline void tide_totals_add(struct tide_totals *sum,
                                   const struct tide_totals *more)
{
    sum->events += more->events;
    sum->allocated_bytes += more->allocated_bytes;
    sum->free_calls += more->free_calls;
    for (unsigned i = 0; i < TIDE_KINDS; i++)
        sum->kinds[i] += more->kinds[i];
    for (unsigned i = 0; i < TIDE_MAP_CALLS; i++)
        sum->maps[i] += more->maps[i];
    for (unsigned i = 0; i < TIDE_TOTALS_EXTRAS; i++)
        sum->extras[i] += more->extras[i];
}

#endif
