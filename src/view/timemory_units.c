/* view/timemory_units.c - units of memory by the names that timemory gives them.
 */
#include "view/timemory_units.h"

#include <stddef.h>
#include <strings.h>

static const struct tide_timemory_unit UNITS[] = {
    {"B", 1},
    {"KB", 1e3},
    {"MB", 1e6},
    {"GB", 1e9},
    {"TB", 1e12},
    {"PB", 1e15},
    {"KiB", 1024},
    {"MiB", 1048576},
    {"GiB", 1073741824},
    {"TiB", 1099511627776},
    {"PiB", 1125899906842624},
};

bool tide_timemory_unit(const char *name, struct tide_timemory_unit *out)
{
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        if (strcasecmp(UNITS[i].name, name) != 0)
            continue;
        *out = UNITS[i];
        return true;
    }
    return false;
}
