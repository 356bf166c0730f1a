/* symbol/inflate.h - the beginning of something compressed, as long as it is needed.
 *
 * For: symbol/, tests/.  Debug information is compressed in one piece but read in small
 * ones.  It is decompressed to where somebody wants to read, and later on from there.
 */
#ifndef TIDE_SYMBOL_INFLATE_H
#define TIDE_SYMBOL_INFLATE_H

#include <stdbool.h>
#include <stddef.h>

struct tide_inflate; /* opaque */

/* Decompress the SIZE bytes at BYTES into the CAPACITY bytes at OUT (both borrowed: they
 * must outlive it).  NULL without memory. */
struct tide_inflate *tide_inflate_open(const void *bytes, size_t size, void *out,
                                       size_t capacity);
void tide_inflate_close(struct tide_inflate *packed);

/* Make the first END bytes ready; false when there are not as many, since the data end or
 * are damaged.  What was ready stays so.  Where END is CAPACITY, the data must end there
 * too, with the right checksum. */
bool tide_inflate_until(struct tide_inflate *packed, size_t end);

#endif
