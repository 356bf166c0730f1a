/* model/model_facts.c - what a trace says of the run beside its events.
 *
 * Threads: a lane serves one thread after the other, and each leaves a note; a process
 * had at least as many threads as lanes.  Threads that never touched memory leave
 * nothing, and are not counted.  A process that executes another program goes on with its
 * main thread: that is one, though both programs have a note of it.
 *
 * RSS: with one process, what the kernel counted, if we waited for it, or the highest that
 * a sample told.  With several it is the largest sum over processes at one time, each with
 * its last sample until it ends, and no less than the highest of any one process.  Shared
 * pages count in each of them.
 */
#include "model/model_state.h"

#include <stdlib.h>
#include <string.h>

int tide_thread_order(const void *one, const void *other)
{
    const struct tide_thread *const a = one;
    const struct tide_thread *const b = other;
    if (a->process != b->process)
        return a->process > b->process ? 1 : -1;
    if (a->tid != b->tid)
        return a->tid > b->tid ? 1 : -1;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* What an entry of the trace has. */
struct tally {
    uint64_t notes, lanes;
    bool main_noted;
    bool main_counted; /* of the first entry of a process */
};

/* Add to TALLIES how many different thread notes each process has. */
static enum tide_status count_notes(const struct tide_trace *trace,
                                    struct tally *tallies)
{
    if (trace->thread_count == 0)
        return TIDE_OK;
    struct tide_thread *const threads = calloc(trace->thread_count, sizeof(*threads));
    if (!threads)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < trace->thread_count; i++)
        threads[i] = trace->threads[i];
    qsort(threads, trace->thread_count, sizeof(*threads), tide_thread_order);
    for (size_t i = 0; i < trace->thread_count; i++) {
        const bool again =
            i > 0 && tide_thread_order(&threads[i - 1], &threads[i]) == 0;
        const uint32_t process = threads[i].process;
        if (again || process >= trace->process_count)
            continue;
        tallies[process].notes++;
        tallies[process].main_noted |= threads[i].tid == trace->processes[process].pid;
    }
    free(threads);
    return TIDE_OK;
}

/* FIRST: as tide_model_count_processes() gave it. */
static enum tide_status count_threads(struct tide_model *model, const uint32_t *first)
{
    const struct tide_trace *const trace = model->trace;
    const size_t processes = trace->process_count;
    struct tally *const tallies = calloc(processes + 1, sizeof(*tallies));
    if (!tallies)
        return TIDE_ENOMEM;
    const enum tide_status status = count_notes(trace, tallies);
    for (size_t i = 0; i < trace->lane_count; i++) {
        if (trace->lanes[i].process < processes)
            tallies[trace->lanes[i].process].lanes++;
    }
    for (size_t i = 0; i < processes; i++) {
        const struct tally *const own = &tallies[i];
        bool *const counted = &tallies[first[i]].main_counted;
        model->threads += own->notes > own->lanes ? own->notes : own->lanes;
        model->threads -= own->main_noted && *counted;
        *counted |= own->main_noted;
    }
    free(tallies);
    return status;
}

static enum tide_status count_processes_and_threads(struct tide_model *model)
{
    uint32_t *const first = calloc(model->trace->process_count + 1, sizeof(*first));
    if (!first)
        return TIDE_ENOMEM;
    enum tide_status status = tide_model_count_processes(model, first);
    if (!status)
        status = count_threads(model, first);
    free(first);
    return status;
}

/* --- RSS ------------------------------------------------------------------------- */

/* From TICKS on PROCESS holds so many BYTES: a sample, or its end. */
struct sighting {
    uint64_t ticks, bytes;
    uint32_t process;
};

static int by_time(const void *one, const void *other)
{
    const struct sighting *const a = one;
    const struct sighting *const b = other;
    if (a->ticks != b->ticks)
        return a->ticks > b->ticks ? 1 : -1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes); /* ends come first */
}

/* All samples, and the ends of processes; how many. */
static size_t gather_sightings(const struct tide_trace *trace, struct sighting *out)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->rss_count; i++) {
        const struct tide_rss_sample *const sample = &trace->rss[i];
        const struct tide_process *const process = &trace->processes[sample->process];
        if (!process->ended || sample->ticks < process->end_ticks)
            out[count++] =
                (struct sighting){sample->ticks, sample->bytes, sample->process};
    }
    for (size_t i = 0; i < trace->process_count; i++) {
        if (trace->processes[i].ended)
            out[count++] =
                (struct sighting){trace->processes[i].end_ticks, 0, (uint32_t)i};
    }
    return count;
}

/* The most that all processes held together, by SIGHTINGS in the order of time.  HELD is
 * zeros, one for each process. */
static uint64_t highest_sum(const struct sighting *sightings, size_t count,
                            uint64_t *held)
{
    uint64_t sum = 0, highest = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sighting *const now = &sightings[i];
        sum += now->bytes - held[now->process];
        held[now->process] = now->bytes;
        highest = sum > highest ? sum : highest;
    }
    return highest;
}

/* The highest of any one process: exact where there is but one, whatever it executed. */
static void find_highest(struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    const bool alone = model->processes == 1 + model->replaced;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (process->rss_peak > model->rss_peak_bytes)
            model->rss_peak_bytes = process->rss_peak;
        model->rss_peak_exact |= alone && process->rss_exact;
    }
}

static enum tide_status find_rss_peak(struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    const size_t processes = trace->process_count;
    find_highest(model);
    if (trace->rss_count == 0 || model->rss_peak_exact)
        return TIDE_OK;
    struct sighting *const sightings =
        calloc(trace->rss_count + processes, sizeof(*sightings));
    uint64_t *const held = calloc(processes + 1, sizeof(*held));
    if (sightings && held) {
        const size_t count = gather_sightings(trace, sightings);
        qsort(sightings, count, sizeof(*sightings), by_time);
        const uint64_t highest = highest_sum(sightings, count, held);
        if (highest > model->rss_peak_bytes)
            model->rss_peak_bytes = highest;
    }
    const bool done = sightings && held;
    free(held);
    free(sightings);
    return done ? TIDE_OK : TIDE_ENOMEM;
}

/* --- Losses ----------------------------------------------------------------------- */

uint64_t tide_model_most_held(const struct tide_model *model)
{
    const struct tide_summary *const maps = &model->summary[TIDE_IN_MMAP];
    const uint64_t amounts[] = {
        model->summary[TIDE_IN_HEAP].peak_usable_bytes,
        maps->peak_bytes,
        maps->shared_peak_bytes,
        model->together_bytes,
    };
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        most = amounts[i] > most ? amounts[i] : most;
    return most;
}

bool tide_model_records(const struct tide_model *model, enum tide_space space)
{
    static const char SPACES[] = " spaces=";
    const char *const options = model->trace->options;
    const char *const found = options ? strstr(options, SPACES) : NULL;
    if (!found)
        return true;
    const char *at = found + sizeof(SPACES) - 1;
    const char *const name = tide_space_name(space);
    for (;; at++) {
        const size_t length = strcspn(at, ", ");
        if (length == strlen(name) && strncmp(at, name, length) == 0)
            return true;
        at += length;
        if (*at != ',')
            return false;
    }
}

/* A sanitizer's runtime answers some calls itself, and its own malloc is not ours. */
static void find_sanitizer(struct tide_model *model)
{
    static const struct {
        const char *part, *calls;
    } RUNTIMES[] = {
        {"/libasan.", "strdup, strndup and realpath"},
        {"/libclang_rt.asan", "strdup, strndup and realpath"},
        {"/libtsan.", "strndup and realpath"},
        {"/libclang_rt.tsan", "strndup and realpath"},
    };
    const struct tide_trace *const trace = model->trace;
    for (size_t r = 0; r < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); r++) {
        for (size_t i = 0; i < trace->module_count; i++) {
            if (!strstr(trace->modules[i].path, RUNTIMES[r].part))
                continue;
            model->honesty.sanitizer = trace->modules[i].path;
            model->honesty.past_malloc = RUNTIMES[r].calls;
            return;
        }
    }
}

static void fill_honesty(struct tide_model *model,
                         const struct tide_replay_counts *counts)
{
    const struct tide_trace *const trace = model->trace;
    struct tide_honesty *const honesty = &model->honesty;
    honesty->events = counts->events;
    honesty->reordered = counts->reordered;
    honesty->lost_records = counts->lost_records;
    honesty->truncated_stacks = counts->cut_stacks;
    honesty->complete = trace->complete;
    honesty->collector_bytes = trace->collector_rss_peak;
    honesty->ring_bytes = trace->ring_bytes;
    for (size_t i = 0; i < trace->process_count; i++) { /* of the one that has most */
        const struct tide_process *const process = &trace->processes[i];
        if (process->recorder_bytes > honesty->recorder_bytes)
            honesty->recorder_bytes = process->recorder_bytes;
        if (process->order_table_bytes > honesty->order_table_bytes)
            honesty->order_table_bytes = process->order_table_bytes;
    }
    const uint64_t held = tide_model_most_held(model);
    const uint64_t resident = model->rss_peak_bytes;
    if (resident)
        honesty->rss_explained =
            held < resident ? (double)held / (double)resident : 1.0;
    if (resident && held > resident)
        honesty->beyond_rss_bytes = held - resident;
}

enum tide_status tide_model_from_totals(struct tide_model *model)
{
    const struct tide_trace *const trace = model->trace;
    const struct tide_totals *const totals = &trace->totals;
    const struct tide_replay_counts counts = {.events = totals->events};
    struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    model->duration_s = tide_trace_seconds(trace, trace->end_ticks);
    enum tide_status status = count_processes_and_threads(model);
    if (!status)
        status = find_rss_peak(model);
    fill_honesty(model, &counts);
    model->honesty.rss_explained = 0;
    for (size_t i = 0; i < trace->process_count; i++)
        model->honesty.dropped += trace->processes[i].dropped;
    heap->free_calls = totals->free_calls;
    heap->failed_calls = totals->extras[TIDE_EXTRA_FAILED];
    heap->allocated_bytes = totals->allocated_bytes;
    for (size_t i = 0; i < TIDE_KINDS; i++)
        heap->alloc_calls += totals->kinds[i];
    memcpy(model->alloc_kinds, totals->kinds, sizeof(totals->kinds));
    memcpy(model->map_calls, totals->maps, sizeof(totals->maps));
    memcpy(model->extra_records, totals->extras, sizeof(totals->extras));
    model->counted_only = true;
    find_sanitizer(model);
    return status;
}

enum tide_status tide_model_facts(struct tide_model *model,
                                  const struct tide_replay_counts *counts)
{
    const struct tide_trace *const trace = model->trace;
    model->duration_s = tide_trace_seconds(trace, trace->end_ticks);
    enum tide_status status = count_processes_and_threads(model);
    if (!status)
        status = find_rss_peak(model);
    if (!status)
        status = tide_model_stack_ends(model);
    fill_honesty(model, counts);
    find_sanitizer(model);
    return status;
}
