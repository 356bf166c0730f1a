/* model/block_stream_end.h - what is still there after the last event of a run.
 *
 * For: block_stream.c.
 */
#ifndef TIDE_MODEL_BLOCK_STREAM_END_H
#define TIDE_MODEL_BLOCK_STREAM_END_H

#include <tidemark/status.h>

#include "model/block_stream.h"
#include "model/life_table.h"
#include "model/ranges.h"

/* Tell WATCH all blocks of LIVES, in the order of their birth: also what stood in the middle
 * of a realloc. */
enum tide_status tide_stream_tell_live(const struct tide_block_watch *watch,
                                       const struct tide_lives *lives);
/* Tell WATCH the parts of blocks that one process has mapped: its RANGES. */
enum tide_status tide_stream_tell_parts(const struct tide_block_watch *watch,
                                        const struct tide_lives *lives,
                                        const struct tide_ranges *ranges);

#endif
