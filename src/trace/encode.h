/* trace/encode.h - the rows of a lane -> the columns of a chunk.
 *
 * For: trace/writer.c, tests/.  What makes a trace small is done here, in the collector:
 * the program that is recorded only writes rows.  An encoder remembers what the reader will
 * remember (format.h: "What coder and decoder of a lane remember alike"), and only while
 * it makes one chunk; of a lane nothing stays but struct tide_encoder_lane.
 */
#ifndef TIDE_TRACE_ENCODE_H
#define TIDE_TRACE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/format.h"
#include "trace/row.h"

struct tide_encoder; /* opaque: see encode.c */

/* What goes on from chunk to chunk. */
struct tide_encoder_lane {
    uint64_t ticks;   /* the last stamp */
    uint32_t current; /* entry of the present stack */
    uint32_t stacks;  /* entries since the reset */
    uint64_t chunk; /* of the encoder's, the last one that was of this lane; 0: none */
    bool goes_on;   /* that one went on where the lane's chunk before it ended */
};

struct tide_column_bytes {
    const uint8_t *bytes; /* borrowed from the encoder, until it is used again */
    size_t length;
};

struct tide_encoder *tide_encoder_new(void);
void tide_encoder_free(struct tide_encoder *encoder);

/* One chunk: BYTES (at most TIDE_ROWS_MAX) of whole rows at ROWS, of LANE.  OUT becomes its
 * columns.  When the chunk before was of this lane as well, nothing is forgotten, and
 * goes_on says so.  TIDE_ECORRUPT: somewhere there are no rows; up to there, all is in OUT. */
enum tide_status tide_encode(struct tide_encoder *encoder,
                             struct tide_encoder_lane *lane, const uint64_t *rows,
                             size_t bytes, struct tide_column_bytes out[TIDE_COLUMNS]);

#endif
