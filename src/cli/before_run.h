/* cli/before_run.h - what run looks at before it starts a program.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_BEFORE_RUN_H
#define TIDE_CLI_BEFORE_RUN_H

#include <stdbool.h>

#include "base/text.h"
#include "collect/checks.h"

enum {
    TIDE_EXIT_NOT_STARTED = 126, /* as a shell says it */
    TIDE_EXIT_NOT_FOUND = 127,
};

/* The exit status for a program that exec refuses with the errno PROBLEM. */
int tide_exit_of_problem(int problem);

/* Ends with tide_before_run_release(). */
struct tide_before_run {
    struct tide_checks checks;
    const char **troubles; /* lines for the trace; ends in NULL */
};

/* Look at PROGRAM.  Returns -1 when it shall be started, else the exit status: why not
 * was said.  FORCE starts it whatever is found; QUIET keeps warnings from the screen. */
int tide_before_run(const char *program, bool force, bool quiet,
                    struct tide_before_run *out);
void tide_before_run_release(struct tide_before_run *before);

#endif
