/* unit/split_records.h - records by columns, for tests of whatever reads columns.
 *
 * Takes apart what trace_builder.c wrote, by the layout in trace/format.h; shares no code
 * with trace/encode.c.
 */
#ifndef TIDE_UNIT_SPLIT_RECORDS_H
#define TIDE_UNIT_SPLIT_RECORDS_H

#include <stdint.h>

#include "trace/fields.h"
#include "trace_builder.h"

/* The columns of RECORDS, in MEMORY, which has room for twice as many bytes and
 * TIDE_COLUMN_SLACK more. */
struct tide_fields tide_split_records(const struct tide_buffer *records,
                                      uint8_t *memory);

#endif
