/* cli/end_query.c - a query that is answered when the program has ended. */
#include "cli/end_query.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cali_notes.h"
#include "cli/command.h"
#include "cli/export_file.h"
#include "cli/run_query.h"

enum { TIDE_END_QUERY_BUDGET = 1 << 30 }; /* bytes of groups and rows */

/* What the environment says; NULL: nothing. */
static const char *variable(const char *name)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    return getenv(name);
}

/* What the option alloc.stats of Caliper's recipes shows. */
static const char ALLOC_STATS[] =
    "SELECT region,max(alloc.region.highwatermark) AS \"Mem HWM\","
    "max(alloc.tally) AS \"Alloc tMax\",sum(alloc.count) AS \"Alloc count\","
    "ratio(sum#alloc.size,alloc.count) AS \"Avg Bytes/alloc\","
    "max(max#alloc.size) AS \"Max Bytes/alloc\" "
    "FROM regions GROUP BY region FORMAT tree";

/* Recipes print to standard error, unless told. */
static void read_recipe(struct tide_end_query *query)
{
    const char *const config = variable("CALI_CONFIG");
    if (!tide_cali_enabled(config, "alloc.stats"))
        return;
    query->text = ALLOC_STATS;
    query->where = tide_cali_enabled(config, "output=stdout") ? NULL : "stderr";
}

int tide_end_query_read(struct tide_end_query *query, const char *text)
{
    *query = (struct tide_end_query){.text = text};
    if (!text) {
        const char *const services = variable("CALI_SERVICES_ENABLE");
        const char *const config = variable("CALI_REPORT_CONFIG");
        if (!config || !*config || !tide_cali_enabled(services, "report")) {
            read_recipe(query);
            return -1;
        }
        query->text = config;
        query->where = variable("CALI_REPORT_FILENAME");
        query->labelled_only = !tide_cali_enabled(services, "sysalloc");
    }
    return tide_check_query(query->text, strlen(query->text), query->labelled_only);
}

/* WHERE, as tide_export_file_open() has it; NULL: standard output. */
static const char *file_of(const char *where)
{
    if (!where || !*where || strcmp(where, "stdout") == 0)
        return NULL;
    return strcmp(where, "stderr") == 0 ? "/dev/stderr" : where;
}

void tide_end_query_answer(const struct tide_end_query *query, char *trace)
{
    char *traces[] = {trace};
    if (!query->text)
        return;
    struct tide_export_file file;
    int error = tide_export_file_open(&file, file_of(query->where));
    if (error) {
        (void)tide_fail("%s: %s", query->where, tide_export_file_words(error));
        return;
    }
    const struct tide_query_request request = {
        .text = query->text,
        .length = strlen(query->text),
        .traces = traces,
        .trace_count = 1,
        .fd = file.fd,
        .labelled_only = query->labelled_only,
        .budget = TIDE_END_QUERY_BUDGET,
    };
    if (tide_run_query(&request)) {
        tide_export_file_discard(&file);
        return;
    }
    error = tide_export_file_keep(&file);
    if (error)
        (void)tide_fail("%s: %s", query->where, tide_export_file_words(error));
}
