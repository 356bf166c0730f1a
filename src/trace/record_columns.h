/* trace/record_columns.h - the records of a lane, taken apart by field and put together again.
 *
 * For: trace/, tests/.  In a record all kinds of bytes stand side by side, and a
 * compressor that looks at bytes sees noise.  By columns, all tags, then all sizes and so
 * on, it sees what they have in common: traces become nearly half as large.  Nothing of
 * the coder's state is needed for it, only the layout of records in format.h.
 */
#ifndef TIDE_TRACE_RECORD_COLUMNS_H
#define TIDE_TRACE_RECORD_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format.h"

/* Columns in memory: each has room for as many bytes as all the records. */
struct tide_columns {
    uint8_t *bytes[TIDE_COLUMNS]; /* borrowed */
    size_t length[TIDE_COLUMNS];
};

/* Take LENGTH bytes of whole records at ROWS apart; each column of OUT has room for as
 * many.  False: these are no records. */
bool tide_columns_split(const uint8_t *rows, size_t length, struct tide_columns *out);

/* Put COLUMNS together: exactly LENGTH bytes at ROWS.  False when they do not make so many. */
bool tide_columns_join(const struct tide_columns *columns, uint8_t *rows,
                       size_t length);

/* The most bytes a payload takes in the file. */
#define TIDE_STORED_MAX \
    (TIDE_CHUNK_MAX + TIDE_CHUNK_MAX / 128 + TIDE_COLUMNS * 64u + 4096u)

#endif
