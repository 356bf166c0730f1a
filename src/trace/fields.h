/* trace/fields.h - the fields of a chunk's records, wherever they stand.
 *
 * For: decode*.c, lane_in.c, tests/.  By columns every kind of field has a cursor of its own;
 * in plain records one cursor gives them all.
 */
#ifndef TIDE_TRACE_FIELDS_H
#define TIDE_TRACE_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/cursor.h"
#include "trace/format.h"

/* By columns, so many bytes after the last column can be read, whatever they hold. */
enum { TIDE_COLUMN_SLACK = 16 };

struct tide_fields {
    struct tide_cursor at[TIDE_COLUMNS]; /* only [0] without columns */
    bool columns;
    bool counted;        /* by columns: until_time is known */
    uint64_t until_time; /* records before the next TIME of the column of TIMES */
};

/* LENGTH bytes of records. */
static inline struct tide_fields tide_fields_over(const uint8_t *bytes, size_t length)
{
    return (struct tide_fields){.at = {tide_cursor_over(bytes, length)}};
}

static inline struct tide_cursor *tide_field(struct tide_fields *fields,
                                             enum tide_column column)
{
    return &fields->at[fields->columns ? column : 0];
}

static inline uint64_t tide_field_varint(struct tide_fields *fields,
                                         enum tide_column column)
{
    return tide_cursor_varint(tide_field(fields, column));
}

/* So many records stand before the next TIME that is not among them. */
static inline uint64_t tide_fields_until_time(struct tide_fields *fields)
{
    struct tide_cursor *const times = &fields->at[TIDE_COLUMN_TIMES];
    if (!fields->counted) {
        fields->counted = true;
        fields->until_time = fields->columns && tide_cursor_left(times) > 0
                                 ? tide_cursor_varint(times)
                                 : UINT64_MAX;
    }
    return fields->until_time;
}

static inline bool tide_fields_failed(const struct tide_fields *fields)
{
    bool failed = false;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        failed |= fields->at[i].failed;
    return failed;
}

/* No record is left: is no field left either? */
static inline bool tide_fields_empty(const struct tide_fields *fields)
{
    size_t left = 0;
    for (unsigned i = 0; i < TIDE_COLUMNS; i++)
        left += tide_cursor_left(&fields->at[i]);
    return left == 0;
}

#endif
