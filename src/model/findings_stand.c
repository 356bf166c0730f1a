/* model/findings_stand.c - what stood at the peak: since when, until when, beside whom.
 *
 * What heavy sites held, and how high the heap stood, is known at some moments of the run
 * (holdings.h).  The peak cannot fall below what stands without the finding at another time;
 * between these moments that may be more, so what a cure saves is said to be at most so much.
 */
#include <stdlib.h>

#include "model/findings_parts.h"

enum {
    TIDE_LAST_MOMENT = TIDE_HOLDINGS_MOMENTS + 1, /* the end of the run */
    TIDE_WRITTEN_PARTS = 50, /* what holdings.h writes down: a 50th of what stands */
};

/* HELD[M]: what SUBJECT holds at moment M.  False: most of it is of sites so light that
 * nobody wrote it down. */
static bool sum_holdings(const struct tide_model *model,
                         const struct tide_subjects *subjects, uint32_t subject,
                         uint64_t held[TIDE_LAST_MOMENT + 1])
{
    const uint64_t least = model->summary[TIDE_IN_HEAP].peak_bytes / TIDE_WRITTEN_PARTS;
    uint64_t heavy = 0;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const int64_t bytes = model->sites[i].peak_bytes;
        if (bytes > 0 && (uint64_t)bytes > least &&
            tide_subject_has(subjects, subject, i))
            heavy += (uint64_t)bytes;
    }
    for (size_t i = 0; i < model->holding_count; i++) {
        const struct tide_holding *const holding = &model->holdings[i];
        if (tide_subject_has(subjects, subject, holding->site))
            held[holding->moment] += holding->bytes;
    }
    return heavy > subjects->list[subject].peak_bytes / 4 * 3;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The heap stands at least so high at some time without what is HELD by a subject that held
 * MOST at once, and PEAK_BYTES of the peak: at the peak, at moments when both are known, and
 * wherever it stands higher than the subject ever did. */
static uint64_t highest_without(const struct tide_model *model, const uint64_t *held,
                                uint64_t most, uint64_t peak_bytes)
{
    uint64_t highest = model->summary[TIDE_IN_HEAP].peak_bytes - peak_bytes;
    for (int i = 1; i <= TIDE_HOLDINGS_MOMENTS; i++)
        if (model->heights[i] > held[i])
            highest = larger(highest, model->heights[i] - held[i]);
    for (uint32_t i = 0; i < model->timeline_count; i++)
        if (model->timeline[i] > most)
            highest = larger(highest, model->timeline[i] - most);
    return highest;
}

/* After which moment the peak is.  A damaged trace may say that it was before the run. */
static int moment_before(double peak_s, double part)
{
    const double at = peak_s / part;
    if (at >= TIDE_LAST_MOMENT)
        return TIDE_LAST_MOMENT - 1;
    return at > 0 ? (int)at : 0;
}

/* Until when SUBJECT holds half of what it holds at the peak, and how far the peak falls
 * without it. */
static void find_span(const struct tide_model *model,
                      const struct tide_subjects *subjects, struct tide_found *found)
{
    uint64_t held[TIDE_LAST_MOMENT + 1] = {0};
    const struct tide_summary *const heap = &model->summary[TIDE_IN_HEAP];
    const uint64_t bytes = subjects->list[found->subject].peak_bytes;
    const double part = model->duration_s / TIDE_LAST_MOMENT;
    const int at = moment_before(heap->peak_time_s, part);
    struct tide_standing *const out = &found->standing;
    struct tide_verdict_on *const verdict = &found->verdict;
    int after = at + 1;
    if (!sum_holdings(model, subjects, found->subject, held))
        return;
    while (after < TIDE_LAST_MOMENT && held[after] > bytes / 2)
        after++;
    *out = (struct tide_standing){
        .known = true, .to_end = after == TIDE_LAST_MOMENT, .until_s = part * after};
    verdict->gain_bytes =
        heap->peak_bytes -
        highest_without(model, held, subjects->list[found->subject].most_bytes, bytes);
    verdict->share = (double)verdict->gain_bytes / (double)heap->peak_bytes;
    verdict->rank = verdict->share;
}

/* Put HOLDER in its place among OUT, the largest first. */
static void keep_largest(struct tide_holder *out, size_t count,
                         struct tide_holder holder)
{
    for (size_t i = 0; i < count; i++) {
        const struct tide_holder smaller = out[i];
        if (smaller.bytes >= holder.bytes)
            continue;
        out[i] = holder;
        holder = smaller;
    }
}

enum tide_status tide_found_others(const struct tide_model *model,
                                   const struct tide_subjects *subjects,
                                   const struct tide_paths *paths,
                                   struct tide_found *found)
{
    const uint32_t subject = found->subject;
    struct tide_standing *const out = &found->standing;
    const uint32_t space = subjects->list[subject].space;
    const bool wide = subjects->list[subject].wide;
    if (found->kind != TIDE_FOUND_PEAK_OWNER)
        return TIDE_OK;
    uint64_t *const held = calloc(subjects->count, sizeof(*held));
    if (!held)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        if (site->space == space && site->peak_bytes > 0 &&
            tide_subject_has(subjects, subject, i) == wide)
            held[subjects->of_site[i].subject] += (uint64_t)site->peak_bytes;
    }
    for (size_t i = 0; i < subjects->count; i++) {
        if (!wide && subjects->list[i].explained[TIDE_ASK_LOST])
            continue;
        keep_largest(wide ? out->parts : &out->next,
                     wide ? sizeof(out->parts) / sizeof(out->parts[0]) : 1,
                     (struct tide_holder){
                         paths->functions[subjects->list[i].function].name, held[i]});
    }
    free(held);
    return TIDE_OK;
}

/* What SUBJECT allocates below what is WIDE. */
static uint64_t bytes_inside(const struct tide_model *model,
                             const struct tide_subjects *subjects, uint32_t wide,
                             uint32_t subject)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < model->site_count; i++)
        if (subjects->of_site[i].subject == subject &&
            tide_subject_has(subjects, wide, i))
            bytes += model->sites[i].bytes;
    return bytes;
}

void tide_found_inside(const struct tide_model *model,
                       const struct tide_subjects *subjects,
                       const struct tide_paths *paths, const struct tide_found *other,
                       struct tide_found *found)
{
    struct tide_standing *const out = &found->standing;
    const struct tide_subject *const subject = &subjects->list[other->subject];
    if (found->kind != TIDE_FOUND_TURNOVER || !subjects->list[found->subject].wide ||
        subject->wide || tide_rule_question(other->kind) != TIDE_ASK_CHURNS)
        return;
    const uint64_t bytes =
        bytes_inside(model, subjects, found->subject, other->subject);
    if (bytes > subject->bytes / 2)
        keep_largest(
            out->parts, sizeof(out->parts) / sizeof(out->parts[0]),
            (struct tide_holder){paths->functions[subject->function].name, bytes});
}

void tide_found_standing(const struct tide_model *model,
                         const struct tide_subjects *subjects, struct tide_found *found)
{
    if (found->kind == TIDE_FOUND_PEAK_OWNER &&
        subjects->list[found->subject].space == TIDE_IN_HEAP && model->timeline_count &&
        model->axis == TIDE_AXIS_SECONDS && model->duration_s > 0)
        find_span(model, subjects, found);
}
