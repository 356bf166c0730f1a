/* unit/true_trial.c - a true history with the model that is made of it. */
#include "true_trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "make_event.h"
#include "model/model_state.h"
#include "model/symbolize.h"

static const struct hand_symbol SYMBOLS[] = {
    {TIDE_HAND_APP, 0x10, "f0", "f.c", 10},
    {TIDE_HAND_APP, 0x20, "f1", "f.c", 20},
    {TIDE_HAND_APP, 0x30, "f2", "f.c", 30},
    {TIDE_HAND_APP, 0x40, "f3", "f.c", 40},
    {TIDE_HAND_APP, 0x50, "f4", "f.c", 50},
    {TIDE_HAND_APP, 0x60, "f5", "f.c", 60},
    {TIDE_HAND_APP, 0x70, "f6", "f.c", 70},
    {TIDE_HAND_APP, 0x80, "f7", "f.c", 80},
    {0, 0, NULL, NULL, 0},
};

/* Stacks of one to four functions; some share their outer part, some are recursive. */
static void make_stacks(struct true_trial *trial, uint64_t *random)
{
    for (size_t i = 0; i < TIDE_TRUE_STACKS; i++) {
        struct hand_frame frames[TIDE_TRUE_FRAMES];
        const size_t depth = 1 + any_below(random, TIDE_TRUE_FRAMES);
        trial->path[i] = 0;
        for (size_t k = 0; k < depth; k++) {
            const uint32_t function = (uint32_t)any_below(random, TIDE_TRUE_FUNCTIONS);
            frames[k] = (struct hand_frame){TIDE_HAND_APP, 0x10 * (function + 1)};
            trial->path[i] |= 1u << function;
        }
        trial->history->stacks[i] = hand_stack(&trial->hand, frames, depth);
    }
}

void true_begin_trial(struct true_trial *trial, uint64_t seed, bool labels)
{
    uint64_t random = seed;
    trial->history = calloc(1, sizeof(*trial->history));
    assert_non_null(trial->history);
    hand_model_init(&trial->hand, SYMBOLS);
    make_stacks(trial, &random);
    true_history_make(trial->history, seed, labels);
    trial->model = trial->hand.model;
}

void true_account_with(struct true_trial *trial, const struct tide_account_setup *setup)
{
    const struct true_history *const history = trial->history;
    struct tide_account account;
    struct tide_account_setup whole = *setup;
    whole.processes = history->processes;
    whole.process_count = TIDE_TRUE_PROCESSES;
    whole.names = (struct tide_name_source){true_name, NULL};
    assert_int_equal(tide_account_init(&account, &whole), TIDE_OK);
    assert_int_equal(tide_account_events(&account, history->events, history->count),
                     TIDE_OK);
    free(trial->hand.model->sites);
    assert_int_equal(tide_model_take(trial->hand.model, &account), TIDE_OK);
    tide_account_release(&account);
    assert_int_equal(tide_model_symbolize_from(trial->hand.model, &hand_source),
                     TIDE_OK);
}

void true_account_trial(struct true_trial *trial, uint64_t stop)
{
    true_account_with(trial, &(struct tide_account_setup){.stop_ticks = stop});
}

void true_end_trial(struct true_trial *trial)
{
    hand_model_release(&trial->hand);
    free(trial->history);
}
