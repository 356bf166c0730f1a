/* model/findings.c - what a reader of the report should look at first.
 *
 * A finding names one function with all its stacks, and says only what was measured.  A
 * stack has a part in it when
 *
 *   peak_owner  it held at least a tenth of what stood when its space was highest.
 *   leak        it still held at least 1 KiB, and at least a hundredth of all that was
 *               live, when the program ended.  Not said when the trace ends early, was
 *               read in part, or the program died of a signal: then blocks are live
 *               because the work was not done.  Not said of what the loader runs before
 *               main, which is kept on purpose.
 *   churn       it made at least 1000 temporary blocks, and at least a tenth of all
 *               allocation calls of the run.
 *
 * The function in the text is the innermost that is not of the C or C++ runtime: that a
 * vector grew is rarely news, who grew it is.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "model/grow.h"
#include "model/model.h"
#include "model/model_state.h"
#include "model/path.h"

enum {
    TIDE_FINDINGS_MAX = 10,
    TIDE_PEAK_PARTS = 10,  /* a tenth */
    TIDE_LEAK_PARTS = 100, /* a hundredth */
    TIDE_LEAK_BYTES = 1024,
    TIDE_CHURN_PARTS = 10,
    TIDE_CHURN_CALLS = 1000,
};

enum kind { TIDE_PEAK_OWNER, TIDE_LEAK, TIDE_CHURN };

/* A finding before it has words: of one site, or of all that have one function to blame. */
struct candidate {
    enum kind kind;
    uint32_t site;        /* the heaviest */
    const char *function; /* to blame: its name in the paths, one copy of each */
    uint32_t stacks;
    uint64_t bytes, calls;
    double share;
};

struct candidates {
    struct candidate *list; /* owned */
    size_t count, capacity;
};

/* --- Candidates ------------------------------------------------------------------- */

static bool is_part(uint64_t amount, uint64_t whole, uint64_t parts)
{
    return amount > 0 && amount >= whole / parts + (whole % parts != 0);
}

static double share_of(uint64_t amount, uint64_t whole)
{
    return whole ? (double)amount / (double)whole : 0;
}

static enum tide_status add(struct candidates *candidates, struct candidate candidate)
{
    struct candidate *const list = tide_grown(candidates->list, &candidates->capacity,
                                              candidates->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    candidates->list = list;
    list[candidates->count++] = candidate;
    return TIDE_OK;
}

static enum tide_status add_peak_owner(const struct tide_model *model, uint32_t index,
                                       struct candidates *candidates)
{
    const struct tide_site *const site = &model->sites[index];
    const uint64_t peak = model->summary[site->space].peak_bytes;
    if (site->peak_bytes <= 0 ||
        !is_part((uint64_t)site->peak_bytes, peak, TIDE_PEAK_PARTS))
        return TIDE_OK;
    return add(candidates, (struct candidate){
                               .kind = TIDE_PEAK_OWNER,
                               .site = index,
                               .bytes = (uint64_t)site->peak_bytes,
                               .calls = (uint64_t)site->peak_blocks,
                               .share = share_of((uint64_t)site->peak_bytes, peak),
                           });
}

static enum tide_status add_leak(const struct tide_model *model, uint32_t index,
                                 struct candidates *candidates)
{
    const struct tide_site *const site = &model->sites[index];
    const uint64_t live = model->summary[site->space].live_bytes;
    if (site->space != TIDE_IN_HEAP || site->live_bytes < TIDE_LEAK_BYTES ||
        !is_part((uint64_t)site->live_bytes, live, TIDE_LEAK_PARTS))
        return TIDE_OK;
    return add(candidates, (struct candidate){
                               .kind = TIDE_LEAK,
                               .site = index,
                               .bytes = (uint64_t)site->live_bytes,
                               .calls = (uint64_t)site->live_blocks,
                               .share = share_of((uint64_t)site->live_bytes, live),
                           });
}

static enum tide_status add_churn(const struct tide_model *model, uint32_t index,
                                  struct candidates *candidates)
{
    const struct tide_site *const site = &model->sites[index];
    const uint64_t calls = model->summary[site->space].alloc_calls;
    if (site->temporary_calls < TIDE_CHURN_CALLS ||
        !is_part(site->temporary_calls, calls, TIDE_CHURN_PARTS))
        return TIDE_OK;
    return add(candidates, (struct candidate){
                               .kind = TIDE_CHURN,
                               .site = index,
                               .bytes = site->temporary_bytes,
                               .calls = site->temporary_calls,
                               .share = share_of(site->temporary_calls, calls),
                           });
}

/* May what is live at the end be called leaked? */
static bool ended_well(const struct tide_model *model)
{
    if (!model->honesty.complete || model->stopped)
        return false;
    for (size_t i = 0; i < model->trace->process_count; i++) {
        const struct tide_process *const process = &model->trace->processes[i];
        if (process->main && process->status_known && WIFSIGNALED(process->status))
            return false;
    }
    return true;
}

static int by_bytes(const void *one, const void *other)
{
    const struct candidate *const a = one;
    const struct candidate *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->kind != b->kind)
        return a->kind > b->kind ? 1 : -1;
    return (a->site > b->site) - (a->site < b->site);
}

static enum tide_status list_candidates(const struct tide_model *model,
                                        struct candidates *candidates)
{
    const bool leaks = ended_well(model);
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < model->site_count && !status; i++) {
        status = add_peak_owner(model, i, candidates);
        if (!status && leaks)
            status = add_leak(model, i, candidates);
        if (!status)
            status = add_churn(model, i, candidates);
    }
    if (candidates->count)
        qsort(candidates->list, candidates->count, sizeof(*candidates->list), by_bytes);
    return status;
}

/* --- Words ----------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* A function of the C or C++ runtime. */
static bool is_runtime(const struct tide_function *function)
{
    static const char *const modules[] = {
        "libc.so", "libc-2.", "libstdc++", "libc++", "libgcc_s", "ld-linux",
    };
    const char *const base = tide_path_base(function->module);
    for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
        if (starts_with(base, modules[i]))
            return true;
    }
    return function->library;
}

/* The function to blame for the path at hand. */
static uint32_t blamed(const struct tide_paths *paths)
{
    for (size_t i = 0; i < paths->call_count; i++) {
        const uint32_t function = paths->calls[i].function;
        if (!is_runtime(&paths->functions[function]))
            return function;
    }
    return paths->calls[0].function;
}

/* Does the loader run it, before main? */
static bool is_startup(const struct tide_paths *paths)
{
    const struct tide_call *const outermost = &paths->calls[paths->call_count - 1];
    const struct tide_function *const function = &paths->functions[outermost->function];
    return starts_with(tide_path_base(function->module), "ld-") ||
           strcmp(function->name, "[before start]") == 0;
}

static void add_bytes(struct tide_text *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        tide_text_addf(text, "%llu byte%s", (unsigned long long)bytes,
                       bytes == 1 ? "" : "s");
        return;
    }
    double amount = (double)bytes / 1024;
    size_t unit = 0;
    while (amount >= 1023.95 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        amount /= 1024;
        unit++;
    }
    tide_text_addf(text, "%.1f %s", amount, units[unit]);
}

/* "1,234,567 blocks" */
static void add_count(struct tide_text *text, uint64_t count, const char *thing)
{
    char digits[24];
    const int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            tide_text_add(text, ",");
        tide_text_add_bytes(text, &digits[i], 1);
    }
    tide_text_addf(text, " %s%s", thing, count == 1 ? "" : "s");
}

/* " on 3 paths", when there are several. */
static void add_stacks(struct tide_text *text, const struct candidate *candidate)
{
    if (candidate->stacks < 2)
        return;
    tide_text_add(text, " on ");
    add_count(text, candidate->stacks, "path");
}

static void write_words(struct tide_text *text, const struct tide_model *model,
                        const struct candidate *candidate)
{
    const char *const function = candidate->function;
    const double percent = candidate->share * 100;
    switch (candidate->kind) {
    case TIDE_PEAK_OWNER:
        tide_text_addf(text, "%s holds ", function);
        add_bytes(text, candidate->bytes);
        tide_text_add(text, " in ");
        add_count(text, candidate->calls, "block");
        add_stacks(text, candidate);
        tide_text_addf(text, " when %s stands highest: %.0f %% of the peak.",
                       model->sites[candidate->site].space == TIDE_IN_HEAP
                           ? "the heap"
                           : "mapped memory",
                       percent);
        break;
    case TIDE_LEAK:
        add_bytes(text, candidate->bytes);
        tide_text_add(text, " in ");
        add_count(text, candidate->calls, "block");
        tide_text_addf(text, " from %s", function);
        add_stacks(text, candidate);
        tide_text_addf(text,
                       " %s never freed: ", candidate->calls == 1 ? "was" : "were");
        tide_text_addf(text, "%.0f %% of what is live at the end.", percent);
        break;
    case TIDE_CHURN:
        tide_text_addf(text, "%s makes ", function);
        add_count(text, candidate->calls, "temporary block");
        tide_text_add(text, ", ");
        add_bytes(text, candidate->bytes);
        tide_text_add(text, " in all");
        add_stacks(text, candidate);
        tide_text_addf(text, ": %.0f %% of all allocation calls.", percent);
        break;
    }
}

/* --- One finding a function --------------------------------------------------------- */

/* Find out who is to blame for each candidate; leave out what a second look speaks
 * against. */
static enum tide_status blame(const struct tide_model *model, struct tide_paths *paths,
                              struct candidates *candidates)
{
    size_t kept = 0;
    for (size_t i = 0; i < candidates->count; i++) {
        struct candidate candidate = candidates->list[i];
        const enum tide_status status =
            tide_paths_walk(paths, model->sites[candidate.site].stack);
        if (status)
            return status;
        if (candidate.kind == TIDE_LEAK && is_startup(paths))
            continue;
        candidate.function = paths->functions[blamed(paths)].name;
        candidate.stacks = 1;
        candidates->list[kept++] = candidate;
    }
    candidates->count = kept;
    return TIDE_OK;
}

static int by_subject(const void *one, const void *other)
{
    const struct candidate *const a = one;
    const struct candidate *const b = other;
    if (a->kind != b->kind)
        return a->kind > b->kind ? 1 : -1;
    if (a->function != b->function)
        return a->function > b->function ? 1 : -1;
    return by_bytes(one, other);
}

/* Whether a space says the same of both. */
static bool same_subject(const struct tide_model *model, const struct candidate *a,
                         const struct candidate *b)
{
    return a->kind == b->kind && a->function == b->function &&
           model->sites[a->site].space == model->sites[b->site].space;
}

/* Stacks with one function to blame become one finding: the heaviest stands for them. */
static void merge(const struct tide_model *model, struct candidates *candidates)
{
    size_t kept = 0;
    if (candidates->count)
        qsort(candidates->list, candidates->count, sizeof(*candidates->list),
              by_subject);
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *const next = &candidates->list[i];
        if (kept == 0 || !same_subject(model, &candidates->list[kept - 1], next)) {
            candidates->list[kept++] = *next;
            continue;
        }
        struct candidate *const sum = &candidates->list[kept - 1];
        sum->bytes += next->bytes;
        sum->calls += next->calls;
        sum->share += next->share;
        sum->stacks++;
    }
    candidates->count = kept;
    if (kept)
        qsort(candidates->list, kept, sizeof(*candidates->list), by_bytes);
}

static enum tide_status add_finding(const struct tide_model *model,
                                    const struct candidate *candidate,
                                    struct tide_findings *out)
{
    static const char *const words[] = {
        [TIDE_PEAK_OWNER] = "peak_owner",
        [TIDE_LEAK] = "leak",
        [TIDE_CHURN] = "churn",
    };
    struct tide_text text = {0};
    write_words(&text, model, candidate);
    if (text.failed) {
        tide_text_release(&text);
        return TIDE_ENOMEM;
    }
    out->list[out->count++] = (struct tide_finding){
        .kind = words[candidate->kind],
        .text = text.bytes,
        .bytes = candidate->bytes,
        .calls = candidate->calls,
        .stack = model->sites[candidate->site].stack,
    };
    return TIDE_OK;
}

enum tide_status tide_findings_build(const struct tide_model *model,
                                     struct tide_findings *out)
{
    *out = (struct tide_findings){0};
    if (!model->symbols)
        return TIDE_EUSAGE;
    struct tide_paths paths;
    struct candidates candidates = {0};
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    status = list_candidates(model, &candidates);
    if (!status)
        status = blame(model, &paths, &candidates);
    if (!status) {
        merge(model, &candidates);
        out->list = calloc(TIDE_FINDINGS_MAX, sizeof(*out->list));
        status = out->list ? TIDE_OK : TIDE_ENOMEM;
    }
    for (size_t i = 0; i < candidates.count && !status; i++) {
        if (out->count == TIDE_FINDINGS_MAX)
            break;
        status = add_finding(model, &candidates.list[i], out);
    }
    free(candidates.list);
    tide_paths_release(&paths);
    if (status)
        tide_findings_release(out);
    return status;
}

void tide_findings_release(struct tide_findings *findings)
{
    for (size_t i = 0; findings->list && i < findings->count; i++)
        free(findings->list[i].text);
    free(findings->list);
    *findings = (struct tide_findings){0};
}
