/* cli/completion.h - scripts that complete a command line in a shell.
 *
 * For: cli/ only.  They are made from the tables of options, so that they cannot say
 * anything else.
 */
#ifndef TIDE_CLI_COMPLETION_H
#define TIDE_CLI_COMPLETION_H

#include "base/text.h"
#include "cli/options.h"

void tide_completion_bash(struct tide_text *out);
void tide_completion_zsh(struct tide_text *out);
void tide_completion_fish(struct tide_text *out);

/* Does OPTION take a value? */
bool tide_completion_takes_value(const struct tide_option *option);
/* Its words with blanks between them. */
void tide_completion_words(struct tide_text *out, const struct tide_option *option);

/* Add the first clause of HELP, to stand between single quotes, with a backslash before each
 * byte of SPECIAL. */
void tide_completion_brief(struct tide_text *out, const char *help,
                           const char *special);

#endif
