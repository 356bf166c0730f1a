/* view/columns.h - the columns of numbers at the left of every table of the report.
 *
 * For: view/, tests/.  Column widths follow the widest number that will stand there, so
 * they are measured first and printed after.
 */
#ifndef TIDE_VIEW_COLUMNS_H
#define TIDE_VIEW_COLUMNS_H

#include "model/model.h"
#include "view/line.h"

struct tide_columns {
    int bytes, self, count; /* widths; self 0: no such column */
    int bar;                /* 0: no bar */
    const char *count_name; /* "blocks" or "calls" */
    const char *bytes_name,
        *self_name; /* "bytes"; "inclusive" and "self" in any order */
};

/* Columns as wide as their names, for what METRIC counts. */
struct tide_columns tide_columns_of(enum tide_metric metric,
                                    const struct tide_style *style);
struct tide_columns tide_columns_for(const struct tide_rows *rows,
                                     const struct tide_style *style);
/* Make room for these numbers. */
void tide_columns_measure(struct tide_columns *columns, const struct tide_style *style,
                          uint64_t bytes, uint64_t count);

struct tide_columns_values {
    uint64_t bytes, total; /* total: 100 % */
    uint64_t self, count;
    bool faint; /* a line that only sums up */
};
/* The left part of a table's head, and of one of its lines; both end with the gap
 * before the name. */
void tide_columns_head(struct tide_page *page, const struct tide_columns *columns);
void tide_columns_line(struct tide_page *page, const struct tide_columns *columns,
                       const struct tide_columns_values *values);
/* Where the names start. */
int tide_columns_end(const struct tide_columns *columns);

#endif
