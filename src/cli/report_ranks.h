/* cli/report_ranks.h - what each rank held by itself, where each wrote a trace of its own.
 *
 * For: cmd_report.c.
 */
#ifndef TIDE_CLI_REPORT_RANKS_H
#define TIDE_CLI_REPORT_RANKS_H

#include "cli/options.h"
#include "cli/report_options.h"

/* Print one table of the ranks of all TRACES; returns the exit status. */
int tide_report_ranks(const struct tide_report_options *options,
                      const struct tide_arguments *traces);

#endif
