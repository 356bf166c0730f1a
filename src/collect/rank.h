/* collect/rank.h - the MPI rank of a process, as the common launchers tell it.
 *
 * For: collect/, tests/.
 */
#ifndef TIDE_COLLECT_RANK_H
#define TIDE_COLLECT_RANK_H

#include <stddef.h>
#include <stdint.h>

/* The variables that hold it, best first; ends with NULL. */
extern const char *const tide_rank_variables[];

/* The rank by the environment ENVIRON (NAME=VALUE, a zero after each), + 1; 0: none. */
uint64_t tide_rank_in(const char *environ, size_t length);

#endif
