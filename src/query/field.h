/* query/field.h - take an attribute out of a record.
 *
 * For: query/.
 */
#ifndef TIDE_QUERY_FIELD_H
#define TIDE_QUERY_FIELD_H

#include "query/attribute.h"
#include "query/row_record.h"
#include "query/walk.h"

/* The value of ATTRIBUTE in RECORD; none when the row has it not.  Without memory
 * walk->names.failed is set. */
struct tide_value tide_field(struct tide_walk *walk, const struct tide_record *record,
                             enum tide_attribute_id attribute);

/* iteration#LOOP: the iteration of that loop. */
struct tide_value tide_field_iteration(struct tide_walk *walk,
                                       const struct tide_record *record,
                                       const char *loop);

#endif
