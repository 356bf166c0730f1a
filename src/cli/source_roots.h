/* cli/source_roots.h - which folders may have their sources shown.
 *
 * For: cmd_report.c.
 */
#ifndef TIDE_CLI_SOURCE_ROOTS_H
#define TIDE_CLI_SOURCE_ROOTS_H

#include <tidemark/status.h>

#include "cli/options.h"
#include "model/sources.h"
#include "trace/trace.h"

/* Allow SOURCES the folders GIVEN (--source-root), and, unless we are root, those that can
 * be told to be the user's or everybody's without believing TRACE: see tidemark-report(1).
 * -1, or the exit status after it was said that one of GIVEN is no folder. */
int tide_source_roots_allow(struct tide_sources *sources,
                            const struct tide_texts *given,
                            const struct tide_trace *trace);

#endif
