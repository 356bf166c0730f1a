/* query/engine.h - run a plan over traces.
 *
 * For: view/, cli/, tests/.  Rows are read one by one; what is kept is the groups, or the
 * rows of the answer.  Several traces are read at the same time, each with names of its
 * own, and put together in their order.
 */
#ifndef TIDE_QUERY_ENGINE_H
#define TIDE_QUERY_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "query/plan.h"
#include "query/value.h"

/* The answer: rows of plan->cell_count cells. */
struct tide_result {
    const struct tide_plan *plan; /* borrowed */
    struct tide_names names;
    struct tide_value *cells; /* owned */
    size_t row_count, row_capacity;
    uint64_t rows_read;   /* of all traces */
    uint64_t rows_passed; /* WHERE */
    uint64_t overflows;   /* cells that are empty because 64 bits were too few */
    bool refused;         /* memory: more than the budget would be needed */
    bool gave_up;         /* a regular expression would take too long */
};

static inline const struct tide_value *tide_result_row(const struct tide_result *result,
                                                       size_t row)
{
    return result->cells + row * result->plan->cell_count;
}

struct tide_query_job {
    const struct tide_plan *plan;
    struct tide_trace **traces;
    size_t trace_count;
    const char *const *trace_names;       /* as attributes show them */
    size_t budget;                        /* bytes; 0: any number */
    size_t threads;                       /* at most; 0: as many as there are cores */
    const struct tide_progress *progress; /* borrowed, or NULL */
    /* Rows that need neither groups nor order go there at once, and not into the result;
     * NULL: all go into the result. */
    enum tide_status (*row)(void *user, const struct tide_names *names,
                            const struct tide_value *cells);
    void *user;
};

/* ELIMIT with result->refused: the budget is too small; with result->gave_up: time is.
 * RESULT is to be released in any
 * case. */
enum tide_status tide_query_run(const struct tide_query_job *job,
                                struct tide_result *result);
void tide_result_release(struct tide_result *result);

/* Count, for each attribute, the rows of the plan's source that have it. */
struct tide_attribute_counts {
    uint64_t rows;
    uint64_t counts[TIDE_ATTRIBUTES];
    struct tide_user_names users; /* owned: what the programs set */
    uint64_t *user_counts;        /* owned: of each of them */
};
enum tide_status tide_query_count(const struct tide_query_job *job,
                                  enum tide_query_source source,
                                  struct tide_attribute_counts *out);
void tide_attribute_counts_release(struct tide_attribute_counts *counts);

#endif
