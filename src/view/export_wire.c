/* view/export_wire.c - protobuf's wire format: fields with numbers, varints and lengths. */
#include "view/export_wire.h"

enum {
    TIDE_WIRE_VARINT = 0,
    TIDE_WIRE_LENGTH = 2,
    TIDE_WIRE_KIND_BITS = 3,
    TIDE_WIRE_VARINT_MAX = 10,
};

void tide_wire_varint(struct tide_text *out, uint64_t value)
{
    char bytes[TIDE_WIRE_VARINT_MAX];
    size_t length = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[length++] = (char)(value | 0x80);
    bytes[length++] = (char)value;
    tide_text_add_bytes(out, bytes, length);
}

static void add_key(struct tide_text *out, unsigned field, unsigned kind)
{
    tide_wire_varint(out, (uint64_t)field << TIDE_WIRE_KIND_BITS | kind);
}

void tide_wire_uint(struct tide_text *out, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    add_key(out, field, TIDE_WIRE_VARINT);
    tide_wire_varint(out, value);
}

void tide_wire_bytes(struct tide_text *out, unsigned field, const char *bytes,
                     size_t length)
{
    add_key(out, field, TIDE_WIRE_LENGTH);
    tide_wire_varint(out, length);
    tide_text_add_bytes(out, bytes, length);
}

void tide_wire_part(struct tide_text *out, unsigned field, struct tide_text *part)
{
    if (part->failed)
        out->failed = true;
    tide_wire_bytes(out, field, part->length ? part->bytes : "", part->length);
    tide_text_clear(part);
}
