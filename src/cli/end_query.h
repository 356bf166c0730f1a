/* cli/end_query.h - a query that is answered when the program has ended.
 *
 * For: cli/ only: run --query, and the variables with which Caliper's users ask:
 *
 *     CALI_SERVICES_ENABLE  a list of services, with report; without sysalloc only
 *                           labelled blocks make rows
 *     CALI_REPORT_CONFIG    the query
 *     CALI_REPORT_FILENAME  stdout (default), stderr, or a file
 *     CALI_CONFIG           of its recipes the option alloc.stats
 */
#ifndef TIDE_CLI_END_QUERY_H
#define TIDE_CLI_END_QUERY_H

#include <stdbool.h>

struct tide_end_query {
    const char *text;  /* borrowed; NULL: none */
    const char *where; /* borrowed; NULL: standard output */
    bool labelled_only;
};

/* What is to be asked: TEXT, or, when that is NULL, what the environment says.  A query
 * with a mistake is refused before the program runs: -1, or the exit status after it was
 * said. */
int tide_end_query_read(struct tide_end_query *query, const char *text);
/* Answer it from TRACE.  What goes wrong is said, and does not change how the run ends. */
void tide_end_query_answer(const struct tide_end_query *query, char *trace);

#endif
