/* base/data_memory.h - the memory that this process has mapped, and may still map.
 *
 * For: everything but capture/.
 */
#ifndef TIDE_BASE_DATA_MEMORY_H
#define TIDE_BASE_DATA_MEMORY_H

#include <stdint.h>

struct tide_mapped_memory {
    uint64_t all;  /* bytes of address space */
    uint64_t data; /* of these: private and writable, as RLIMIT_DATA counts them */
};

/* Zeros when that is not known.  /proc is looked for below ROOT: "" outside tests. */
struct tide_mapped_memory tide_mapped_memory(const char *root);

/* How many bytes more RLIMIT_DATA allows; UINT64_MAX: any number. */
uint64_t tide_data_left(void);
/* Let RLIMIT_DATA allow BYTES more than is mapped now, or as much as it may at most. */
void tide_data_allow(uint64_t bytes);

#endif
