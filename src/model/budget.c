/* model/budget.c - does a run keep within its limits? */
#include "model/budget.h"

#include <stdlib.h>
#include <string.h>

#include "model/diff.h"
#include "model/grow.h"
#include "model/near_names.h"
#include "model/path.h"
#include "model/pattern.h"
#include "model/process_ends.h"

static enum tide_status add(struct tide_verdicts *checks, struct tide_verdict check)
{
    struct tide_verdict *const list =
        tide_grown(checks->list, &checks->capacity, checks->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    checks->list = list;
    list[checks->count++] = check;
    checks->failed += !check.passed;
    return TIDE_OK;
}

/* MEASURED is to be LIMIT at most, if there is one.  A limit within the margin is not
 * known to be kept; what grew is compared all the same, since the baseline's peak has such
 * a margin as well. */
static enum tide_status add_limit(struct tide_verdicts *checks,
                                  const struct tide_budget *budget,
                                  struct tide_verdict check)
{
    if (check.limit == TIDE_NO_LIMIT)
        return TIDE_OK;
    check.passed = check.measured <= check.limit;
    check.may_exceed = check.passed && check.margin > check.limit - check.measured;
    check.passed =
        check.passed && (!check.may_exceed || check.compared || budget->allow_margin);
    return add(checks, check);
}

/* --- Is all there? ------------------------------------------------------------------- */

static uint64_t count_losses(const struct tide_model *model)
{
    const struct tide_honesty *const honesty = &model->honesty;
    const char *const *const troubles = model->trace->troubles;
    return honesty->dropped + honesty->lost_records + model->trace->bad_chunks +
           !honesty->complete + (troubles && troubles[0]) +
           !tide_model_records(model, TIDE_IN_HEAP) +
           (model->trace->process_count == 0);
}

static enum tide_status check_whole(struct tide_verdicts *checks,
                                    const struct tide_model *model, const char *name,
                                    bool allowed)
{
    struct tide_verdict check = {.name = name, .measured = count_losses(model)};
    if (check.measured > 0 && allowed)
        check.note = "incomplete, which is allowed";
    else if (!model->honesty.complete)
        check.note = "the trace ends early";
    else if (model->trace->process_count == 0)
        check.note = "no process was recorded";
    else if (!tide_model_records(model, TIDE_IN_HEAP))
        check.note = "the heap was not recorded, as run --spaces asks";
    else if (model->trace->troubles && model->trace->troubles[0])
        check.note = "not everything was recorded: the report says what";
    else if (check.measured > 0)
        check.note = "parts of the trace were lost";
    check.passed = check.measured == 0 || allowed;
    return add(checks, check);
}

/* What was never freed, without what is suppressed. */
static uint64_t leaked(const struct tide_summary *summary,
                       const struct tide_suppressions *suppressed)
{
    const uint64_t live = summary->live_bytes;
    return suppressed && suppressed->bytes <= live ? live - suppressed->bytes : live;
}

/* What is to be said beside BYTES that are live at the end of MODEL. */
static const char *note_of_left(const struct tide_model *model, uint64_t bytes)
{
    if (bytes == 0 || model->stopped)
        return NULL;
    if (tide_model_killed_by(model))
        return "still held when the program was killed";
    const uint64_t held = tide_model_held_bytes(model);
    if (held == 0)
        return NULL;
    return held < model->summary[TIDE_IN_HEAP].live_bytes
               ? "in part still held by a process not seen to exit"
               : "still held by a process not seen to exit";
}

/* --- Limits of one run --------------------------------------------------------------- */

static enum tide_status check_totals(struct tide_verdicts *checks,
                                     const struct tide_budget *budget,
                                     const struct tide_model *model)
{
    const struct tide_summary *const summary = &model->summary[TIDE_IN_HEAP];
    const uint64_t left = leaked(summary, budget->suppressed);
    const struct tide_verdict limits[] = {
        {.name = "peak",
         .in_bytes = true,
         .measured = summary->peak_bytes,
         .margin = summary->peak_uncertainty_bytes,
         .limit = budget->max_peak},
        {.name = "leak",
         .in_bytes = true,
         .measured = left,
         .limit = budget->max_leak,
         .note = note_of_left(model, left),
         .suppressed = budget->suppressed ? budget->suppressed->bytes : 0},
        {.name = "total",
         .in_bytes = true,
         .measured = summary->allocated_bytes,
         .limit = budget->max_total},
        {.name = "calls", .measured = summary->alloc_calls, .limit = budget->max_calls},
    };
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !status; i++)
        status = add_limit(checks, budget, limits[i]);
    return status;
}

/* For each function that paths know: is it what is WANTED?  1: no, 2: yes. */
struct matcher {
    const char *wanted;
    uint8_t *known; /* owned */
    size_t capacity;
};

/* Does the path that was walked last go through what is wanted? */
static enum tide_status goes_through(struct matcher *matcher,
                                     const struct tide_paths *paths, bool *out)
{
    uint8_t *const known =
        tide_grown(matcher->known, &matcher->capacity, paths->function_count, 1);
    if (!known)
        return TIDE_ENOMEM;
    matcher->known = known;
    *out = false;
    for (size_t i = 0; i < paths->call_count && !*out; i++) {
        const uint32_t function = paths->calls[i].function;
        if (!known[function])
            known[function] =
                tide_function_is(paths->functions[function].name, matcher->wanted) ? 2
                                                                                   : 1;
        *out = known[function] == 2;
    }
    return TIDE_OK;
}

/* A limit of what is not there is mostly a name that is misspelt. */
static enum tide_status note_unmet(struct tide_verdict *check, struct tide_paths *paths)
{
    struct tide_text near = {0}, note = {0};
    enum tide_status status = tide_near_names(paths, check->function, &near);
    tide_text_add(&note, "no function of that name allocates");
    if (near.length > 0)
        tide_text_addf(&note, "; did you mean %s?", near.bytes);
    if (!status && (near.failed || note.failed))
        status = TIDE_ENOMEM;
    tide_text_release(&near);
    if (status)
        tide_text_release(&note);
    check->unmet = true;
    check->note = check->own_note = note.bytes;
    return status;
}

/* How often functions that LIMIT is of, and what they call, allocate. */
static enum tide_status count_calls_in(struct tide_paths *paths,
                                       const struct tide_call_limit *limit, bool *any,
                                       uint64_t *calls)
{
    const struct tide_model *const model = paths->model;
    struct matcher matcher = {.wanted = limit->function};
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < model->site_count && !status; i++) {
        const struct tide_site *const site = &model->sites[i];
        bool through = false;
        if (site->space != TIDE_IN_HEAP)
            continue;
        status = tide_paths_walk(paths, site->stack);
        if (!status)
            status = goes_through(&matcher, paths, &through);
        *calls += through ? site->calls : 0;
        *any |= through;
    }
    free(matcher.known);
    return status;
}

static enum tide_status check_calls_in(struct tide_verdicts *checks,
                                       const struct tide_budget *budget,
                                       const struct tide_model *model,
                                       const struct tide_call_limit *limit)
{
    struct tide_verdict check = {
        .name = "calls_in", .function = limit->function, .limit = limit->most};
    struct tide_paths paths;
    bool any = false;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    status = count_calls_in(&paths, limit, &any, &check.measured);
    if (!status && !any)
        status = note_unmet(&check, &paths);
    tide_paths_release(&paths);
    /* That a function allocates nothing may be just what is wanted. */
    check.passed = check.measured <= check.limit &&
                   (any || limit->most == 0 || budget->allow_unknown);
    if (!status)
        status = add(checks, check);
    if (status)
        free(check.own_note);
    return status;
}

/* --- Limits of growth ---------------------------------------------------------------- */

/* BASE and PERCENT of it more. */
static uint64_t grown_by(uint64_t base, double percent)
{
    const double more = (double)base * percent / 100.0;
    return more < (double)(TIDE_NO_LIMIT - 1 - base) ? base + (uint64_t)more
                                                     : TIDE_NO_LIMIT - 1;
}

static enum tide_status check_growth(struct tide_verdicts *checks,
                                     const struct tide_budget *budget,
                                     const struct tide_summary *now,
                                     const struct tide_summary *before)
{
    struct tide_verdict limits[] = {
        {.name = "growth_peak",
         .in_bytes = true,
         .measured = now->peak_bytes,
         .margin = now->peak_uncertainty_bytes,
         .base = before->peak_bytes},
        {.name = "growth_leak",
         .in_bytes = true,
         .measured = leaked(now, budget->suppressed),
         .base = leaked(before, budget->baseline_suppressed),
         .suppressed = budget->suppressed ? budget->suppressed->bytes : 0},
        {.name = "growth_total",
         .in_bytes = true,
         .measured = now->allocated_bytes,
         .base = before->allocated_bytes},
        {.name = "growth_calls",
         .measured = now->alloc_calls,
         .base = before->alloc_calls},
    };
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]) && !status; i++) {
        limits[i].compared = true;
        limits[i].limit = grown_by(limits[i].base, budget->max_growth);
        status = add_limit(checks, budget, limits[i]);
    }
    return status;
}

static const bool *sites_of(const struct tide_suppressions *suppressed)
{
    return suppressed ? suppressed->sites : NULL;
}

/* How many stacks of MODEL are SUPPRESSED. */
static uint64_t count_sites(const struct tide_model *model, const bool *suppressed)
{
    uint64_t count = 0;
    for (size_t i = 0; suppressed && i < model->site_count; i++)
        count += suppressed[i];
    return count;
}

static enum tide_status check_new_leaks(struct tide_verdicts *checks,
                                        const struct tide_budget *budget,
                                        const struct tide_model *now,
                                        const struct tide_model *before)
{
    const struct tide_diff_request request = {
        .models = {before, now},
        .suppressed = {sites_of(budget->baseline_suppressed),
                       sites_of(budget->suppressed)},
        .metric = TIDE_METRIC_LEAKS,
        .space = TIDE_IN_HEAP,
        .fold = true, /* the inside of a library changes with its version */
    };
    struct tide_diff *diff;
    const enum tide_status status = tide_diff_build(&request, &diff);
    if (status)
        return status;
    const struct tide_verdict check = {
        .name = "new_leaks",
        .measured = diff->added.count,
        .limit = budget->max_new_leaks,
        .suppressed = count_sites(now, request.suppressed[TIDE_SIDE_NEW]),
    };
    tide_diff_free(diff);
    return add_limit(checks, budget, check);
}

static enum tide_status check_baseline(struct tide_verdicts *checks,
                                       const struct tide_budget *budget,
                                       const struct tide_model *model,
                                       const struct tide_model *baseline)
{
    enum tide_status status =
        check_whole(checks, baseline, "baseline_complete", budget->allow_incomplete);
    if (!status && budget->max_growth >= 0)
        status = check_growth(checks, budget, &model->summary[TIDE_IN_HEAP],
                              &baseline->summary[TIDE_IN_HEAP]);
    if (!status && budget->max_new_leaks != TIDE_NO_LIMIT)
        status = check_new_leaks(checks, budget, model, baseline);
    return status;
}

enum tide_status tide_budget_check(const struct tide_budget *budget,
                                   const struct tide_model *model,
                                   const struct tide_model *baseline,
                                   struct tide_verdicts *out)
{
    *out = (struct tide_verdicts){0};
    enum tide_status status =
        check_whole(out, model, "complete", budget->allow_incomplete);
    if (!status)
        status = check_totals(out, budget, model);
    for (size_t i = 0; i < budget->calls_in_count && !status; i++)
        status = check_calls_in(out, budget, model, &budget->calls_in[i]);
    if (!status && baseline)
        status = check_baseline(out, budget, model, baseline);
    for (size_t i = 0; i < out->count; i++)
        out->list[i].stopped = model->stopped;
    if (status)
        tide_verdicts_release(out);
    return status;
}

void tide_verdicts_release(struct tide_verdicts *checks)
{
    for (size_t i = 0; i < checks->count; i++)
        free(checks->list[i].own_note);
    free(checks->list);
    *checks = (struct tide_verdicts){0};
}
