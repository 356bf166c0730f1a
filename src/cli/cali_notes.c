/* cli/cali_notes.c - what `run` does not do with Caliper's variables.
 *
 * Who has them in a script would else wait for a report that never comes.
 */
#include "cli/cali_notes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

/* What the environment says; NULL: nothing. */
static const char *variable(const char *name)
{
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables
    const char *const value = getenv(name);
    return value && *value ? value : NULL;
}

static const char BETWEEN[] = ",:() \t";

bool tide_cali_enabled(const char *list, const char *service)
{
    const size_t length = strlen(service);
    while (list && *list) {
        list += strspn(list, BETWEEN);
        const size_t word = strcspn(list, BETWEEN);
        if (word == length && strncmp(list, service, length) == 0)
            return true;
        list += word;
    }
    return false;
}

/* Services; no words: tidemark does what they do, with them or without. */
static const struct service {
    const char *name, *words;
} SERVICES[] = {
    {"alloc", NULL},
    {"sysalloc", NULL},
    {"trace", NULL},
    {"report", NULL},
    {"event", NULL},
    {"timer", NULL},
    {"timestamp", NULL},
    {"pthread", NULL},
    {"callpath", NULL},
    {"symbollookup", NULL},
    {"recorder", "no .cali file is written: tidemark export --to cali makes one"},
    {"aggregate", "nothing is summed up beforehand: the query does (GROUP BY)"},
    {"allocstats", "alloc.tally FROM regions has what it counts"},
    {"allocsize", "alloc.tally FROM regions has what it counts"},
    {"memstat", "memstat.vmrss FROM timeline has what was resident"},
};

static void note_service(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(SERVICES) / sizeof(SERVICES[0]); i++) {
        if (strlen(SERVICES[i].name) != length ||
            strncmp(SERVICES[i].name, word, length) != 0)
            continue;
        if (SERVICES[i].words)
            (void)tide_fail("CALI_SERVICES_ENABLE: %s is ignored: %s", SERVICES[i].name,
                            SERVICES[i].words);
        return;
    }
    (void)tide_fail(
        "CALI_SERVICES_ENABLE: %.*s is ignored: tidemark has no such service",
        (int)length, word);
}

static void note_report(bool asked)
{
    const char *const config = variable("CALI_REPORT_CONFIG");
    const bool enabled = tide_cali_enabled(variable("CALI_SERVICES_ENABLE"), "report");
    if (config && asked)
        (void)tide_fail("CALI_REPORT_CONFIG is ignored: --query is answered");
    else if (config && !enabled)
        (void)tide_fail("CALI_REPORT_CONFIG is ignored: CALI_SERVICES_ENABLE has no "
                        "report");
    else if (enabled && !config && !asked)
        (void)tide_fail("CALI_SERVICES_ENABLE: report has no query to answer: "
                        "CALI_REPORT_CONFIG is not set");
}

void tide_cali_notes(bool asked)
{
    static const char *const OTHERS[] = {"CALI_CONFIG", "CALI_CONFIG_FILE",
                                         "CALI_CONFIG_PROFILE"};
    const char *list = variable("CALI_SERVICES_ENABLE");
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(OTHERS[0]); i++)
        if (variable(OTHERS[i]) &&
            tide_cali_enabled(variable(OTHERS[i]), "alloc.stats"))
            (void)tide_fail("%s: of %s only alloc.stats is answered", OTHERS[i],
                            variable(OTHERS[i]));
        else if (variable(OTHERS[i]))
            (void)tide_fail("%s=%s is ignored: tidemark has no recipes; --query or "
                            "CALI_REPORT_CONFIG ask",
                            OTHERS[i], variable(OTHERS[i]));
    while (list && *list) {
        list += strspn(list, BETWEEN);
        const size_t length = strcspn(list, BETWEEN);
        if (length)
            note_service(list, length);
        list += length;
    }
    note_report(asked);
}
