/* query/seen_marks.h - what the programs of some traces mark: loops, and kinds of regions.
 *
 * For: query/.  "*" and exports have a column for each; to know them takes a look at all
 * events.
 */
#ifndef TIDE_QUERY_SEEN_MARKS_H
#define TIDE_QUERY_SEEN_MARKS_H

#include <stddef.h>

#include <tidemark/status.h>

#include "trace/trace.h"

struct tide_name_list {
    const char **list; /* owned; names are borrowed of the traces */
    size_t count, capacity;
};

/* All zeros is none. */
struct tide_seen_marks {
    struct tide_name_list loops; /* that iterate, as they first came */
    struct tide_name_list kinds; /* of regions: "function", "loop", ... */
};

/* Those of COUNT TRACES.  OUT is to be released in any case. */
enum tide_status tide_seen_marks_find(struct tide_trace *const *traces, size_t count,
                                      struct tide_seen_marks *out);
void tide_seen_marks_release(struct tide_seen_marks *marks);

#endif
