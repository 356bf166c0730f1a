/* view/passage_text.h - where blocks are made and freed, in `tidemark report --flow`.
 *
 * For: view/, cli/, tests/.
 */
#ifndef TIDE_VIEW_PASSAGE_TEXT_H
#define TIDE_VIEW_PASSAGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "model/passages.h"
#include "view/json.h"
#include "view/line.h"
#include "view/report_json.h"

/* At most LIMIT pairs (0: all); PASSAGES NULL: the trace does not know them, and how it
 * would is said.  FOLD: library functions are not shown. */
void tide_view_passages(struct tide_page *page, const struct tide_model *model,
                        const struct tide_passages *passages, size_t limit, bool fold);

/* The member "sites" of what is open: null when the trace does not know them. */
void tide_json_passages(struct tide_json *json, const struct tide_report_json *report);

#endif
