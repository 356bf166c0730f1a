/* model/checkpoint.h - leave checkpoints on the way through a large trace, use them later.
 *
 * For: load.c, tests/.
 */
#ifndef TIDE_MODEL_CHECKPOINT_H
#define TIDE_MODEL_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/account.h"
#include "trace/index.h"

/* Checkpoints being left.  All zeros: none are. */
struct tide_checkpoints {
    struct tide_index_out *out; /* owned; NULL: none are left */
    uint64_t every;             /* bytes of the trace between two */
    uint64_t next;              /* bytes read at which the next one is due; 0: none */
    uint64_t ticks;             /* the latest of all events so far */
};

/* Begin an index of TRACE, unless it has one.  That it cannot be written is no error. */
void tide_checkpoints_begin(struct tide_checkpoints *checkpoints,
                            const struct tide_trace *trace);
/* Events up to TICKS were entered. */
static inline void tide_checkpoints_pass(struct tide_checkpoints *checkpoints,
                                         uint64_t ticks)
{
    if (ticks > checkpoints->ticks)
        checkpoints->ticks = ticks;
}
/* `next` bytes of the trace are read, and all that REPLAY gave was entered into ACCOUNT:
 * leave a checkpoint, say when the next one is due. */
void tide_checkpoints_leave(struct tide_checkpoints *checkpoints,
                            const struct tide_account *account,
                            const struct tide_replay *replay);
/* All events were entered: the index takes its place.  Otherwise discard it. */
void tide_checkpoints_finish(struct tide_checkpoints *checkpoints,
                             const struct tide_stacks *stacks);
void tide_checkpoints_discard(struct tide_checkpoints *checkpoints);

/* Bring ACCOUNT, STACKS and REPLAY, all fresh, to the last checkpoint of REPLAY's trace
 * that is not after STOP_TICKS.  *RESUMED is false, and nothing has changed, when there is
 * none.  After a failure all three are good for nothing but release. */
enum tide_status tide_checkpoint_resume(struct tide_account *account,
                                        struct tide_stacks *stacks,
                                        struct tide_replay *replay, uint64_t stop_ticks,
                                        bool *resumed);

#endif
