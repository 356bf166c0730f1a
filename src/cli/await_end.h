/* cli/await_end.h - a collector that nobody waited for may be about to end the trace.
 *
 * For: cli/.  With LD_PRELOAD alone the collector ends a trace a moment after the program has
 * ended, and so does who stayed behind for other processes.
 */
#ifndef TIDE_CLI_AWAIT_END_H
#define TIDE_CLI_AWAIT_END_H

#include <stdbool.h>

#include "trace/trace.h"

/* Wait for the collector of TRACE if all of its programs have ended, and say so on a terminal;
 * not for long.  True: it has gone, and the trace is worth opening again. */
bool tide_await_end(const struct tide_trace *trace);

#endif
