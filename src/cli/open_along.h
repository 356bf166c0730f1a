/* cli/open_along.h - a trace whose moments are counted in bytes or events.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_OPEN_ALONG_H
#define TIDE_CLI_OPEN_ALONG_H

#include "cli/open_trace.h"

/* Where on an axis to begin and to end; negative: not said. */
struct tide_along {
    enum tide_axis axis;
    double from, until;
};

/* As tide_open_trace_with(), and then once more along the axis, since its length is known
 * only after a first walk. */
int tide_open_along(const struct tide_command *command,
                    const struct tide_arguments *arguments,
                    const struct tide_model_options *options,
                    const struct tide_along *along, struct tide_opened *out);

#endif
