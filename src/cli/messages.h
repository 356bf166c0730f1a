/* cli/messages.h - what the program says about itself: help texts.
 *
 * For: cli/ only.  Failures: see command.h.
 */
#ifndef TIDE_CLI_MESSAGES_H
#define TIDE_CLI_MESSAGES_H

#include "cli/command.h"

struct tide_option;

/* Print the help of COMMAND on stdout, with the options of two TABLES; rare ones only when
 * ALL is true. */
void tide_print_help(const struct tide_command *command,
                     const struct tide_option *const tables[2], bool all);

#endif
