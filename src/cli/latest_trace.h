/* cli/latest_trace.h - which trace is meant when none is named.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_LATEST_TRACE_H
#define TIDE_CLI_LATEST_TRACE_H

#include <tidemark/status.h>

/* The name of the newest *.tide in FOLDER ("." for the current one), with FOLDER in
 * front unless it is ".".  The caller frees *OUT.  TIDE_ENOENT when there is none. */
enum tide_status tide_latest_trace(const char *folder, char **out);

#endif
