/* cli/query_text.h - a query that stands in a file.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_QUERY_TEXT_H
#define TIDE_CLI_QUERY_TEXT_H

#include "base/text.h"

/* Add what is in the file NAME ("-": standard input) to OUT.  -1, or the exit status
 * after what is wrong was said. */
int tide_query_read(const char *name, struct tide_text *out);

#endif
