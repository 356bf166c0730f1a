/* cli/report_table.h - the options of `tidemark report`, and what they set.
 *
 * For: cli/report_options.c, cli/cmd_report.c.
 */
#ifndef TIDE_CLI_REPORT_TABLE_H
#define TIDE_CLI_REPORT_TABLE_H

#include "cli/options.h"
#include "cli/report_options.h"

/* What the words of the command line say, before it is put where it belongs.  It lies in a
 * place that does not change, as the table, which points at it. */
extern struct tide_report_asked {
    struct tide_report_options options;
    const char *callers, *sandwich;
    double live_at, between[2], age[2], life[2];
    uint64_t size[2];
    int counter; /* -1: none */
    int axis;    /* enum tide_axis; -1: none */
} tide_report_asked;

extern const struct tide_option tide_report_table[];

#endif
