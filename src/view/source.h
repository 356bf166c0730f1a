/* view/source.h - lines of source beside the rows of a report.
 *
 * For: view/, tests/.
 */
#ifndef TIDE_VIEW_SOURCE_H
#define TIDE_VIEW_SOURCE_H

#include <stdint.h>

#include "model/sources.h"
#include "view/json.h"
#include "view/line.h"

/* The lines around LINE of FILE (NULL: nothing is said), or why there are none.  Nothing,
 * unless the page has sources. */
void tide_page_source(struct tide_page *page, const char *file, uint32_t line);

/* The same as member "source" of the object that is open; nothing without SOURCES. */
void tide_json_source(struct tide_json *json, struct tide_sources *sources,
                      const char *file, uint32_t line);

#endif
