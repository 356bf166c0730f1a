/* cli/free_memory.h - how much memory this process could still get.
 *
 * For: cli/, tests/.
 */
#ifndef TIDE_CLI_FREE_MEMORY_H
#define TIDE_CLI_FREE_MEMORY_H

#include <stdint.h>

/* Bytes: the least of what the system has to give, what the control groups of this process
 * leave, and what its own limits leave.  UINT64_MAX when nothing is known.  Files are looked
 * for below ROOT: "" outside tests. */
uint64_t tide_free_memory(const char *root);

#endif
