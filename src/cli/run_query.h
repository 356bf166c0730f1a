/* cli/run_query.h - from the text of a query to its answer on a descriptor.
 *
 * For: cli/ only: query, run --query, export.
 */
#ifndef TIDE_CLI_RUN_QUERY_H
#define TIDE_CLI_RUN_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/attribute.h"
#include "view/query_view.h"

struct tide_query_request {
    const char *text; /* of the query */
    size_t length;
    char **traces; /* names; count 0: the newest of this folder */
    int trace_count;
    int fd;                                 /* where the answer goes */
    const struct tide_query_format *format; /* NULL: as the query says */
    bool labelled_only;                     /* only labelled blocks make rows */
    bool show_users;                        /* what programs set is shown as well */
    bool explain;                           /* say what would be done, and do not */
    uint64_t budget;                        /* bytes for groups and rows; 0: no limit */
    uint64_t threads;                       /* 0: as many as there are cores */
};

/* Answer it; returns the exit status, after what is wrong was said. */
int tide_run_query(const struct tide_query_request *request);

/* Is the query right?  -1, or the exit status after what is wrong was said. */
int tide_check_query(const char *text, size_t length, bool labelled_only);

/* List the attributes of SOURCE with the number of rows that have them. */
int tide_list_attributes(const struct tide_query_request *request,
                         enum tide_query_source source, bool json);

#endif
