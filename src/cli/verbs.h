/* cli/verbs.h - the verbs, and the words that could be taken for one.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_VERBS_H
#define TIDE_CLI_VERBS_H

#include "cli/command.h"

/* Every verb, also those that are not for people; ends in NULL. */
extern const struct tide_command *const tide_verbs[];

/* The verb NAME; NULL: there is none. */
const struct tide_command *tide_verb_find(const char *name);

/* What of tidemark was probably meant by WORD, which is neither a verb nor a program: a
 * verb, maybe with an option; NULL: nothing is like it. */
const char *tide_verb_nearest(const char *word);

/* May WORD, the first of a command line, be taken for the program to record?  Returns -1
 * when it may.  A word that is or will be a verb, or nearly one, names a program only after
 * `run`: then what to type is said, and the result is the exit status. */
int tide_verb_refuse(const char *word);

#endif
