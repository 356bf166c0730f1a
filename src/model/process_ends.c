/* model/process_ends.c - how processes ended, and what they held then.
 */
#include "model/process_ends.h"

#include <sys/wait.h>

int tide_model_killed_by(const struct tide_model *model)
{
    for (size_t i = 0; i < model->trace->process_count; i++) {
        const struct tide_process *const process = &model->trace->processes[i];
        if (process->main && process->status_known && !process->execed &&
            WIFSIGNALED(process->status))
            return WTERMSIG(process->status);
    }
    return 0;
}

/* Nobody but who waits for a process is told of a signal; but one that ends by itself says so
 * before, unless it makes the system call with its own hands. */
bool tide_process_broke_off(const struct tide_process *process)
{
    if (process->execed)
        return false;
    return process->status_known ? WIFSIGNALED(process->status)
                                 : process->ended && process->silent;
}

bool tide_model_breaks_off(const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    for (size_t i = 0; i < trace->process_count; i++) {
        if (tide_process_broke_off(&trace->processes[i]))
            return true;
    }
    return false;
}

uint64_t tide_model_held_bytes(const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    const size_t keys = tide_model_breaks_off(model) ? model->key_count : 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < keys; i++) {
        const struct tide_key *const key = &model->keys[i];
        const struct tide_context *const context = &model->contexts[key->context];
        const uint32_t process = model->key_threads[context->thread].process;
        if (key->space == TIDE_IN_HEAP && !context->excluded &&
            process < trace->process_count &&
            tide_process_broke_off(&trace->processes[process]))
            bytes += key->bytes - key->freed_bytes;
    }
    return bytes;
}
