/* cli/suppression_file.h - read a file of suppressions.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_SUPPRESSION_FILE_H
#define TIDE_CLI_SUPPRESSION_FILE_H

#include <stdbool.h>

#include "model/suppress.h"

/* Read the file NAME (NULL: none) into OUT, with the built-in list or WITHOUT it.  Returns
 * -1, or the exit status after what is wrong was said.  In either case OUT is to be
 * released. */
int tide_suppression_file(const char *name, bool without_built_in,
                          struct tide_suppressions *out);

#endif
