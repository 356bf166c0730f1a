/* model/process_ends.h - how processes ended, and what they held then.
 *
 * For: model/, view/, tests/.  What a process holds that broke off is not leaked: its work
 * was not done.
 */
#ifndef TIDE_MODEL_PROCESS_ENDS_H
#define TIDE_MODEL_PROCESS_ENDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/model.h"

/* The signal that killed the program, 0 for none. */
int tide_model_killed_by(const struct tide_model *model);
/* Did PROCESS die of a signal, or end without a word? */
bool tide_process_broke_off(const struct tide_process *process);
/* Did any, and how much of the heap did those hold together? */
bool tide_model_breaks_off(const struct tide_model *model);
uint64_t tide_model_held_bytes(const struct tide_model *model);

#endif
