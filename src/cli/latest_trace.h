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

/* The trace in the folder of PATH, which is not there, whose name is most like it, for the
 * caller to free; NULL: none is like it. */
char *tide_near_trace(const char *path);

#endif
