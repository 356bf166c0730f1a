/* model/findings_subjects.c - sites, summed up by the function to blame for them.
 */
#include <stdlib.h>

#include "model/findings_parts.h"
#include "model/grow.h"
#include "model/pairs.h"
#include "model/process_ends.h"
#include "model/survivors.h"

enum {
    TIDE_KEEPERS_FEW = 2,
    TIDE_KEEPERS_PARTS = 10, /* a tenth */
    TIDE_KEPT_PARTS = 100,
};

void tide_subjects_release(struct tide_subjects *subjects)
{
    free(subjects->list);
    free(subjects->of_site);
    for (int i = 0; i < TIDE_QUESTIONS; i++)
        free(subjects->wide[i]);
    tide_blamer_release(&subjects->blamer);
    *subjects = (struct tide_subjects){0};
}

/* May what is live at the end be called leaked?  Not when the end was not seen, nor what a
 * process held that broke off: its work was not done.  Without evidence one cannot be told
 * from the other. */
static bool ended_well(const struct tide_model *model)
{
    return model->honesty.complete && !model->stopped &&
           (model->losses || !tide_model_breaks_off(model));
}

/* Many programs end without freeing what they hold, and are right: then what is live was
 * not lost.  That one of a few functions keeps something in a program that frees all else
 * is another thing.  What is made when a program starts does not count, nor does what is less
 * than a hundredth of the rest.  How many keep something behind a layer is not known. */
static void judge_end(struct tide_subjects *subjects)
{
    const uint32_t first_part = 1;
    size_t makers = 0, keepers = 0, large = 0, layers = 0;
    for (size_t i = 0; i < subjects->count; i++)
        if (subjects->list[i].left.slices[TIDE_LIFE_BIRTHS] != first_part)
            subjects->left_bytes += subjects->list[i].left.bytes;
    for (size_t i = 0; i < subjects->count; i++) {
        const struct tide_subject *const subject = &subjects->list[i];
        const struct tide_survival *const left = &subject->left;
        makers += subject->space == TIDE_IN_HEAP;
        keepers += left->blocks > 0;
        layers += left->blocks > 0 && subject->may_be_layer;
        large += left->slices[TIDE_LIFE_BIRTHS] != first_part &&
                 left->bytes > subjects->left_bytes / TIDE_KEPT_PARTS;
    }
    subjects->tidy = layers == 0 && (keepers <= TIDE_KEEPERS_FEW ||
                                     keepers <= makers / TIDE_KEEPERS_PARTS);
    subjects->nearly_tidy =
        subjects->tidy || (layers == 0 && large <= TIDE_KEEPERS_FEW);
}

/* --- One site ------------------------------------------------------------------------ */

static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* AMOUNT times PART of WHOLE. */
static uint64_t part_of(uint64_t amount, uint64_t part, uint64_t whole)
{
    return whole ? (uint64_t)((double)amount * ((double)part / (double)whole)) : 0;
}

/* If sizes differ, one of these sums gives it away. */
uint64_t tide_site_size(const struct tide_site *site)
{
    const uint64_t size = site->calls ? site->bytes / site->calls : 0;
    const bool equal = size && size * site->calls == site->bytes &&
                       size * site->freed_calls == site->freed_bytes &&
                       size * site->temporary_calls == site->temporary_bytes &&
                       site->most_bytes % size == 0 &&
                       site->peak_bytes % (int64_t)size == 0;
    return equal ? size : 0;
}

void tide_subject_add_site(struct tide_subject *subject, const struct tide_site *site)
{
    const uint64_t peak_blocks = at_least_zero(site->peak_blocks);
    subject->stacks++;
    subject->calls += site->calls;
    subject->bytes += site->bytes;
    subject->freed_calls += site->freed_calls;
    subject->freed_bytes += site->freed_bytes;
    subject->temporary_calls += site->temporary_calls;
    subject->temporary_bytes += site->temporary_bytes;
    subject->foreign_calls += site->more.foreign_calls;
    subject->foreign_bytes += site->more.foreign_bytes;
    subject->peak_blocks += peak_blocks;
    subject->peak_bytes += at_least_zero(site->peak_bytes);
    subject->peak_slack += part_of(site->slack_bytes, peak_blocks, site->calls);
    subject->most_bytes += site->most_bytes;
    if (subject->stacks == 1 || site->first_ticks < subject->first_ticks)
        subject->first_ticks = site->first_ticks;
    if (site->last_ticks > subject->last_ticks)
        subject->last_ticks = site->last_ticks;
    const uint64_t size = tide_site_size(site);
    if (size) {
        subject->equal_calls += site->calls;
        subject->equal_blocks += site->most_bytes / size;
    }
}

static void add_moves(struct tide_subject *subject, const struct tide_key_more *more)
{
    subject->moved_calls += more->moved_calls;
    subject->crept_calls += more->crept_calls;
    subject->crept_bytes += more->crept_bytes;
    subject->copied_calls += more->copied_calls;
    subject->copied_bytes += more->copied_bytes;
}

/* How much of what SITE never freed, KNOWN, stood there at the peak.  A stack that frees
 * nothing tells; of another the peak has blocks that were freed later, too. */
static void add_left_at_peak(struct tide_subject *subject,
                             const struct tide_model *model,
                             const struct tide_site *site,
                             const struct tide_survival *known)
{
    const double peak_s = model->summary[TIDE_IN_HEAP].peak_time_s;
    const uint64_t peak = at_least_zero(site->peak_bytes);
    const bool frees = site->freed_calls > 0;
    if (frees && tide_trace_seconds(model->trace, known->first_ticks) > peak_s)
        return;
    subject->left_at_peak += peak < known->bytes ? peak : known->bytes;
    subject->left_at_peak_at_most |=
        frees && peak > 0 &&
        (known->processes > 1 ||
         tide_trace_seconds(model->trace, known->last_ticks) > peak_s);
}

struct tide_survival tide_site_left(const struct tide_model *model, uint32_t site)
{
    const struct tide_survival *const known =
        model->losses ? model->losses : model->survivals;
    const struct tide_site *const leaks = &model->sites[site];
    return known ? known[site]
                 : (struct tide_survival){
                       .blocks = at_least_zero(leaks->live_blocks),
                       .bytes = at_least_zero(leaks->live_bytes),
                       .first_ticks = leaks->first_ticks,
                       .last_ticks = leaks->last_ticks,
                   };
}

static void add_left(struct tide_subject *subject, const struct tide_model *model,
                     const struct tide_site *site, const struct tide_survival *known)
{
    tide_survival_merge(&subject->left, known);
    add_left_at_peak(subject, model, site, known);
    /* Two stacks of one thread count twice: so many threads at most. */
    if (known->threads > subject->left.threads)
        subject->left.threads = known->threads;
    if (known->processes > subject->left.processes)
        subject->left.processes = known->processes;
}

bool tide_subject_has(const struct tide_subjects *subjects, uint32_t subject,
                      uint32_t site)
{
    const struct tide_subject *const known = &subjects->list[subject];
    return (known->wide ? subjects->wide[known->question][site]
                        : subjects->of_site[site].subject) == subject;
}

/* --- All ----------------------------------------------------------------------------- */

struct gathering {
    struct tide_subjects *subjects;
    const struct tide_model *model;
    struct tide_paths *paths;
    const bool *suppressed;
    struct tide_pairs known; /* (function, space) of each subject */
};

/* The subject of FUNCTION in SPACE, new or known; TIDE_NO_SUBJECT without memory. */
static uint32_t find_subject(struct gathering *gathering, uint32_t function,
                             uint32_t space)
{
    struct tide_subjects *const subjects = gathering->subjects;
    uint32_t number;
    if (tide_pairs_find(&gathering->known, (struct tide_pair){function, space},
                        &number))
        return TIDE_NO_SUBJECT;
    struct tide_subject *const list = tide_grown(subjects->list, &subjects->capacity,
                                                 (size_t)number + 1, sizeof(*list));
    if (!list)
        return TIDE_NO_SUBJECT;
    subjects->list = list;
    subjects->count = gathering->known.count;
    list[number].function = function;
    list[number].space = space;
    return number;
}

/* What SITE held when its process broke off, or the trace: NULL: nothing, or it is not told
 * from what it LOST in others. */
static const struct tide_survival *held_by(const struct gathering *gathering,
                                           uint32_t site,
                                           const struct tide_survival *lost)
{
    const struct tide_model *const model = gathering->model;
    const bool cut = !model->honesty.complete && !model->losses;
    if (!model->survivals || model->stopped || model->survivals[site].blocks == 0 ||
        (!cut && (!model->losses || lost->blocks > 0)))
        return NULL;
    return &model->survivals[site];
}

static enum tide_status gather_site(struct gathering *gathering, uint32_t index)
{
    const struct tide_site *const site = &gathering->model->sites[index];
    struct tide_paths *const paths = gathering->paths;
    struct tide_blame blame;
    enum tide_status status = tide_paths_walk(paths, site->stack);
    if (!status)
        status = tide_blame_path(&gathering->subjects->blamer, paths, &blame);
    if (status)
        return status;
    const uint32_t number =
        find_subject(gathering, paths->calls[blame.call].function, site->space);
    if (number == TIDE_NO_SUBJECT)
        return TIDE_ENOMEM;
    struct tide_subject *const subject = &gathering->subjects->list[number];
    tide_subject_add_site(subject, site);
    subject->may_be_layer =
        subject->stacks > 1 && !paths->functions[subject->function].resolved;
    add_moves(subject, &site->more);
    if (blame.grows) {
        subject->step_calls += site->calls;
        subject->step_bytes += site->bytes;
    }
    const bool silent =
        blame.loader || (gathering->suppressed && gathering->suppressed[index]);
    const struct tide_survival known = tide_site_left(gathering->model, index);
    const bool left = site->space == TIDE_IN_HEAP && known.blocks > 0 && !silent;
    if (left)
        add_left(subject, gathering->model, site, &known);
    const struct tide_survival *const held = held_by(gathering, index, &known);
    if (held && site->space == TIDE_IN_HEAP && !silent)
        tide_survival_merge(&subject->held, held);
    gathering->subjects->of_site[index] = (struct tide_subject_site){
        .subject = number,
        .line = paths->calls[blame.call].line,
        .left = left,
        .held = held != NULL,
    };
    return TIDE_OK;
}

enum tide_status tide_subjects_gather(struct tide_subjects *subjects,
                                      const struct tide_model *model,
                                      struct tide_paths *paths, const bool *suppressed)
{
    struct gathering gathering = {
        .subjects = subjects, .model = model, .paths = paths, .suppressed = suppressed};
    *subjects = (struct tide_subjects){.ended_well = ended_well(model)};
    subjects->of_site = calloc(model->site_count + 1, sizeof(*subjects->of_site));
    enum tide_status status = subjects->of_site ? TIDE_OK : TIDE_ENOMEM;
    for (uint32_t i = 0; i < model->site_count && !status; i++)
        status = gather_site(&gathering, i);
    tide_pairs_release(&gathering.known);
    if (status)
        tide_subjects_release(subjects);
    if (status)
        return status;
    judge_end(subjects);
    tide_subjects_hold(subjects, model);
    return TIDE_OK;
}
