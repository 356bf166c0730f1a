/* collect/rank.c - the MPI rank of a process, as the common launchers tell it. */
#include "collect/rank.h"

#include <stdlib.h>
#include <string.h>

enum { TIDE_RANK_DIGITS = 9 }; /* what is longer is no rank */

const char *const tide_rank_variables[] = {
    "PMI_RANK",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_RANK",
    "FLUX_TASK_RANK",
    "SLURM_PROCID",
    NULL,
};

/* The value of NAME, zero-terminated; NULL: it has none. */
static const char *value_of(const char *environ, size_t length, const char *name)
{
    const size_t wanted = strlen(name);
    const char *const end = environ + length;
    for (const char *at = environ; at < end;) {
        const char *const stop = memchr(at, '\0', (size_t)(end - at));
        if (!stop)
            return NULL; /* it was cut off */
        if ((size_t)(stop - at) > wanted && at[wanted] == '=' &&
            memcmp(at, name, wanted) == 0)
            return at + wanted + 1;
        at = stop + 1;
    }
    return NULL;
}

uint64_t tide_rank_in(const char *environ, size_t length)
{
    for (size_t i = 0; tide_rank_variables[i]; i++) {
        const char *const value = value_of(environ, length, tide_rank_variables[i]);
        const size_t digits = value ? strspn(value, "0123456789") : 0;
        if (digits > 0 && digits <= TIDE_RANK_DIGITS && !value[digits])
            return strtoull(value, NULL, 10) + 1;
    }
    return 0;
}
