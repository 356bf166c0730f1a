/* view/info_parts.h - parts of `tidemark info` that have files of their own.
 *
 * For: view/info_*.c.
 */
#ifndef TIDE_VIEW_INFO_PARTS_H
#define TIDE_VIEW_INFO_PARTS_H

#include "trace/trace.h"
#include "view/json.h"
#include "view/line.h"

/* The programs that were not recorded; nothing when there are none. */
void tide_info_unrecorded(struct tide_page *page, const struct tide_trace *trace);
void tide_info_json_unrecorded(struct tide_json *json, const struct tide_trace *trace);

#endif
