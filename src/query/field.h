/* query/field.h - take an attribute out of a record.
 *
 * For: query/.
 */
#ifndef TIDE_QUERY_FIELD_H
#define TIDE_QUERY_FIELD_H

#include "query/attribute.h"
#include "query/plan.h"
#include "query/row_record.h"
#include "query/walk.h"

/* The value of ATTRIBUTE in RECORD; none when the row has it not.  Without memory
 * walk->names.failed is set. */
struct tide_value tide_field(struct tide_walk *walk, const struct tide_record *record,
                             enum tide_attribute_id attribute);

/* What a slot of KIND holds; WHOSE is the text of the loop or attribute that it is about.
 */
struct tide_value tide_field_other(struct tide_walk *walk,
                                   const struct tide_record *record,
                                   enum tide_slot_kind kind, uint32_t whose);

/* --- For field*.c --------------------------------------------------------------------- */

/* Of which place ATTRIBUTE speaks; TIDE_NO_PLACE: of none. */
uint32_t tide_field_place(const struct tide_record *record,
                          enum tide_attribute_id attribute);
/* The call that made LIFE. */
struct tide_value tide_field_kind(struct tide_walk *walk, const struct tide_life *life);

#endif
