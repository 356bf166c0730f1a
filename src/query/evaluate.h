/* query/evaluate.h - conditions and LETs, on the values of a row.
 *
 * For: query/, tests/.
 */
#ifndef TIDE_QUERY_EVALUATE_H
#define TIDE_QUERY_EVALUATE_H

#include <stdbool.h>

#include "query/plan.h"

/* What was found out about a text or a path before: by id, 0: nothing, 1: no, 2: yes. */
struct tide_memo {
    uint8_t *list; /* owned */
    size_t capacity;
};

/* A condition at work: one per thread.  All zeros, then begin. */
struct tide_judge {
    const struct tide_plan_condition *condition; /* borrowed */
    struct tide_names *names;                    /* borrowed */
    struct tide_memo *memos;                     /* owned, per term */
    struct tide_regex_match *match;              /* owned */
    bool gave_up; /* a regular expression would take too long: nothing holds any more */
};

enum tide_status tide_judge_begin(struct tide_judge *judge,
                                  const struct tide_plan_condition *condition,
                                  struct tide_names *names);
void tide_judge_release(struct tide_judge *judge);
/* Does it hold of CELLS?  Without memory names->failed is set. */
bool tide_judge_holds(struct tide_judge *judge, const struct tide_value *cells);

/* What LET makes of SLOTS.  *OVERFLOW is raised when a whole number became too large. */
struct tide_value tide_let_value(const struct tide_plan_let *let,
                                 const struct tide_value *slots,
                                 const struct tide_names *names, uint64_t *overflow);

#endif
