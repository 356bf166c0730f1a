/* view/info_parts.h - parts of `tidemark info` that have files of their own.
 *
 * For: view/info_*.c.
 */
#ifndef TIDE_VIEW_INFO_PARTS_H
#define TIDE_VIEW_INFO_PARTS_H

#include "trace/trace.h"
#include "view/cells.h"
#include "view/json.h"
#include "view/line.h"

enum { TIDE_INFO_ROWS = 20 }; /* of a table, unless all are asked for */

/* COUNT more rows of the table of CELLS are not shown; 0: nothing. */
void tide_info_more(struct tide_page *page, const struct tide_cells *cells,
                    size_t count);

/* The programs that were not recorded; nothing when there are none. */
void tide_info_unrecorded(struct tide_page *page, const struct tide_trace *trace,
                          bool all);
void tide_info_json_unrecorded(struct tide_json *json, const struct tide_trace *trace);

#endif
