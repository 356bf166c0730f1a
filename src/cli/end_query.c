/* cli/end_query.c - a query that is answered when the program has ended. */
#include "cli/end_query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cali_notes.h"
#include "cli/command.h"
#include "cli/run_query.h"

enum {
    TIDE_END_QUERY_MODE = 0666,
    TIDE_END_QUERY_BUDGET = 1 << 30, /* bytes of groups and rows */
};

/* What the environment says; NULL: nothing. */
static const char *variable(const char *name)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    return getenv(name);
}

int tide_end_query_read(struct tide_end_query *query, const char *text)
{
    *query = (struct tide_end_query){.text = text};
    if (!text) {
        const char *const services = variable("CALI_SERVICES_ENABLE");
        const char *const config = variable("CALI_REPORT_CONFIG");
        if (!config || !*config || !tide_cali_enabled(services, "report"))
            return -1;
        query->text = config;
        query->where = variable("CALI_REPORT_FILENAME");
        query->labelled_only = !tide_cali_enabled(services, "sysalloc");
    }
    return tide_check_query(query->text, strlen(query->text), query->labelled_only);
}

/* The descriptor that WHERE means; -1 after it was said that there is none. */
static int open_where(const char *where)
{
    if (!where || !*where || strcmp(where, "stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(where, "stderr") == 0)
        return STDERR_FILENO;
    const int fd =
        open(where, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, TIDE_END_QUERY_MODE);
    if (fd < 0)
        (void)tide_fail("%s: %s", where, strerrordesc_np(errno));
    return fd;
}

void tide_end_query_answer(const struct tide_end_query *query, char *trace)
{
    char *traces[] = {trace};
    if (!query->text)
        return;
    const int fd = open_where(query->where);
    if (fd < 0)
        return;
    const struct tide_query_request request = {
        .text = query->text,
        .length = strlen(query->text),
        .traces = traces,
        .trace_count = 1,
        .fd = fd,
        .labelled_only = query->labelled_only,
        .budget = TIDE_END_QUERY_BUDGET,
    };
    (void)tide_run_query(&request);
    if (fd > STDERR_FILENO)
        (void)close(fd);
}
