/* model/budget.h - does a run keep within its limits?
 *
 * For: model/, view/, cli/, tests/.  All limits are of the heap, in bytes asked for, and
 * inclusive: what is as much as the limit keeps it.
 */
#ifndef TIDE_MODEL_BUDGET_H
#define TIDE_MODEL_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"
#include "model/suppress.h"

#define TIDE_NO_LIMIT UINT64_MAX

/* How often functions called NAME may allocate, with all they call. */
struct tide_call_limit {
    const char *function; /* as tide_function_is() (model/pattern.h) has it */
    uint64_t most;
};

struct tide_budget {
    uint64_t max_peak, max_leak, max_total; /* bytes; TIDE_NO_LIMIT */
    uint64_t max_calls;
    const struct tide_call_limit *calls_in; /* borrowed */
    size_t calls_in_count;
    /* These need a baseline. */
    double max_growth; /* per cent of peak, leak, total and calls; negative: none */
    uint64_t max_new_leaks; /* stacks that leak and that did not in the baseline */
    bool allow_incomplete;  /* what was lost is nobody's fault */
    bool allow_unknown;     /* functions of calls_in need not allocate at all */
    bool allow_margin;      /* a peak counts as measured, whatever its margin */
    /* Leaks of the run, and of the baseline, that do not count; borrowed, applied, or
     * NULL. */
    const struct tide_suppressions *suppressed, *baseline_suppressed;
};

struct tide_verdict {
    const char *name;     /* "peak", "growth_peak", "calls_in"...: a stable word */
    const char *function; /* of calls_in; else NULL */
    bool in_bytes;        /* or a count */
    bool passed;
    bool compared; /* BASE is the same of the baseline */
    bool stopped;  /* the run was looked at up to some moment only */
    bool unmet;    /* nothing in the trace is what the limit is of */
    bool
        may_exceed; /* it is kept as measured, not with all of MARGIN on top: not passed,
                        but for growth and with allow_margin */
    uint64_t measured, limit, base;
    uint64_t margin;     /* what MEASURED may be off by; mostly 0 */
    uint64_t suppressed; /* bytes, or stacks, that are not in measured */
    const char *note;    /* what else there is to say, or NULL */
    char *own_note;      /* owned: NOTE, where it is not the same for all; or NULL */
};

struct tide_verdicts {
    struct tide_verdict *list; /* owned */
    size_t count, capacity;
    size_t failed;
};

/* Hold MODEL, and what it grew by since BASELINE (or NULL), against BUDGET.  With calls_in
 * the model must be symbolized, with max_new_leaks both. */
enum tide_status tide_budget_check(const struct tide_budget *budget,
                                   const struct tide_model *model,
                                   const struct tide_model *baseline,
                                   struct tide_verdicts *out);
void tide_verdicts_release(struct tide_verdicts *checks);

#endif
