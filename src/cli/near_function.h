/* cli/near_function.h - a function was asked for that is not there.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_NEAR_FUNCTION_H
#define TIDE_CLI_NEAR_FUNCTION_H

#include <tidemark/status.h>

#include "model/model.h"

/* Say so when no function on a stack of MODEL, whose names are known, is what PATTERN (see
 * model/pattern.h; NULL: nothing was asked for) means, and what was probably meant. */
enum tide_status tide_say_near_function(const struct tide_model *model,
                                        const char *pattern);

#endif
