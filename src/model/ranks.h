/* model/ranks.h - what each MPI rank of a run held, by itself.
 *
 * For: view/, cli/, tests/.  A rank is all processes that its launcher gave one number:
 * mostly one.  The peak of a run is that of all of them together, and how far it may be
 * from the true one grows with their number; a rank's own peak has a margin of its own,
 * which is 0 where one thread did everything.
 */
#ifndef TIDE_MODEL_RANKS_H
#define TIDE_MODEL_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/model.h"
#include "model/suppress.h"

struct tide_rank {
    bool ranked;                    /* false: all processes without a rank */
    const struct tide_trace *trace; /* borrowed: that it is in */
    uint64_t rank;
    uint32_t processes, threads;
    /* Of the heap. */
    uint64_t peak_bytes, peak_margin_bytes, peak_ticks;
    uint64_t live_bytes, live_blocks; /* when its processes ended, or the run */
    uint64_t allocated_bytes, alloc_calls;
    uint64_t rss_peak_bytes; /* the sum of its processes, which may not have met; 0:
                                nobody looked */
    /* Of the trace: the process that broke off first, else the one that ended last. */
    const struct tide_process *last;
    bool broke_off; /* of a signal, or without a word: see model/process_ends.h */
};

/* What ranks can be compared by. */
enum tide_rank_measure {
    TIDE_RANK_PEAK,
    TIDE_RANK_LIVE,
    TIDE_RANK_ALLOCATED,
    TIDE_RANK_CALLS,
    TIDE_RANK_RSS,
    TIDE_RANK_MEASURES,
};

/* One rank, against the one in the middle. */
struct tide_rank_spread {
    enum tide_rank_measure measure;
    uint64_t rank;
    double times; /* what it has, of what the median has; 0: nothing can be compared */
};

struct tide_ranks {
    struct tide_rank *list; /* owned; by number, those without one last */
    size_t count;
    size_t ranked; /* of them */
    struct tide_rank_spread widest;
};

/* Does any process of TRACE have a rank? */
bool tide_ranks_known(const struct tide_trace *trace);
/* How many ranks TRACE has; 2: or more. */
int tide_ranks_up_to_two(const struct tide_trace *trace);
/* Walks through the trace of MODEL.  What was live at the end is without what SUPPRESSED,
 * or NULL, leaves out.  Release it, whatever is returned. */
enum tide_status tide_ranks_find(struct tide_model *model,
                                 const struct tide_suppressions *suppressed,
                                 struct tide_ranks *out);
void tide_ranks_release(struct tide_ranks *ranks);
/* Add all of OTHER, which is another trace's, to RANKS: zeros, or those found before. */
enum tide_status tide_ranks_join(struct tide_ranks *ranks,
                                 const struct tide_ranks *other);

uint64_t tide_rank_value(const struct tide_rank *rank, enum tide_rank_measure measure);

#endif
