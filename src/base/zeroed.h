/* base/zeroed.h - large tables of zeros, in huge pages where the system has them.
 *
 * For: trace/, model/, symbol/, cli/.  A table that is found by hashes is touched everywhere
 * at once, and every page of 4 KiB costs a fault, of 1.5 us in a virtual machine: three
 * times what it takes to clear it.
 */
#ifndef TIDE_BASE_ZEROED_H
#define TIDE_BASE_ZEROED_H

#include <stddef.h>

/* The same as calloc(), for what will be used all over. */
void *tide_zeroed(size_t count, size_t item_bytes);

/* Let the BYTES at FROM, which nobody has touched yet, come in huge pages. */
void tide_wants_huge(void *from, size_t bytes);

/* Let what malloc() gives from here on come in huge pages, as far as a report of usual size
 * needs it.  For a process that is about to read a trace and has no threads yet. */
void tide_heap_wants_huge(void);

#endif
