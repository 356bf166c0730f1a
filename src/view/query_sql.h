/* view/query_sql.h - ask the database that `export --to sqlite` makes.
 *
 * For: view/, cli/.
 */
#ifndef TIDE_VIEW_QUERY_SQL_H
#define TIDE_VIEW_QUERY_SQL_H

#include <stdbool.h>

#include <tidemark/status.h>

#include "base/text.h"

struct tide_sql_form {
    bool json; /* or a table */
    int room;  /* columns of its lines; 0: as many as it takes */
};

/* Add the answer of SQL, one statement, on the database at PATH.  EUSAGE: WHY has SQLite's
 * words for what is wrong. */
enum tide_status tide_query_sql(const char *path, const char *sql,
                                struct tide_sql_form form, struct tide_text *out,
                                struct tide_text *why);

#endif
