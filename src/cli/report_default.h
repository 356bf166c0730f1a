/* cli/report_default.h - the report without a view: what fits on a screen.
 *
 * For: report_write.c, which has what its sections are made of.
 */
#ifndef TIDE_CLI_REPORT_DEFAULT_H
#define TIDE_CLI_REPORT_DEFAULT_H

#include <tidemark/status.h>

#include "cli/report_options.h"
#include "model/findings.h"
#include "view/line.h"

/* Add the overview, what weakens it, and all sections: brief ones, unless OPTIONS ask for
 * more. */
enum tide_status tide_report_default(struct tide_page *page,
                                     const struct tide_model *model,
                                     const struct tide_report_options *options);

/* --- In report_write.c --- */

/* What a view may take. */
struct tide_report_room {
    size_t rows;  /* 0: as many as are usual */
    size_t lines; /* rows are left out for; 0: as many as the rows need */
};

/* Add the view of METRIC. */
enum tide_status tide_report_add_view(struct tide_page *page,
                                      const struct tide_model *model,
                                      const struct tide_report_options *options,
                                      enum tide_metric metric,
                                      struct tide_report_room room);
size_t tide_report_lines(const struct tide_text *text);
enum tide_status tide_report_add_cautions(struct tide_page *page,
                                          const struct tide_model *model);
enum tide_status tide_report_find(const struct tide_model *model,
                                  const struct tide_report_options *options,
                                  struct tide_findings *out);

#endif
