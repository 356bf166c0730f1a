/* caliper/common/cali_types.h - Caliper's types and properties, for tidemark: see
 * caliper/cali.h.
 */
#ifndef TIDEMARK_COMPAT_CALI_TYPES_H
#define TIDEMARK_COMPAT_CALI_TYPES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t cali_id_t;
#define CALI_INV_ID UINT64_MAX

typedef enum {
    CALI_TYPE_INV,
    CALI_TYPE_USR,
    CALI_TYPE_INT,
    CALI_TYPE_UINT,
    CALI_TYPE_STRING,
    CALI_TYPE_ADDR,
    CALI_TYPE_DOUBLE,
    CALI_TYPE_BOOL,
    CALI_TYPE_TYPE,
    CALI_TYPE_PTR
} cali_attr_type;
#define CALI_MAXTYPE CALI_TYPE_PTR

typedef enum {
    CALI_ATTR_DEFAULT = 0,
    CALI_ATTR_ASVALUE = 1,
    CALI_ATTR_NOMERGE = 2,
    CALI_ATTR_SCOPE_PROCESS = 12,
    CALI_ATTR_SCOPE_THREAD = 20,
    CALI_ATTR_SCOPE_TASK = 24,
    CALI_ATTR_SKIP_EVENTS = 64,
    CALI_ATTR_HIDDEN = 128,
    CALI_ATTR_NESTED = 256,
    CALI_ATTR_GLOBAL = 512,
    CALI_ATTR_UNALIGNED = 1024,
    CALI_ATTR_AGGREGATABLE = 2048,
    CALI_ATTR_LEVEL_1 = 0x10000,
    CALI_ATTR_LEVEL_2 = 0x20000,
    CALI_ATTR_LEVEL_3 = 0x30000,
    CALI_ATTR_LEVEL_4 = 0x40000,
    CALI_ATTR_LEVEL_5 = 0x50000,
    CALI_ATTR_LEVEL_6 = 0x60000,
    CALI_ATTR_LEVEL_7 = 0x70000
} cali_attr_properties;
#define CALI_ATTR_SCOPE_MASK 60
#define CALI_ATTR_LEVEL_MASK 0x70000

typedef enum {
    CALI_SCOPE_PROCESS = 1,
    CALI_SCOPE_THREAD = 2,
    CALI_SCOPE_TASK = 4,
    CALI_SCOPE_CHANNEL = 8
} cali_context_scope_t;

enum { CALI_CHANNEL_LEAVE_INACTIVE = 1, CALI_CHANNEL_ALLOW_READ_ENV = 2 };
enum { CALI_FLUSH_CLEAR_BUFFERS = 1 };

typedef enum {
    CALI_SUCCESS,
    CALI_EBUSY,
    CALI_ELOCKED,
    CALI_EINV,
    CALI_ETYPE,
    CALI_ESTACK
} cali_err;

/* The word for TYPE, as in files of Caliper. */
static inline const char *cali_type2string(cali_attr_type type)
{
    static const char *const words[] = {"invalid", "usr",    "int",  "uint", "string",
                                        "addr",    "double", "bool", "type", "ptr"};
    return (unsigned)type <= CALI_MAXTYPE ? words[type] : words[0];
}

static inline cali_attr_type cali_string2type(const char *word)
{
    int type = CALI_MAXTYPE;
    while (type > 0 && strcmp(cali_type2string((cali_attr_type)type), word) != 0)
        type--;
    return (cali_attr_type)type;
}

#endif
