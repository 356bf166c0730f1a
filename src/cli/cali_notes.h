/* cli/cali_notes.h - what `run` does not do with Caliper's variables.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_CALI_NOTES_H
#define TIDE_CLI_CALI_NOTES_H

#include <stdbool.h>

/* Is SERVICE in the LIST, with commas, colons or parentheses (NULL: empty)? */
bool tide_cali_enabled(const char *list, const char *service);

/* Say, a line each, which of them are set and not followed.  ASKED: there is a --query. */
void tide_cali_notes(bool asked);

#endif
