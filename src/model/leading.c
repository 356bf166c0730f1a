/* model/leading.c - which space a report begins with: the one that had more in memory.
 *
 * A mapping is a promise of memory; only its pages that are touched become memory.  Libraries
 * and runtimes map more than they use (OpenBLAS 128 MiB, a Java machine a quarter of all
 * memory), so a peak of mapped bytes is compared with what the system saw of the process.
 */
#include "model/model.h"
#include "trace/trace.h"

static uint64_t lesser(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static uint64_t less(uint64_t one, uint64_t other)
{
    return one > other ? one - other : 0;
}

/* Of anonymous memory, the most that any process had when somebody looked; 0: not known. */
static uint64_t most_anonymous(const struct tide_trace *trace)
{
    uint64_t most = 0;
    for (size_t i = 0; i < trace->process_count; i++)
        if (trace->processes[i].anonymous_peak > most)
            most = trace->processes[i].anonymous_peak;
    return most;
}

/* The highest resident size of any process that was seen before its end. */
static uint64_t most_seen(const struct tide_trace *trace)
{
    uint64_t most = 0;
    for (size_t i = 0; i < trace->rss_count; i++)
        if (trace->rss[i].bytes > most)
            most = trace->rss[i].bytes;
    return most;
}

/* The system's own count is there when tidemark waited for the process, unless it is below
 * what tidemark has itself, which it cannot be told from (see collect/run.c). */
uint64_t tide_model_resident_most(const struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    uint64_t resident = 0;
    bool known = false, exact = false;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (process->pid != trace->processes->pid)
            return 0;
        known |= process->main && process->status_known && !process->execed;
        exact |= process->rss_exact;
        if (process->rss_peak > resident)
            resident = process->rss_peak;
    }
    if (known && !exact && trace->collector_rss_peak > resident)
        resident = trace->collector_rss_peak;
    return known ? resident : 0;
}

/* A sample says nothing of what was mapped after it. */
static bool is_rss_telling(const struct tide_model *model)
{
    const double mapped_s = model->summary[TIDE_IN_MMAP].peak_time_s;
    if (model->rss_peak_exact)
        return true;
    for (size_t i = 0; i < model->trace->rss_count; i++)
        if (tide_trace_seconds(model->trace, model->trace->rss[i].ticks) > mapped_s)
            return model->rss_peak_bytes > 0;
    return false;
}

uint64_t tide_model_mapped_touched(const struct tide_model *model)
{
    const uint64_t mapped = model->summary[TIDE_IN_MMAP].peak_bytes;
    const uint64_t most = tide_model_resident_most(model);
    if (most > 0)
        return lesser(mapped, most);
    return is_rss_telling(model) ? lesser(mapped, model->rss_peak_bytes) : mapped;
}

/* How much anonymous memory there may have been, by what was seen; of several processes
 * only the sum of all is known. */
static uint64_t likely_anonymous(const struct tide_model *model)
{
    const uint64_t anonymous = most_anonymous(model->trace);
    const uint64_t resident = model->rss_peak_bytes;
    if (anonymous == 0 || model->processes > 1 + model->replaced)
        return resident;
    /* Since the last look there may have been more. */
    return lesser(resident, anonymous + less(resident, most_seen(model->trace)));
}

/* Where it was not all touched, enough of it must have been. */
static bool is_mostly_untouched(const struct tide_model *model)
{
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    const uint64_t mapped = model->summary[TIDE_IN_MMAP].peak_bytes;
    const uint64_t anonymous = likely_anonymous(model);
    const uint64_t touched =
        less(anonymous, heap->peak_usable_bytes + model->honesty.recorder_bytes);
    return is_rss_telling(model) && mapped > anonymous &&
           (touched < mapped / 2 || touched < heap->peak_bytes);
}

enum tide_space tide_model_leading(const struct tide_model *model)
{
    const uint64_t heap = model->summary[TIDE_IN_HEAP].peak_bytes;
    const uint64_t mapped = model->summary[TIDE_IN_MMAP].peak_bytes;
    const bool resident = model->rss_peak_exact && heap >= model->rss_peak_bytes / 2;
    return mapped > heap && !resident && !is_mostly_untouched(model) ? TIDE_IN_MMAP
                                                                     : TIDE_IN_HEAP;
}
