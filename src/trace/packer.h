/* trace/packer.h - what a chunk stores, compressed.
 *
 * For: trace/writer.c, collect/.  Used by one thread at a time; several can be at work side by
 * side, each for a chunk of its own.
 */
#ifndef TIDE_TRACE_PACKER_H
#define TIDE_TRACE_PACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/encode.h"
#include "trace/format.h"

struct tide_packer; /* opaque: see packer.c */

/* NULL without memory. */
struct tide_packer *tide_packer_new(void);
/* NULL is fine. */
void tide_packer_free(struct tide_packer *packer);

/* Compressing takes a while: BETWEEN is called with CONTEXT after each column.  It must not
 * use the packer, nor change the columns. */
void tide_packer_set_between(struct tide_packer *packer, void (*between)(void *context),
                             void *context);

/* BYTES at RAW, or the COLUMNS, become the payload of CHUNK, whose lengths and flags are set.
 * False when there is no memory. */
bool tide_pack_notes(struct tide_packer *packer, struct tide_format_chunk *chunk,
                     const void *raw, size_t bytes);
bool tide_pack_columns(struct tide_packer *packer, struct tide_format_chunk *chunk,
                       const struct tide_column_bytes columns[TIDE_COLUMNS]);

/* The payload that was packed last, with room for the chunk's header before it: what is
 * returned is where that goes. */
uint8_t *tide_packed_chunk(const struct tide_packer *packer);

#endif
