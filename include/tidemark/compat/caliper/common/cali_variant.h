/* caliper/common/cali_variant.h - a value of any of Caliper's types, for tidemark: see
 * caliper/cali.h.
 *
 * Strings and data of the user are pointed to, not copied.
 */
#ifndef TIDEMARK_COMPAT_CALI_VARIANT_H
#define TIDEMARK_COMPAT_CALI_VARIANT_H

#include <stdbool.h>
#include <stdlib.h>
#include "cali_types.h"

#define CALI_VARIANT_TYPE_MASK 0xFF

typedef struct {
    uint64_t type_and_size; /* low byte: cali_attr_type; high half: bytes pointed to */
    union {
        uint64_t v_uint;
        int64_t v_int;
        bool v_bool;
        double v_double;
        cali_attr_type v_type;
        void *unmanaged_ptr;
        const void *unmanaged_const_ptr;
    } value;
} cali_variant_t;

/* --- Making them ---------------------------------------------------------------------- */

static inline cali_variant_t cali_tide_variant(cali_attr_type type, uint64_t word)
{
    cali_variant_t value;
    value.type_and_size = (uint64_t)type;
    value.value.v_uint = word;
    return value;
}

static inline cali_variant_t cali_make_empty_variant(void)
{
    return cali_tide_variant(CALI_TYPE_INV, 0);
}
static inline cali_variant_t cali_make_variant_from_bool(bool value)
{
    return cali_tide_variant(CALI_TYPE_BOOL, value);
}
static inline cali_variant_t cali_make_variant_from_int64(int64_t value)
{
    return cali_tide_variant(CALI_TYPE_INT, (uint64_t)value);
}
static inline cali_variant_t cali_make_variant_from_int(int value)
{
    return cali_make_variant_from_int64(value);
}
static inline cali_variant_t cali_make_variant_from_uint(uint64_t value)
{
    return cali_tide_variant(CALI_TYPE_UINT, value);
}
static inline cali_variant_t cali_make_variant_from_double(double value)
{
    cali_variant_t made = cali_tide_variant(CALI_TYPE_DOUBLE, 0);
    made.value.v_double = value;
    return made;
}
static inline cali_variant_t cali_make_variant_from_type(cali_attr_type value)
{
    return cali_tide_variant(CALI_TYPE_TYPE, (uint64_t)value);
}
static inline cali_variant_t cali_make_variant_from_ptr(void *value)
{
    return cali_tide_variant(CALI_TYPE_PTR, (uintptr_t)value);
}

/* Of the SIZE bytes at DATA; strings and data of the user stay where they are. */
static inline cali_variant_t cali_make_variant(cali_attr_type type, const void *data,
                                               size_t size)
{
    cali_variant_t made = cali_tide_variant(type, 0);
    int number;
    if (type == CALI_TYPE_STRING || type == CALI_TYPE_USR) {
        made.type_and_size |= (uint64_t)size << 32;
        made.value.unmanaged_const_ptr = data;
    } else if (type == CALI_TYPE_PTR) {
        made.value.unmanaged_const_ptr = data;
    } else if (type == CALI_TYPE_INT && size == sizeof(number)) {
        memcpy(&number, data, sizeof(number));
        made.value.v_int = number;
    } else if (data && size <= sizeof(made.value)) {
        memcpy(&made.value, data, size);
    }
    return made;
}
static inline cali_variant_t cali_make_variant_from_string(const char *value)
{
    return cali_make_variant(CALI_TYPE_STRING, value, value ? strlen(value) : 0);
}

/* --- Looking into them ---------------------------------------------------------------- */

static inline cali_attr_type cali_variant_get_type(cali_variant_t value)
{
    return (cali_attr_type)(value.type_and_size & CALI_VARIANT_TYPE_MASK);
}
static inline bool cali_variant_is_empty(cali_variant_t value)
{
    return cali_variant_get_type(value) == CALI_TYPE_INV;
}
static inline bool cali_tide_points(cali_variant_t value)
{
    return cali_variant_get_type(value) == CALI_TYPE_STRING ||
           cali_variant_get_type(value) == CALI_TYPE_USR;
}
static inline size_t cali_variant_get_size(cali_variant_t value)
{
    static const unsigned char sizes[] = {0, 0, 8, 8, 0, 8, 8, 1, 4, 8};
    const unsigned type = (unsigned)cali_variant_get_type(value);
    if (cali_tide_points(value))
        return (size_t)(value.type_and_size >> 32);
    return type < sizeof(sizes) ? sizes[type] : 0;
}
static inline const void *cali_variant_get_data(const cali_variant_t *value)
{
    return cali_tide_points(*value) ? value->value.unmanaged_const_ptr : &value->value;
}
static inline void *cali_variant_get_ptr(cali_variant_t value)
{
    return cali_variant_get_type(value) == CALI_TYPE_PTR ? value.value.unmanaged_ptr
                                                         : NULL;
}

/* The text of a string that need not end with a zero, in BUFFER of SIZE bytes. */
static inline const char *cali_tide_text(cali_variant_t value, char *buffer,
                                         size_t size)
{
    size_t length = cali_variant_get_size(value);
    if (length > size - 1)
        length = size - 1;
    if (length)
        memcpy(buffer, value.value.unmanaged_const_ptr, length);
    buffer[length] = '\0';
    return buffer;
}

/* --- As a number ---------------------------------------------------------------------- */

/* *OKPTR, if there is one: whether VALUE is a number, or the text of one. */
static inline double cali_variant_to_double(cali_variant_t value, bool *okptr)
{
    char text[64], *end = NULL;
    double number = 0;
    bool ok = true;
    switch ((int)cali_variant_get_type(value)) {
    case CALI_TYPE_DOUBLE:
        number = value.value.v_double;
        break;
    case CALI_TYPE_INT:
        number = (double)value.value.v_int;
        break;
    case CALI_TYPE_STRING:
        number = strtod(cali_tide_text(value, text, sizeof(text)), &end);
        ok = end != text;
        break;
    case CALI_TYPE_UINT:
    case CALI_TYPE_BOOL:
    case CALI_TYPE_ADDR:
        number = (double)value.value.v_uint;
        break;
    default:
        ok = false;
    }
    if (okptr)
        *okptr = ok;
    return number;
}
static inline int64_t cali_variant_to_int64(cali_variant_t value, bool *okptr)
{
    char text[64], *end = NULL;
    int64_t number;
    if (cali_variant_get_type(value) == CALI_TYPE_DOUBLE)
        return (int64_t)cali_variant_to_double(value, okptr);
    if (cali_variant_get_type(value) != CALI_TYPE_STRING) {
        (void)cali_variant_to_double(value, okptr);
        return value.value.v_int;
    }
    number = strtoll(cali_tide_text(value, text, sizeof(text)), &end, 10);
    if (okptr)
        *okptr = end != text;
    return number;
}
static inline int cali_variant_to_int(cali_variant_t value, bool *okptr)
{
    return (int)cali_variant_to_int64(value, okptr);
}
static inline uint64_t cali_variant_to_uint(cali_variant_t value, bool *okptr)
{
    return (uint64_t)cali_variant_to_int64(value, okptr);
}
static inline bool cali_variant_to_bool(cali_variant_t value, bool *okptr)
{
    char text[8];
    const bool is_text = cali_variant_get_type(value) == CALI_TYPE_STRING;
    if (is_text && strcmp(cali_tide_text(value, text, sizeof(text)), "true") == 0) {
        if (okptr)
            *okptr = true;
        return true;
    }
    return cali_variant_to_int64(value, okptr) != 0;
}
static inline cali_attr_type cali_variant_to_type(cali_variant_t value, bool *okptr)
{
    const bool ok = cali_variant_get_type(value) == CALI_TYPE_TYPE;
    if (okptr)
        *okptr = ok;
    return ok ? value.value.v_type : CALI_TYPE_INV;
}

/* --- Comparing ------------------------------------------------------------------------ */

static inline int cali_variant_compare(cali_variant_t one, cali_variant_t other)
{
    const int types =
        (int)cali_variant_get_type(one) - (int)cali_variant_get_type(other);
    const size_t size = cali_variant_get_size(one), more = cali_variant_get_size(other);
    int order;
    if (types)
        return types;
    if (cali_variant_get_type(one) == CALI_TYPE_DOUBLE)
        return (one.value.v_double > other.value.v_double) -
               (one.value.v_double < other.value.v_double);
    if (cali_variant_get_type(one) == CALI_TYPE_INT)
        return (one.value.v_int > other.value.v_int) -
               (one.value.v_int < other.value.v_int);
    if (!cali_tide_points(one))
        return (one.value.v_uint > other.value.v_uint) -
               (one.value.v_uint < other.value.v_uint);
    order = memcmp(cali_variant_get_data(&one), cali_variant_get_data(&other),
                   size < more ? size : more);
    return order ? order : (size > more) - (size < more);
}
static inline bool cali_variant_eq(cali_variant_t one, cali_variant_t other)
{
    return cali_variant_compare(one, other) == 0;
}

/* --- As bytes: of this process only ----------------------------------------------------- */

enum { CALI_TIDE_PACKED = 14 }; /* the most that one takes */

static inline size_t cali_variant_pack(cali_variant_t value, unsigned char *bytes)
{
    const size_t size = cali_variant_get_size(value);
    bytes[0] = (unsigned char)cali_variant_get_type(value);
    memcpy(bytes + 1, &value.value, sizeof(value.value));
    if (!cali_tide_points(value))
        return 1 + sizeof(value.value);
    if (size < 255) {
        bytes[9] = (unsigned char)size;
        return 10;
    }
    bytes[9] = 255;
    bytes[10] = (unsigned char)size;
    bytes[11] = (unsigned char)(size >> 8);
    bytes[12] = (unsigned char)(size >> 16);
    bytes[13] = (unsigned char)(size >> 24);
    return 14;
}
static inline cali_variant_t cali_variant_unpack(const unsigned char *bytes,
                                                 size_t *taken, bool *okptr)
{
    cali_variant_t value = cali_tide_variant((cali_attr_type)bytes[0], 0);
    size_t length = 1 + sizeof(value.value);
    uint64_t size = 0;
    memcpy(&value.value, bytes + 1, sizeof(value.value));
    if (cali_tide_points(value)) {
        size = bytes[9];
        length = 10;
        if (size == 255) {
            size = bytes[10] | (uint64_t)bytes[11] << 8 | (uint64_t)bytes[12] << 16 |
                   (uint64_t)bytes[13] << 24;
            length = 14;
        }
        value.type_and_size |= size << 32;
    }
    if (taken)
        *taken += length;
    if (okptr)
        *okptr = bytes[0] <= CALI_MAXTYPE;
    return value;
}

#endif
