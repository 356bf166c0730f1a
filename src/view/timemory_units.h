/* view/timemory_units.h - units of memory by the names that timemory gives them.
 *
 * For: view/, cli/, tests/.
 */
#ifndef TIDE_VIEW_TIMEMORY_UNITS_H
#define TIDE_VIEW_TIMEMORY_UNITS_H

#include <stdbool.h>

struct tide_timemory_unit {
    const char *name; /* as it is shown */
    double bytes;
};

/* The unit called NAME, in large or small letters; false: there is none.  KB and its kin
 * are powers of 1000, KiB and its kin of 1024. */
bool tide_timemory_unit(const char *name, struct tide_timemory_unit *out);

/* All of them, for messages. */
#define TIDE_TIMEMORY_UNIT_NAMES "B, KB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB"

#endif
