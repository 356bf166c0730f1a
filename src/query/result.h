/* query/result.h - how an answer comes together: sums become cells, rows get an order.
 *
 * For: query/.
 */
#ifndef TIDE_QUERY_RESULT_H
#define TIDE_QUERY_RESULT_H

#include "query/engine.h"
#include "query/group_table.h"

/* Add a row.  ELIMIT: it would be too much memory. */
enum tide_status tide_result_add(struct tide_result *result,
                                 const struct tide_value *cells, size_t budget);
/* Add all rows of FROM, which are about FROM_NAMES. */
enum tide_status tide_result_carry(struct tide_result *result,
                                   const struct tide_result *from,
                                   const struct tide_names *from_names, size_t budget);
/* All rows are there, or all groups in TABLE: HAVING, ORDER BY, LIMIT. */
enum tide_status tide_result_finish(struct tide_result *result,
                                    struct tide_group_table *table);

#endif
