/* model/report_cautions.h - what weakens the whole answer of a report.
 *
 * For: view/, cli/, tests/.  A report that missed most of the program's memory must say so
 * before it shows its numbers.  Each caution is one line: what happened, to whom, what it
 * means for the numbers, and which verb tells more.
 */
#ifndef TIDE_MODEL_REPORT_CAUTIONS_H
#define TIDE_MODEL_REPORT_CAUTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

/* The kind of the caution that the trace ends early or is damaged. */
#define TIDE_CAUTION_CUT "trace_cut"

struct tide_caution {
    const char *kind; /* "dropped_events", "hidden_allocator": a stable word, see
                         tidemark-report(1) */
    char *text;       /* owned by the list; as the trace has it, not made safe */
    uint32_t pid;     /* whom it is about; 0: the run */
    uint64_t count;   /* events dropped, gaps; 0: nothing is counted */
    uint64_t bytes;   /* memory that it is about; 0: not known */
};

struct tide_cautions {
    struct tide_caution *list; /* worst first */
    size_t count;
};

/* Find what weakens the answer of MODEL.  Release it, whatever is returned. */
enum tide_status tide_cautions_find(const struct tide_model *model,
                                    struct tide_cautions *out);
void tide_cautions_release(struct tide_cautions *cautions);

/* Why events were dropped, in words that follow "because". */
const char *tide_drop_words(enum tide_drop why);
/* The same as a word for programs: "signal_handler", "collector_silent". */
const char *tide_drop_name(enum tide_drop why);

/* Events that PROCESS dropped for reason WHY; WHY of TIDE_DROPS: nobody said why. */
uint64_t tide_drops_of(const struct tide_process *process, unsigned why);

#endif
