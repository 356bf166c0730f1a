/* model/other_builds.h - which modules of a trace are other files today.
 *
 * For: cli/, tests/.  Who symbolizes a model finds out by the way; `info` asks nobody for names.
 */
#ifndef TIDE_MODEL_OTHER_BUILDS_H
#define TIDE_MODEL_OTHER_BUILDS_H

#include "trace/trace.h"

/* Mark the modules of TRACE whose file is another one today, and of which the trace brings no
 * names.  A file that has its size and time is not opened. */
void tide_find_other_builds(struct tide_trace *trace);

#endif
