/* trace/encode_usual.h - the rows that programs write most: coded fast.
 *
 * For: encode.c.
 */
#ifndef TIDE_TRACE_ENCODE_USUAL_H
#define TIDE_TRACE_ENCODE_USUAL_H

#include "trace/encode.h"
#include "trace/encode_columns.h"
#include "trace/encode_memory.h"
#include "trace/row_hand.h"

/* Put rows as encode.c does, as long as they are of the usual kind; ROW is at the first one
 * that is not, or at the end. */
void tide_encode_usual(struct tide_column_set *columns,
                       struct tide_encoder_memory *memory,
                       struct tide_encoder_lane *lane, struct tide_row_hand *row);

#endif
