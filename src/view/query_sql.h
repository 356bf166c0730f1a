/* view/query_sql.h - ask the database that `export --to sqlite` makes.
 *
 * For: view/, cli/.
 */
#ifndef TIDE_VIEW_QUERY_SQL_H
#define TIDE_VIEW_QUERY_SQL_H

#include <stdbool.h>

#include <tidemark/status.h>

#include "base/text.h"

/* Add the answer of SQL, one statement, on the database at PATH: a table, in lines of
 * ROOM columns unless that is 0, or JSON.  EUSAGE: WHY has SQLite's words for what is wrong. */
enum tide_status tide_query_sql(const char *path, const char *sql, bool json, int room,
                                struct tide_text *out, struct tide_text *why);

#endif
