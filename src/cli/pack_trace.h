/* cli/pack_trace.h - put the names of all frames into a trace.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_PACK_TRACE_H
#define TIDE_CLI_PACK_TRACE_H

#include <stdbool.h>

#include "cli/open_trace.h"

/* Name all frames of OPENED and write it with their names to OUT; NULL: in its own place.
 * SAY: what was done, on stderr.  Returns the exit status; what is wrong was said. */
int tide_pack_trace(struct tide_opened *opened, const char *out, bool say);

#endif
