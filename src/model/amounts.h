/* model/amounts.h - sizes and counts in the sentences of findings and cautions.
 *
 * For: model/, tests/.  These sentences stand in JSON as well, so they do not follow the
 * units and the style that a view was asked for.
 */
#ifndef TIDE_MODEL_AMOUNTS_H
#define TIDE_MODEL_AMOUNTS_H

#include <stdint.h>

#include "base/text.h"

/* Add BYTES: "1 byte", "1.5 MiB". */
void tide_add_bytes(struct tide_text *text, double bytes);
/* Add COUNT: "1,234,567". */
void tide_add_number(struct tide_text *text, uint64_t count);
/* Add COUNT and what is counted: "1,234,567 blocks". */
void tide_add_count(struct tide_text *text, uint64_t count, const char *thing);

#endif
