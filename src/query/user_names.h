/* query/user_names.h - attributes that the programs of some traces set.
 *
 * For: query/, view/, cli/, tests/.
 */
#ifndef TIDE_QUERY_USER_NAMES_H
#define TIDE_QUERY_USER_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/attribute.h"
#include "trace/trace.h"

struct tide_user_name {
    const char *name;          /* borrowed of a trace */
    enum tide_value_type type; /* NONE: several */
    bool hidden;               /* the table has an attribute of this name: it counts */
};

/* All zeros is none. */
struct tide_user_names {
    struct tide_user_name *list; /* owned, sorted by name */
    size_t count;
};

/* Those of TRACES, which must outlive them.  OUT is to be released in any case. */
enum tide_status tide_user_names_gather(struct tide_trace *const *traces, size_t count,
                                        struct tide_user_names *out);
void tide_user_names_release(struct tide_user_names *names);

/* The one called NAME, NULL: none is, or it is hidden. */
const struct tide_user_name *tide_user_names_find(const struct tide_user_names *names,
                                                  const char *name);

/* The type that values of TYPE (enum tide_attribute_type) have in queries. */
enum tide_value_type tide_user_type(uint32_t type);

#endif
