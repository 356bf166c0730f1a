/* model/account_state.h - put an account aside, and take it up again.
 *
 * For: checkpoint.c, tests/.
 */
#ifndef TIDE_MODEL_ACCOUNT_STATE_H
#define TIDE_MODEL_ACCOUNT_STATE_H

#include <tidemark/status.h>

#include "model/account.h"
#include "trace/index.h"

/* To be raised by whoever changes what an account holds, or what its fields mean: an index
 * written before would be read wrongly.  Sizes are part of it, so most changes show. */
#define TIDE_ACCOUNT_STATE 8u
#define TIDE_ACCOUNT_VERSION                                                        \
    ((uint32_t)(TIDE_ACCOUNT_STATE << 24 ^ sizeof(struct tide_account) << 16 ^      \
                sizeof(struct tide_lane_book) << 9 ^ sizeof(struct tide_key) << 3 ^ \
                sizeof(struct tide_watermark) ^                                     \
                sizeof(struct tide_process_book) << 5))

/* Put all that ACCOUNT knows into the checkpoint that OUT is writing. */
enum tide_status tide_account_save(const struct tide_account *account,
                                   struct tide_index_out *out);

/* Read it back into ACCOUNT, fresh from tide_account_init() with the same trace.  STACKS
 * is what its keys refer to.  After a failure ACCOUNT is good for nothing but release. */
enum tide_status tide_account_restore(struct tide_account *account,
                                      const struct tide_stacks *stacks,
                                      struct tide_index *index);

#endif
