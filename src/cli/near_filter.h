/* cli/near_filter.h - a rank, region, process, thread or label was asked for that is not
 * there.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_NEAR_FILTER_H
#define TIDE_CLI_NEAR_FILTER_H

#include <tidemark/status.h>

#include "model/model.h"

/* For each part of FILTER that no block of MODEL is of: say so, and what was probably meant
 * or which there are. */
enum tide_status tide_say_near_filter(const struct tide_model *model,
                                      const struct tide_filter *filter);

#endif
