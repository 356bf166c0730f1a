/* cli/fetch_names.h - names from servers, when they were asked for.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_FETCH_NAMES_H
#define TIDE_CLI_FETCH_NAMES_H

#include "cli/command.h"
#include "symbol/debuginfod.h"

/* Get ready for --debuginfod; -1, or the exit status after what is wrong was said. */
int tide_fetch_begin(struct tide_debuginfod **out);
/* Say when no server answered, and give it back.  NULL is fine. */
void tide_fetch_end(struct tide_debuginfod *debuginfod);

#endif
