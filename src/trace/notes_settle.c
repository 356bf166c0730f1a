/* trace/notes_settle.c - all notes have been read: what they say together.
 */
#include "trace/mappings.h"
#include "trace/notes_in.h"
#include "trace/notes_parts.h"
#include "trace/thread_names.h"

int tide_name_compare(const void *a, const void *b)
{
    const struct tide_name *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Give the items of LIST away. */
static void *given(struct tide_list *list, size_t *count)
{
    void *items = list->items;
    *count = list->count;
    list->items = NULL;
    list->count = list->capacity = 0;
    return items;
}

/* The rate of the clock by its first and last point, when they are worth more than the
 * header's estimate: far enough apart, and not moved by somebody who set the clock. */
static void settle_clock(const struct tide_notes *notes)
{
    const struct tide_clock_point *first = &notes->first_clock,
                                  *last = &notes->last_clock;
    if (last->ticks <= first->ticks || last->unix_ns <= first->unix_ns)
        return;
    const double seconds = (double)(last->unix_ns - first->unix_ns) / 1e9;
    const double rate = (double)(last->ticks - first->ticks) / seconds;
    const double estimate = notes->trace->ticks_per_second;
    if (seconds >= 0.01 && rate > estimate / 2 && rate < estimate * 2)
        notes->trace->ticks_per_second = rate;
}

/* What is said of the moment at which a process was reaped is what the system counted;
 * all else was looked at while it lived, and may have missed the peak. */
static void settle_peaks(struct tide_trace *trace)
{
    for (size_t i = 0; i < trace->rss_count; i++) {
        struct tide_process *const process = &trace->processes[trace->rss[i].process];
        process->rss_exact |= process->ended && process->status_known &&
                              trace->rss[i].ticks == process->end_ticks;
    }
}

static enum tide_status fill_gaps(struct tide_notes *notes)
{
    struct tide_trace *trace = notes->trace;
    const char **none = tide_arena_take(notes->arena, sizeof(*none));
    if (!none)
        return TIDE_ENOMEM;
    if (!trace->argv) {
        trace->argv = none;
        trace->cwd = trace->host = trace->version = trace->options = "";
    }
    for (size_t i = 0; i < trace->process_count; i++) {
        struct tide_process *process = &trace->processes[i];
        process->main = process->pid == trace->processes[0].pid; /* after exec, too */
        if (!process->argv)
            process->argv = none;
        if (!process->begin_ticks)
            process->begin_ticks = process->birth_ticks;
    }
    return TIDE_OK;
}

enum tide_status tide_notes_finish(struct tide_notes *notes)
{
    struct tide_trace *trace = notes->trace;
    size_t lines;
    if (!tide_notes_add(notes, &notes->troubles)) /* the NULL at the end of the lines */
        return TIDE_ENOMEM;
    enum tide_status status =
        tide_mappings_settle(&notes->mappings, &notes->ends, notes->arena,
                             notes->processes.items, notes->processes.count);
    if (status)
        return status;
    tide_list_sort(&notes->names, tide_name_compare);
    tide_values_settle(notes);
    settle_clock(notes);
    status = tide_threads_settle(&notes->threads);
    if (!status)
        status = tide_attributes_settle(notes);
    if (status)
        return status;
    trace->processes = given(&notes->processes, &trace->process_count);
    trace->threads = given(&notes->threads, &trace->thread_count);
    trace->rss = given(&notes->rss, &trace->rss_count);
    trace->windows = given(&notes->windows, &trace->window_count);
    trace->symbol_notes = given(&notes->symbols, &trace->symbol_note_count);
    trace->unrecorded = given(&notes->unrecorded, &trace->unrecorded_count);
    trace->modules = given(&notes->modules.modules, &trace->module_count);
    trace->troubles = given(&notes->troubles, &lines);
    settle_peaks(trace);
    return fill_gaps(notes);
}
