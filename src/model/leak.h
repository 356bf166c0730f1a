/* model/leak.h - what speaks for a leak: is it still growing, or was it once?
 *
 * For: model/, view/, tests/.  Judged by when the blocks that were never freed were born,
 * in parts of the life of the process that made them: by the number of blocks born, which
 * does not depend on the machine, and by time, which does for short runs.  docs/findings.md
 * has the rules.
 */
#ifndef TIDE_MODEL_LEAK_H
#define TIDE_MODEL_LEAK_H

#include "model/model.h"

enum tide_leak_kind {
    TIDE_LEAK_SOME,       /* none of the others, or nothing is known */
    TIDE_LEAK_ONCE,       /* all in one short part of the process's life */
    TIDE_LEAK_PER_THREAD, /* a few in each thread */
    TIDE_LEAK_GROWING,    /* steadily, and until the end, or the end of all births */
};
const char *tide_leak_word(enum tide_leak_kind kind); /* "growing": a stable word */

/* How births lie between the first and the last. */
enum tide_leak_rhythm {
    TIDE_RHYTHM_UNKNOWN,
    TIDE_RHYTHM_STRETCH, /* with no long time without any, by time or by births */
    TIDE_RHYTHM_SCATTERED,
};

struct tide_leak {
    enum tide_leak_kind kind;
    bool ended; /* it grew, but by the clock not until the end */
    enum tide_leak_rhythm rhythm;
    double first_s, last_s;   /* births */
    double bytes_per_second;  /* between them; 0: not known */
    uint64_t bytes_per_event; /* the same by iterations that the program named */
    uint32_t threads, processes;
};

/* What SURVIVAL, which has blocks, says. */
struct tide_leak tide_leak_judge(const struct tide_model *model,
                                 const struct tide_survival *survival);

#endif
