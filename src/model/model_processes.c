/* model/model_processes.c - how many processes there were, and which of them matters.
 *
 * The trace has an entry for each fork, which goes on with the program of its parent, and
 * for each program that was executed.  Where one took the place of another there is next to
 * no time between the two; pids come around after ten thousands of processes.
 */
#include <stdlib.h>

#include "model/model_state.h"

struct program {
    const struct tide_process *process;
};

static int by_pid(const void *one, const void *other)
{
    const struct tide_process *const a = ((const struct program *)one)->process;
    const struct tide_process *const b = ((const struct program *)other)->process;
    if (a->pid != b->pid)
        return a->pid > b->pid ? 1 : -1;
    return (a->begin_ticks > b->begin_ticks) - (a->begin_ticks < b->begin_ticks);
}

/* All programs of a trace, by_pid. */
struct programs {
    const struct tide_trace *trace;
    struct program *list;
    size_t count;
};

/* The last program of process PID that began until TICKS; NULL: none is known. */
static const struct tide_process *program_at(const struct programs *programs,
                                             uint32_t pid, uint64_t ticks)
{
    const struct tide_process wanted = {.pid = pid, .begin_ticks = ticks};
    const struct program limit = {&wanted};
    size_t low = 0, high = programs->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_pid(&programs->list[middle], &limit) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct tide_process *const found =
        low > 0 ? programs->list[low - 1].process : NULL;
    return found && found->pid == pid ? found : NULL;
}

/* Was PROCESS over when the one that began at TICKS did?  Ends may be seen late. */
static bool was_over(const struct tide_trace *trace, const struct tide_process *process,
                     uint64_t ticks)
{
    return process->ended &&
           (process->end_ticks <= ticks ||
            (double)(process->end_ticks - ticks) < trace->ticks_per_second);
}

/* May NEXT be a child of the same parent as PROCESS?  Who outlives its parent is given
 * another one. */
static bool may_share_parent(const struct programs *programs,
                             const struct tide_process *process,
                             const struct tide_process *next)
{
    if (process->ppid == next->ppid)
        return true;
    const struct tide_process *const parent =
        program_at(programs, process->ppid, next->begin_ticks);
    return parent && was_over(programs->trace, parent, next->begin_ticks);
}

static bool was_replaced(const struct programs *programs,
                         const struct tide_process *process,
                         const struct tide_process *next)
{
    if (process->pid == 0 || process->pid != next->pid || next->forked ||
        process->main != next->main || !may_share_parent(programs, process, next))
        return false;
    return process->main || !process->ended ||
           process->end_ticks >= next->begin_ticks ||
           (double)(next->begin_ticks - process->end_ticks) <
               programs->trace->ticks_per_second;
}

enum tide_status tide_model_count_processes(struct tide_model *model, uint32_t *first)
{
    const struct tide_trace *const trace = model->trace;
    const size_t count = trace->process_count;
    struct program *const list = calloc(count + 1, sizeof(*list));
    const struct programs programs = {trace, list, count};
    if (!list)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        list[i].process = &trace->processes[i];
    if (count > 0)
        qsort(list, count, sizeof(*list), by_pid);
    for (size_t i = 0; i < count; i++) {
        const size_t own = (size_t)(list[i].process - trace->processes);
        const bool goes_on =
            i > 0 && was_replaced(&programs, list[i - 1].process, list[i].process);
        first[own] =
            goes_on ? first[list[i - 1].process - trace->processes] : (uint32_t)own;
        model->replaced += goes_on;
        model->programs += !list[i].process->forked;
    }
    model->processes = count;
    free(list);
    return TIDE_OK;
}

enum tide_status tide_model_heaviest(const struct tide_model *model,
                                     enum tide_space space,
                                     const struct tide_process **out, uint64_t *bytes)
{
    const size_t count = model->trace->process_count;
    int64_t *const held = calloc(count + 1, sizeof(*held));
    size_t heaviest = 0;
    *bytes = 0;
    *out = NULL;
    if (!held)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < model->key_count; i++) {
        const struct tide_key *const key = &model->keys[i];
        const struct tide_context *const context = &model->contexts[key->context];
        const uint32_t process = model->key_threads[context->thread].process;
        if (key->space == (uint32_t)space && !context->excluded && process < count)
            held[process] += key->peak_bytes;
    }
    for (size_t i = 1; i < count; i++)
        heaviest = held[i] > held[heaviest] ? i : heaviest;
    if (held[heaviest] > 0) {
        *bytes = (uint64_t)held[heaviest];
        *out = &model->trace->processes[heaviest];
    }
    free(held);
    return TIDE_OK;
}
