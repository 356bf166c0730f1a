/* model/findings.h - what is worth a sentence: what to look at, and what it would gain.
 *
 * For: view/, cli/, tests/.  Which there are: docs/findings.md.
 */
#ifndef TIDE_MODEL_FINDINGS_H
#define TIDE_MODEL_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

struct tide_finding {
    const char *kind; /* "peak_owner", "leak_growing": a stable word, see
                         docs/findings.md */
    uint32_t space;   /* enum tide_space */
    char *text;       /* a few sentences; owned by the list */
    uint64_t bytes, calls;
    uint32_t stack;                  /* the heaviest of its heaviest line */
    uint32_t call;                   /* of that path, not folded: whom it names */
    uint32_t stacks;                 /* how many there are */
    uint64_t gain_bytes, gain_calls; /* estimates; 0: none */
    double gain_s;
    double share;           /* the gain: of the peak, or of the run's time */
    double first_s, last_s; /* births */
};
struct tide_findings {
    struct tide_finding *list;
    size_t count;
};
/* What findings are about.  All zeros: everything. */
struct tide_findings_scope {
    const bool *suppressed; /* borrowed; per site: what it never freed does not count */
    bool mapped;            /* mapped memory alone */
    const struct tide_bad_frees *bad_frees; /* borrowed; NULL: nobody looked for them */
};
/* The model is symbolized. */
enum tide_status tide_findings_build(const struct tide_model *model,
                                     const struct tide_findings_scope *scope,
                                     struct tide_findings *out);
void tide_findings_release(struct tide_findings *findings);

#endif
