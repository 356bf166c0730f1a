/* view/gprof.h - functions by rank with callers and callees, as text and data.
 *
 * For: view/, cli/, tests/.
 */
#ifndef TIDE_VIEW_GPROF_H
#define TIDE_VIEW_GPROF_H

#include <stdbool.h>
#include <stddef.h>

#include "model/model.h"
#include "model/profile.h"
#include "view/json.h"
#include "view/line.h"

/* "MEM_TOTAL": as IgProf calls it.  LARGEST: the largest blocks. */
const char *tide_counter_name(enum tide_metric metric, bool largest);

/* PROFILE as igprof-analyse prints it, below a heading that says what it is of; at most
 * LIMIT rows of each list (0: as there). */
void tide_view_gprof(struct tide_page *page, const struct tide_model *model,
                     const struct tide_profile *profile, size_t limit);

/* The same as members of the array that is open. */
void tide_json_profile(struct tide_json *json, const struct tide_profile *profile,
                       size_t limit);

#endif
