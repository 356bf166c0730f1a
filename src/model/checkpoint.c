/* model/checkpoint.c - leave checkpoints on the way through a large trace, use them later.
 *
 * A checkpoint costs a pass over the live set, so a few are enough: from the one before,
 * a moment is at most a ninth of the trace away.
 */
#include "model/checkpoint.h"

#include "model/account_state.h"

enum { TIDE_CHECKPOINT_COUNT = 8 };

void tide_checkpoints_begin(struct tide_checkpoints *checkpoints,
                            const struct tide_trace *trace)
{
    struct tide_index *index;
    *checkpoints = (struct tide_checkpoints){
        .every = trace->file_bytes / (TIDE_CHECKPOINT_COUNT + 1) + 1,
    };
    if (tide_index_open(trace, TIDE_ACCOUNT_VERSION, &index) == TIDE_OK)
        tide_index_close(index); /* there is one already */
    else
        (void)tide_index_create(trace, TIDE_ACCOUNT_VERSION, &checkpoints->out);
    checkpoints->next = checkpoints->out ? checkpoints->every : 0;
}

void tide_checkpoints_leave(struct tide_checkpoints *checkpoints,
                            const struct tide_account *account,
                            const struct tide_replay *replay)
{
    checkpoints->next = tide_replay_counts(replay)->bytes_read + checkpoints->every;
    enum tide_status status =
        tide_index_checkpoint(checkpoints->out, checkpoints->ticks, replay);
    if (!status)
        status = tide_account_save(account, checkpoints->out);
    if (!status)
        status = tide_index_end_checkpoint(checkpoints->out);
    if (status)
        tide_checkpoints_discard(checkpoints);
}

void tide_checkpoints_finish(struct tide_checkpoints *checkpoints,
                             const struct tide_stacks *stacks)
{
    if (checkpoints->out)
        (void)tide_index_commit(checkpoints->out, stacks);
    checkpoints->out = NULL;
}

void tide_checkpoints_discard(struct tide_checkpoints *checkpoints)
{
    tide_index_discard(checkpoints->out);
    checkpoints->out = NULL;
    checkpoints->next = 0;
}

enum tide_status tide_checkpoint_resume(struct tide_account *account,
                                        struct tide_stacks *stacks,
                                        struct tide_replay *replay, uint64_t stop_ticks,
                                        bool *resumed)
{
    struct tide_index *index;
    size_t number;
    *resumed = false;
    if (tide_index_open(tide_replay_trace(replay), TIDE_ACCOUNT_VERSION, &index) !=
        TIDE_OK)
        return TIDE_OK;
    enum tide_status status = TIDE_OK;
    if (tide_index_find(index, stop_ticks, &number)) {
        *resumed = true;
        status = tide_index_restore(index, number, stacks, replay);
        if (!status)
            status = tide_account_restore(account, stacks, index);
    }
    tide_index_close(index);
    if (!status || status == TIDE_ENOMEM)
        return status;
    tide_index_forget(tide_replay_trace(replay));
    return TIDE_ECORRUPT;
}
