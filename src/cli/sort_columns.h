/* cli/sort_columns.h - which columns the tables of a report can be sorted by.
 *
 * For: cli/ only.
 */
#ifndef TIDE_CLI_SORT_COLUMNS_H
#define TIDE_CLI_SORT_COLUMNS_H

#include "model/model.h"
#include "view/report_json.h"

/* The column WORD of a table of SHAPE; false when it has none of that name. */
bool tide_sort_find(enum tide_shape shape, const char *word, enum tide_sort *out);
/* The columns of such tables: "bytes, calls, name"; NULL: they have an order of their own. */
const char *tide_sort_words(enum tide_shape shape);

#endif
