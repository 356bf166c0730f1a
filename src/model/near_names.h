/* model/near_names.h - which functions of a trace were probably meant.
 *
 * For: model/, tests/.
 */
#ifndef TIDE_MODEL_NEAR_NAMES_H
#define TIDE_MODEL_NEAR_NAMES_H

#include "base/text.h"
#include "model/path.h"

/* Add the names, three at most and nearest first, of functions that PATHS have met and
 * that are like WANTED: "solve, solver or resolve"; nothing when none is. */
enum tide_status tide_near_names(struct tide_paths *paths, const char *wanted,
                                 struct tide_text *out);

#endif
