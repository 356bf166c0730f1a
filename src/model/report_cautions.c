/* model/report_cautions.c - what weakens the whole answer of a report.
 *
 * Most of it the trace says in so many words: the lines of the collector and of the recorder
 * (trace->troubles).  What nobody noticed while it ran is concluded from the memory that the
 * system counted: a heap of nearly nothing beside much anonymous memory.
 */
#include "model/report_cautions.h"

#include <stdlib.h>
#include <string.h>

#include "model/amounts.h"
#include "model/grow.h"
#include "model/path.h"
#include "trace/cursor.h"

enum {
    TIDE_DROPPERS_NAMED = 3, /* processes with dropped events that have a line each */
    TIDE_LITTLE = 50,        /* one part of so many is next to nothing */
    TIDE_MAPS_OFTEN = 8,     /* who maps so often may be an allocator */
};
#define TIDE_MIB         (1024ull * 1024)
#define TIDE_MUCH        (16 * TIDE_MIB) /* anonymous memory worth a line */
#define TIDE_UNEXPLAINED (32 * TIDE_MIB)

/* The list while it grows. */
struct finder {
    const struct tide_model *model;
    struct tide_cautions *out;
    size_t capacity;
    enum tide_status status;
};

/* Add CAUTION, whose words are WORDS, which are given back or taken. */
static void add(struct finder *finder, struct tide_caution caution,
                struct tide_text *words)
{
    struct tide_cautions *const out = finder->out;
    if (out->count == finder->capacity && !finder->status) {
        void *const list = tide_grown(out->list, &finder->capacity, out->count + 1,
                                      sizeof(*out->list));
        finder->status = list ? TIDE_OK : TIDE_ENOMEM;
        out->list = list ? list : out->list;
    }
    if (words->failed || !words->bytes)
        finder->status = TIDE_ENOMEM;
    if (finder->status) {
        tide_text_release(words);
        return;
    }
    caution.text = words->bytes;
    out->list[out->count++] = caution;
}

/* --- What the trace says ---------------------------------------------------------------- */

/* The kinds of cautions that lines of the trace make, by a part of the line: the first that
 * fits.  Names missing are no caution, since all numbers are right without them. */
static const struct {
    const char *kind;
    const char *parts[4];
} TROUBLES[] = {
    {"heap_not_recorded", {"defines malloc itself"}},
    {"library_not_recorded", {"its heap was not recorded"}},
    {"recording_stopped",
     {"gave up (", "shut itself off", "was told to end", " no further"}},
    {"recording_stopped", {"could not be written further"}},
    {"programs_not_recorded", {"not recorded"}},
    {"order_unknown", {"order of events"}},
    {"names_missing", {"more names of regions"}},
    {"trouble", {NULL}},
};
enum { TIDE_TROUBLE_KINDS = sizeof(TROUBLES) / sizeof(TROUBLES[0]) };

static const char *kind_of(const char *line)
{
    for (size_t i = 0; i + 1 < TIDE_TROUBLE_KINDS; i++)
        for (size_t p = 0; p < 4 && TROUBLES[i].parts[p]; p++)
            if (strstr(line, TROUBLES[i].parts[p]))
                return TROUBLES[i].kind;
    return TROUBLES[TIDE_TROUBLE_KINDS - 1].kind;
}

/* Add the lines of KIND. */
static void add_troubles(struct finder *finder, const char *kind)
{
    const char *const *const lines = finder->model->trace->troubles;
    for (size_t i = 0; lines && lines[i]; i++) {
        struct tide_text words = {0};
        if (strcmp(kind_of(lines[i]), kind) != 0)
            continue;
        tide_text_add(&words, lines[i]);
        add(finder, (struct tide_caution){.kind = kind}, &words);
    }
}

static void add_cut(struct finder *finder)
{
    const struct tide_trace *const trace = finder->model->trace;
    struct tide_text words = {0};
    if (trace->complete && !trace->problem[0])
        return;
    tide_text_addf(
        &words, "this trace: %s; %s", trace->problem[0] ? trace->problem : "ends early",
        trace->complete ? "what was lost is not in these numbers"
                        : "the numbers hold for what was recorded up to there");
    add(finder, (struct tide_caution){.kind = TIDE_CAUTION_CUT}, &words);
}

static void add_gaps(struct finder *finder)
{
    const uint64_t gaps = finder->model->honesty.lost_records;
    struct tide_text words = {0};
    if (!gaps)
        return;
    tide_add_count(&words, gaps, "gap");
    tide_text_add(&words,
                  " in the records: what was allocated there is missing, and what "
                  "was freed there counts as live");
    add(finder, (struct tide_caution){.kind = "lost_records", .count = gaps}, &words);
}

/* --- Dropped events ----------------------------------------------------------------------- */

static const struct {
    const char *name, *words;
} DROPS[TIDE_DROPS + 1] = {
    [TIDE_DROP_NESTED] = {"signal_handler", "signal handlers interrupted the recorder"},
    [TIDE_DROP_EARLY] = {"early", "they came before the recorder could start"},
    [TIDE_DROP_COLLECTOR] = {"collector_silent",
                             "the collector took nothing for 2 s (stopped, killed or "
                             "overloaded)"},
    [TIDE_DROP_MEMORY] = {"no_memory",
                          "there was no memory for the rings of its threads"},
    [TIDE_DROP_STOPPED] = {"recording_stopped",
                           "recording had been stopped (a full disk, or the end of "
                           "tidemark)"},
    [TIDE_DROP_SHUT_OFF] = {"shut_off",
                            "the program had shut itself off from the system"},
    [TIDE_DROPS] = {"unknown", "of something that this trace does not name"},
};

const char *tide_drop_words(enum tide_drop why)
{
    return DROPS[why].words;
}

const char *tide_drop_name(enum tide_drop why)
{
    return DROPS[why].name;
}

uint64_t tide_drops_of(const struct tide_process *process, unsigned why)
{
    uint64_t known = 0;
    if (why < TIDE_DROPS)
        return process->drops[why];
    for (size_t i = 0; i < TIDE_DROPS; i++)
        known = tide_add_saturating(known, process->drops[i]);
    return process->dropped > known ? process->dropped - known : 0;
}

/* "60 because there was no memory, 38 because ..."; without the counts if one says all. */
static void add_reasons(struct tide_text *words, const struct tide_process *process)
{
    bool any = false;
    for (unsigned why = 0; why <= TIDE_DROPS; why++) {
        const uint64_t count = tide_drops_of(process, why);
        if (!count)
            continue;
        tide_text_add(words, any ? ", " : count < process->dropped ? ": " : " ");
        if (count < process->dropped)
            tide_add_number(words, count);
        tide_text_addf(words, "%sbecause %s", count < process->dropped ? " " : "",
                       DROPS[why].words);
        any = true;
    }
}

static const char *name_of(const struct tide_process *process)
{
    const char *const name = tide_path_base(process->exe ? process->exe : "");
    return *name ? name : "[unnamed]";
}

static void add_dropper(struct finder *finder, const struct tide_process *process)
{
    struct tide_text words = {0};
    tide_add_count(&words, process->dropped, "event");
    tide_text_addf(&words, " of %s (pid %u) %s dropped", name_of(process), process->pid,
                   process->dropped == 1 ? "was" : "were");
    add_reasons(&words, process);
    tide_text_add(&words,
                  "; what they allocated is missing, and what they freed counts "
                  "as live");
    add(finder,
        (struct tide_caution){
            .kind = "dropped_events", .pid = process->pid, .count = process->dropped},
        &words);
}

/* Dropped by others than the ones that have a line, or by whom nobody knows. */
static void add_other_droppers(struct finder *finder, uint64_t events)
{
    struct tide_text words = {0};
    if (!events)
        return;
    tide_add_count(&words, events, "more event");
    tide_text_addf(&words, " of other processes %s dropped; tidemark info lists them",
                   events == 1 ? "was" : "were");
    add(finder, (struct tide_caution){.kind = "dropped_events", .count = events},
        &words);
}

/* The process that dropped most, of those that dropped less than BEFORE or, as many, come
 * later in the trace; NULL: there is none. */
static const struct tide_process *next_dropper(const struct tide_trace *trace,
                                               const struct tide_process *before)
{
    const struct tide_process *found = NULL;
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        const bool later = !before || process->dropped < before->dropped ||
                           (process->dropped == before->dropped && process > before);
        if (process->dropped && later && (!found || process->dropped > found->dropped))
            found = process;
    }
    return found;
}

static void add_droppers(struct finder *finder)
{
    const struct tide_trace *const trace = finder->model->trace;
    uint64_t rest = finder->model->honesty.dropped;
    const struct tide_process *process = next_dropper(trace, NULL);
    for (int i = 0; process && i < TIDE_DROPPERS_NAMED; i++) {
        add_dropper(finder, process);
        rest -= process->dropped < rest ? process->dropped : rest;
        process = next_dropper(trace, process);
    }
    add_other_droppers(finder, rest);
}

/* --- Memory that nobody recorded ------------------------------------------------------------ */

/* What is known of the memory of one process from outside. */
struct residence {
    const struct tide_process *process;
    uint64_t bytes; /* of anonymous memory at most, as far as somebody looked */
};

static struct residence largest_of(const struct tide_trace *trace)
{
    struct residence largest = {0};
    for (size_t i = 0; i < trace->process_count; i++) {
        const struct tide_process *const process = &trace->processes[i];
        if (process->anonymous_peak > largest.bytes)
            largest = (struct residence){process, process->anonymous_peak};
    }
    return largest;
}

/* "75.3 KiB on the heap and 1.2 MiB in mmap" */
static void add_recorded(struct tide_text *words, const struct tide_model *model)
{
    tide_add_bytes(words, (double)model->summary[TIDE_IN_HEAP].peak_bytes);
    tide_text_add(words, " on the heap and ");
    tide_add_bytes(words, (double)model->summary[TIDE_IN_MMAP].peak_bytes);
    tide_text_add(words, " in mmap");
}

/* Of the anonymous memory of LARGEST most was not recorded, with all other processes. */
static void add_unexplained(struct finder *finder, struct residence largest)
{
    const struct tide_model *const model = finder->model;
    const bool hidden =
        model->summary[TIDE_IN_HEAP].peak_bytes < largest.bytes / TIDE_LITTLE;
    struct tide_text words = {0};
    tide_text_addf(&words, "%s (pid %u) had ", name_of(largest.process),
                   largest.process->pid);
    tide_add_bytes(&words, (double)largest.bytes);
    tide_text_add(&words, " of anonymous memory, but ");
    add_recorded(&words, model);
    tide_text_add(&words, " is all that was recorded; the rest is of static arrays, of "
                          "stacks or of an allocator inside the program: see tidemark "
                          "doctor");
    add(finder,
        (struct tide_caution){
            .kind = hidden ? "hidden_allocator" : "unexplained_memory",
            .pid = largest.process->pid,
            .bytes = largest.bytes,
        },
        &words);
}

/* It is all in mmap: the blocks in it may be an allocator's that nobody hooks. */
static void add_mapped_only(struct finder *finder, struct residence largest)
{
    struct tide_text words = {0};
    tide_text_add(&words, "nearly all memory is mapped (");
    add_recorded(&words, finder->model);
    tide_text_add(&words,
                  " at most): if an allocator inside the program hands it out, its "
                  "blocks are not seen, only what they lie in; tidemark report --space "
                  "mmap shows who mapped it");
    add(finder,
        (struct tide_caution){.kind = "hidden_allocator",
                              .pid = largest.process->pid,
                              .bytes = largest.bytes},
        &words);
}

static void add_hidden(struct finder *finder)
{
    const struct tide_model *const model = finder->model;
    const struct residence largest = largest_of(model->trace);
    const uint64_t held = tide_model_most_held(model) + model->honesty.recorder_bytes;
    const struct tide_summary *const maps = &model->summary[TIDE_IN_MMAP];
    if (largest.bytes < TIDE_MUCH || !tide_model_records(model, TIDE_IN_HEAP) ||
        !tide_model_records(model, TIDE_IN_MMAP) || finder->out->count > 0)
        return; /* or it has been said what is missing, and why */
    if (held < largest.bytes / 2 && largest.bytes - held >= TIDE_UNEXPLAINED)
        add_unexplained(finder, largest);
    else if (maps->alloc_calls >= TIDE_MAPS_OFTEN &&
             maps->peak_bytes >= largest.bytes / 2 &&
             model->summary[TIDE_IN_HEAP].peak_bytes < largest.bytes / TIDE_LITTLE)
        add_mapped_only(finder, largest);
}

/* --- All -------------------------------------------------------------------------------------- */

enum tide_status tide_cautions_find(const struct tide_model *model,
                                    struct tide_cautions *out)
{
    struct finder finder = {.model = model, .out = out};
    *out = (struct tide_cautions){0};
    add_cut(&finder);
    add_troubles(&finder, "heap_not_recorded");
    add_troubles(&finder, "recording_stopped");
    add_droppers(&finder);
    add_gaps(&finder);
    add_hidden(&finder);
    add_troubles(&finder, "library_not_recorded");
    add_troubles(&finder, "programs_not_recorded");
    add_troubles(&finder, "order_unknown");
    add_troubles(&finder, "trouble");
    return finder.status;
}

void tide_cautions_release(struct tide_cautions *cautions)
{
    for (size_t i = 0; i < cautions->count; i++)
        free(cautions->list[i].text);
    free(cautions->list);
    *cautions = (struct tide_cautions){0};
}
