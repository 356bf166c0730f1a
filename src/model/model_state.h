/* model/model_state.h - what a model keeps to itself.
 *
 * For: model/ only.
 */
#ifndef TIDE_MODEL_MODEL_STATE_H
#define TIDE_MODEL_MODEL_STATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "model/context.h"
#include "model/intern.h"
#include "model/model.h"

struct tide_model_state {
    struct tide_arena arena;       /* symbols and their strings */
    struct tide_intern strings;    /* in the arena */
    struct tide_contexts contexts; /* the texts of names */
};

static inline struct tide_model_state *tide_model_state(const struct tide_model *model)
{
    return model->private_state;
}

/* Fill what the trace says of the run: duration, threads, processes, RSS, losses. */
/* What the totals of its trace tell, instead of a walk through all events. */
enum tide_status tide_model_from_totals(struct tide_model *model);
enum tide_status tide_model_facts(struct tide_model *model,
                                  const struct tide_replay_counts *counts);

/* Count stacks that end before they should, when stacks and sites are the model's. */
enum tide_status tide_model_stack_ends(struct tide_model *model);
/* Fill model->processes, programs and replaced; in FIRST, which has room for one per entry
 * of the trace: the entry that the same process began with. */
enum tide_status tide_model_count_processes(struct tide_model *model, uint32_t *first);

/* Finish ACCOUNT; what it counted becomes the model's, which has a trace by now. */
struct tide_account;
enum tide_status tide_model_take(struct tide_model *model,
                                 struct tide_account *account);
/* Compare two struct tide_thread by process, number and start; 0: one thread, named twice. */
int tide_thread_order(const void *one, const void *other);
/* Threads, regions and labels become the model's; CONTEXTS is empty then. */
enum tide_status tide_model_take_contexts(struct tide_model *model,
                                          struct tide_contexts *contexts);

#endif
