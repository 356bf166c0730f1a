/* query/value.h - one cell: a typed value, and the names that values refer to.
 *
 * For: query/, view/, tests/.  Strings and paths are numbers into a name table, so that
 * values compare, hash and group as two words.
 */
#ifndef TIDE_QUERY_VALUE_H
#define TIDE_QUERY_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "base/arena.h"
#include "base/text.h"
#include "model/intern.h"
#include "model/pairs.h"

enum tide_value_type {
    TIDE_VALUE_NONE, /* the row does not have the attribute */
    TIDE_VALUE_BOOL,
    TIDE_VALUE_INT,
    TIDE_VALUE_UINT,
    TIDE_VALUE_REAL,
    TIDE_VALUE_ADDRESS,
    TIDE_VALUE_STRING, /* id: a text of the name table */
    TIDE_VALUE_PATH,   /* id: a path of the name table, never 0 */
    TIDE_VALUE_TYPES,
};

struct tide_value {
    uint64_t type; /* enum tide_value_type */
    union {
        int64_t integer;
        uint64_t word; /* UINT, ADDRESS, BOOL; and all of it, to hash and to compare */
        double real;
        uint64_t id;
    };
};

static inline struct tide_value tide_value_none(void)
{
    return (struct tide_value){.type = TIDE_VALUE_NONE, .word = 0};
}

static inline struct tide_value tide_value_uint(uint64_t value)
{
    return (struct tide_value){.type = TIDE_VALUE_UINT, .word = value};
}

static inline struct tide_value tide_value_int(int64_t value)
{
    return (struct tide_value){.type = TIDE_VALUE_INT, .integer = value};
}

/* Both zeros are one; what is too large, or no number at all, is absent. */
static inline struct tide_value tide_value_real(double value)
{
    const bool known = __builtin_isfinite(value);
    return (struct tide_value){.type = known ? TIDE_VALUE_REAL : TIDE_VALUE_NONE,
                               .real = known ? value + 0.0 : 0.0};
}

/* Ids are never 0; 0 makes no value. */
static inline struct tide_value tide_value_string(uint32_t id)
{
    return (struct tide_value){.type = id ? TIDE_VALUE_STRING : TIDE_VALUE_NONE,
                               .id = id};
}

static inline struct tide_value tide_value_path(uint32_t id)
{
    return (struct tide_value){.type = id ? TIDE_VALUE_PATH : TIDE_VALUE_NONE,
                               .id = id};
}

/* True, or no value: conditions ask for presence. */
static inline struct tide_value tide_value_flag(bool flag)
{
    return (struct tide_value){.type = flag ? TIDE_VALUE_BOOL : TIDE_VALUE_NONE,
                               .word = flag};
}

static inline bool tide_value_is_number(struct tide_value value)
{
    return value.type >= TIDE_VALUE_BOOL && value.type <= TIDE_VALUE_ADDRESS;
}

/* A number as a real one; 0 for what is none. */
double tide_value_as_real(struct tide_value value);

/* --- Names ------------------------------------------------------------------------ */

/* Texts and paths, by number.  All zeros is ready for use. */
struct tide_names {
    struct tide_arena arena;
    struct tide_intern interned;
    struct tide_pairs texts; /* (string, 0): number + 1 is the id */
    const char **strings;    /* owned: of each text, in the arena */
    size_t string_capacity;
    struct tide_pairs nodes; /* (path around it, text id): number + 1 is the id */
    bool failed;             /* memory ran out: ids are 0 from then on */
};

void tide_names_release(struct tide_names *names);
/* The id of TEXT; 0 for NULL and without memory. */
uint32_t tide_names_text(struct tide_names *names, const char *text);
/* The id of the path TEXT inside PARENT (0: outermost). */
uint32_t tide_names_node(struct tide_names *names, uint32_t parent, uint32_t text);
/* The string of a text; "" for 0. */
const char *tide_names_string(const struct tide_names *names, uint64_t text);
/* The path around PATH, 0 when there is none; its innermost text. */
uint32_t tide_names_parent(const struct tide_names *names, uint64_t path);
uint32_t tide_names_leaf(const struct tide_names *names, uint64_t path);
uint32_t tide_names_depth(const struct tide_names *names, uint64_t path);
/* Add the whole PATH: "main/solve". */
void tide_names_path(const struct tide_names *names, uint64_t path,
                     struct tide_text *out);

/* VALUE, which refers to FROM, as one that refers to TO. */
struct tide_value tide_value_carry(struct tide_value value,
                                   const struct tide_names *from,
                                   struct tide_names *to);

/* Less than 0, 0, or more: numbers by size, strings and paths by their bytes; what is
 * absent comes first, numbers before strings. */
int tide_value_compare(struct tide_value one, struct tide_value other,
                       const struct tide_names *names);

/* VALUE as Caliper writes it: reals with 6 digits after the point, addresses in
 * hexadecimal without 0x, paths as a/b/c; nothing for what is absent. */
void tide_value_text(struct tide_value value, const struct tide_names *names,
                     struct tide_text *out);

#endif
