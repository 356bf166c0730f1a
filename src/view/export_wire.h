/* view/export_wire.h - protobuf's wire format: fields with numbers, varints and lengths.
 *
 * For: view/, tests/.  A message is built in a text of its own and added to the one it is
 * a field of.  Fields that are 0 are left out, as proto3 wants it.
 */
#ifndef TIDE_VIEW_EXPORT_WIRE_H
#define TIDE_VIEW_EXPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* VALUE alone, 7 bits a byte, lowest first: what packed lists are made of. */
void tide_wire_varint(struct tide_text *out, uint64_t value);
void tide_wire_uint(struct tide_text *out, unsigned field, uint64_t value);
void tide_wire_bytes(struct tide_text *out, unsigned field, const char *bytes,
                     size_t length);
/* Add PART as a field of OUT, and clear it. */
void tide_wire_part(struct tide_text *out, unsigned field, struct tide_text *part);

#endif
