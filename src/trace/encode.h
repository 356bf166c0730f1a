/* trace/encode.h - the rows of a lane -> the columns of a chunk.
 *
 * For: trace/writer.c, collect/, tests/.  What makes a trace small is done here, in the
 * collector: the program that is recorded only writes rows.  An encoder remembers what the
 * reader will remember (format.h: "What coder and decoder of a lane remember alike"), of
 * one lane at a time; of the others nothing stays but struct tide_encoder_lane.
 */
#ifndef TIDE_TRACE_ENCODE_H
#define TIDE_TRACE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "trace/format.h"
#include "trace/row.h"
#include "trace/seen_words.h"
#include "trace/totals.h"

struct tide_encoder; /* opaque: see encode.c */

/* What goes on from chunk to chunk, whoever codes. */
struct tide_encoder_lane {
    uint64_t ticks;    /* the last stamp */
    uint32_t process;  /* whose words its stacks have */
    uint32_t left_out; /* stamps since then that were not put */
    uint32_t current;  /* entry of the present stack */
    uint32_t stacks;   /* entries since the reset */
    bool numbers;      /* the lane takes numbers, or would if it could */
    bool told;         /* there was an EXTRA since the last stamp */
    bool goes_on;      /* the chunk begun last goes on where the one before it ended */
    const struct tide_encoder *coder; /* who made the last chunk; NULL: there is none */
    uint64_t chunk;                   /* which of its chunks that was */
};

struct tide_column_bytes {
    const uint8_t *bytes; /* borrowed from the encoder, until it is used again */
    size_t length;
};

/* Of stamps that are less than STAMP_TICKS apart some may be left out; 0: none.  NULL
 * without memory. */
struct tide_encoder *tide_encoder_new(uint64_t stamp_ticks);
void tide_encoder_free(struct tide_encoder *encoder);

/* A chunk of LANE begins.  When the encoder's chunk before was the lane's as well, nothing
 * is forgotten, and goes_on says so. */
void tide_encoder_begin(struct tide_encoder *encoder, struct tide_encoder_lane *lane);
/* BYTES of whole rows at ROWS go into the chunk, which may have TIDE_ROWS_MAX in all.
 * TIDE_ECORRUPT: somewhere there are no rows; all before is in the chunk.  TIDE_ENOMEM:
 * none of these are. */
enum tide_status tide_encoder_add(struct tide_encoder *encoder,
                                  struct tide_encoder_lane *lane, const uint64_t *rows,
                                  size_t bytes);
/* The same, every row in the plain way: for tests. */
enum tide_status tide_encoder_add_plain(struct tide_encoder *encoder,
                                        struct tide_encoder_lane *lane,
                                        const uint64_t *rows, size_t bytes);
/* Which words stood in the stacks of all that it was given. */
const struct tide_seen_words *tide_encoder_seen(const struct tide_encoder *encoder);
/* What it was given so far. */
const struct tide_totals *tide_encoder_totals(const struct tide_encoder *encoder);
/* The columns of the chunk. */
void tide_encoder_columns(const struct tide_encoder *encoder,
                          struct tide_column_bytes out[TIDE_COLUMNS]);

#endif
