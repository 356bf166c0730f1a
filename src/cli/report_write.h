/* cli/report_write.h - a report, from the model to text, JSON or CSV.
 *
 * For: cmd_report.c, which has found all that OPTIONS ask for.
 */
#ifndef TIDE_CLI_REPORT_WRITE_H
#define TIDE_CLI_REPORT_WRITE_H

#include <tidemark/status.h>

#include "cli/report_options.h"

struct tide_text;

/* For people: the views that OPTIONS choose, or all sections. */
enum tide_status tide_report_text(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_text *out);
/* For programs: one view, in JSON or CSV.  When it is long, its beginning is on stdout
 * already. */
enum tide_status tide_report_data(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_text *out);

#endif
