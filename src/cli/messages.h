/* cli/messages.h - what the program says about itself: help texts.
 *
 * For: cli/ only.  Failures: see command.h.
 */
#ifndef TIDE_CLI_MESSAGES_H
#define TIDE_CLI_MESSAGES_H

#include <stdbool.h>

#include "cli/command.h"

/* Print the help of COMMAND on stdout; rare options only when ALL is true. */
void tide_print_help(const struct tide_command *command, bool all);

#endif
