/* unit/true_trial.h - a true history with the model that is made of it.
 *
 * Functions are called f0 to f7, in app: f.c:10, f.c:20...
 */
#ifndef TIDE_UNIT_TRUE_TRIAL_H
#define TIDE_UNIT_TRUE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "hand_model.h"
#include "model/account.h"
#include "true_history.h"

enum {
    TIDE_TRUE_FUNCTIONS = 8,
    TIDE_TRUE_FRAMES = 4, /* of a stack, at most */
};

/* A history with the model that was made of it. */
struct true_trial {
    struct true_history *history; /* owned */
    struct hand_model hand;
    const struct tide_model *model;
    uint32_t
        path[TIDE_TRUE_STACKS]; /* of each stack: its functions, innermost lowest */
};

void true_begin_trial(struct true_trial *trial, uint64_t seed, bool labels);
/* Make the model, up to STOP (0: all of it). */
void true_account_trial(struct true_trial *trial, uint64_t stop);
/* The same with what else SETUP says, beside names and processes. */
void true_account_with(struct true_trial *trial,
                       const struct tide_account_setup *setup);
void true_end_trial(struct true_trial *trial);

#endif
