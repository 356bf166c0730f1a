/* capture/live_table.h - the blocks that live now, for tide_find().
 *
 * For: capture/.  Kept only when it was asked for (`run --live-table`, TIDEMARK_LIVE_TABLE):
 * hooks then take the way of windows and monitors (watch.h), and nobody else pays.  No
 * locks: see live_map.h.
 */
#ifndef TIDE_CAPTURE_LIVE_TABLE_H
#define TIDE_CAPTURE_LIVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tidemark/tidemark.h>

#include "capture/name_table.h"
#include "capture/self.h"

/* It is kept. */
extern bool tide_live_kept;

/* Keep it from here on.  What was made before is not known. */
void tide_live_begin(void) TIDE_COLD;

/* --- For the hooks, when tide_live_kept --- */

struct tide_live_size {
    size_t requested, used;
};

void tide_live_born(const void *block, struct tide_live_size size);
void tide_live_dies(const void *block);
/* realloc: BLOCK is out of the table, as a number; 0: it was not in it. */
uint32_t tide_live_lift(const void *block);
/* ...and in it again, at BLOCK; or as it was, or GONE. */
void tide_live_set_down(uint32_t lifted, const void *block, struct tide_live_size size);
void tide_live_put_back(uint32_t lifted, bool gone);
/* Memory, whole pages of it, was unmapped, or moved by mremap to NOW bytes at START: what
 * it holds that is no block of the heap. */
void tide_live_unmapped(const void *start, size_t bytes) TIDE_COLD;
void tide_live_remapped(const void *old, size_t bytes, const void *start,
                        size_t now) TIDE_COLD;

/* --- What the program tells --- */

struct tide_live_shape {
    size_t element_bytes; /* 0: there is none */
    const size_t *extents;
    size_t dimensions;
};

/* Of what begins at BLOCK; where nothing does, a part of BYTES gets the name. */
void tide_live_label(const void *block, const struct tide_name *label, size_t bytes,
                     const struct tide_live_shape *shape) TIDE_COLD;
void tide_live_unlabel(const void *block) TIDE_COLD;
void tide_live_pool_alloc(const struct tide_name *pool, const void *block, size_t bytes,
                          const struct tide_name *label) TIDE_COLD;
void tide_live_pool_free(const void *block) TIDE_COLD;

/* --- The question --- */

enum tide_answer tide_live_find(const void *address,
                                struct tide_found_block *out) TIDE_COLD;

#endif
