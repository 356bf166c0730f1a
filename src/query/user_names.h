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
    bool regions;              /* never set: its values are names of regions */
};

/* All zeros is none. */
struct tide_user_names {
    struct tide_user_name *list; /* owned, sorted by name */
    size_t count;
    struct tide_trace *const *traces; /* borrowed: where they come from */
    size_t trace_count;
};

/* Those of TRACES, list and all, which must outlive them.  OUT is to be released in any case. */
enum tide_status tide_user_names_gather(struct tide_trace *const *traces, size_t count,
                                        struct tide_user_names *out);
void tide_user_names_release(struct tide_user_names *names);

/* The one called NAME that is set, NULL: none is, or it is hidden. */
const struct tide_user_name *tide_user_names_find(const struct tide_user_names *names,
                                                  const char *name);

/* The one called NAME that is hidden; NULL: there is none. */
const struct tide_user_name *tide_user_names_hidden(const struct tide_user_names *names,
                                                    const char *name);

/* Is there one called NAME that is set, hidden or not? */
bool tide_user_names_has(const struct tide_user_names *names, const char *name);
/* Do the traces name anything so: a loop, a region or a label? */
bool tide_user_names_called(const struct tide_user_names *names, const char *name);
/* Are there regions that are values of the attribute NAME? */
bool tide_user_names_of_regions(const struct tide_user_names *names, const char *name);
/* The one most like NAME of what programs set, or of all that traces name; NULL: none. */
const char *tide_user_names_nearest(const struct tide_user_names *names,
                                    const char *name);
const char *tide_user_names_nearest_called(const struct tide_user_names *names,
                                           const char *name);

/* The type that values of TYPE (enum tide_attribute_type) have in queries. */
enum tide_value_type tide_user_type(uint32_t type);

#endif
