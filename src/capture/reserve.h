/* capture/reserve.h - where the recorder maps its own memory.
 *
 * For: capture/.  Nothing else in capture/ maps memory but the hooks that stand before the
 * program's own calls.
 */
#ifndef TIDE_CAPTURE_RESERVE_H
#define TIDE_CAPTURE_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

/* Choose the place.  Called at start. */
void tide_reserve_begin(void);

/* The limit on address space when the program began; UINT64_MAX: there is none.  Where there
 * is one, it is the program's alone. */
uint64_t tide_reserve_limit(void);

/* mmap() at a place of our own; NULL without memory.  From any thread, signal handler and
 * forked child. */
void *tide_reserve_map(uint64_t bytes, int protection, int flags, int file,
                       uint64_t offset);
/* The same for zeroed private memory that may be written to. */
void *tide_reserve_memory(uint64_t bytes);
/* A second mapping, of BYTES, of the shared memory that is mapped at FROM. */
void *tide_reserve_again(void *from, uint64_t bytes);
void tide_reserve_release(void *at, uint64_t bytes);
/* Zeroed private memory over what was mapped at AT. */
bool tide_reserve_cover(void *at, uint64_t bytes);

#endif
