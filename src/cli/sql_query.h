/* cli/sql_query.h - tidemark query --sql: the database of `export --to sqlite`, asked.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_SQL_QUERY_H
#define TIDE_CLI_SQL_QUERY_H

#include <stdbool.h>

#include "cli/options.h"

/* Answer SQL about the one trace that ARGUMENTS name; returns the exit status. */
int tide_sql_query(const struct tide_arguments *arguments, const char *sql, bool json);

#endif
