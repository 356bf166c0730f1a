/* model/suppress_known.h - what the libraries of every program keep on purpose, once.
 *
 * For: suppress.c, tests/.
 */
#ifndef TIDE_MODEL_SUPPRESS_KNOWN_H
#define TIDE_MODEL_SUPPRESS_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"
#include "model/path.h"

/* What the path at hand is in the built-in list; NULL: it is not there. */
const char *tide_suppression_known(const struct tide_paths *paths);

/* Is what SITE never freed still growing?  Then it is not kept once. */
bool tide_site_grows(const struct tide_model *model, uint32_t site);

#endif
