/* view/report_json.h - `tidemark report --json`: a contract with scripts and pages.
 *
 * For: view/, cli/, tests/.  Keys are only ever added; a change of meaning is a new
 * schema number.  docs/man/tidemark-report.1 lists them.
 */
#ifndef TIDE_VIEW_REPORT_JSON_H
#define TIDE_VIEW_REPORT_JSON_H

#include <stddef.h>

#include "base/text.h"
#include "model/model.h"
#include "view/json.h"

#define TIDE_REPORT_SCHEMA "tidemark.report/1"

enum tide_shape {
    TIDE_SHAPE_TREE,
    TIDE_SHAPE_FLAT,
    TIDE_SHAPE_STACKS,
};
/* "tree", "flat", "stacks" */
const char *tide_shape_name(enum tide_shape shape);

struct tide_report_json {
    const struct tide_model *model;
    const struct tide_rows *rows;
    const struct tide_findings *findings;
    enum tide_shape shape;
    size_t limit; /* rows at most, the largest; 0: all */
};

void tide_view_report_json(struct tide_text *out,
                           const struct tide_report_json *report);

/* --- What `info` writes in the same words --- */

/* The keys of the contract's summary that every space has. */
void tide_json_summary(struct tide_json *json, const struct tide_summary *summary);
void tide_json_honesty(struct tide_json *json, const struct tide_model *model);
/* KEY: an array of the words of ARGV (NULL-terminated, or NULL). */
void tide_json_words(struct tide_json *json, const char *key, const char *const *argv);

#endif
