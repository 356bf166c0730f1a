/* model/findings_hold.c - what was held for long while nothing happened to it.
 *
 * by what holdings.h wrote down: at two moments a site had made and freed as many blocks,
 * so nothing came and nothing went between them.
 */
#include "model/findings_parts.h"

enum {
    TIDE_SIBLINGS_LEAST = 8,
    TIDE_LATE_PARTS = 4,   /* late: a quarter of what it made, at most */
    TIDE_START_PARTS = 10, /* at the start: within a tenth of the run */
};

/* The seconds at MOMENT, which counts parts of the run. */
static double seconds_at(const struct tide_model *model, uint32_t moment)
{
    return model->duration_s * (double)moment / (TIDE_HOLDINGS_MOMENTS + 1);
}

static bool same(const struct tide_holding *a, const struct tide_holding *b)
{
    return a->calls == b->calls && a->freed_calls == b->freed_calls;
}

static struct tide_hold hold_of(const struct tide_model *model,
                                const struct tide_holding *first,
                                const struct tide_holding *last)
{
    return (struct tide_hold){
        .bytes = first->bytes,
        .blocks = first->calls - first->freed_calls,
        .siblings = first->freed_calls,
        .site = first->site,
        .from_s = seconds_at(model, first->moment),
        .until_s = seconds_at(model, last->moment),
    };
}

/* A few of many blocks stayed when the others were gone, and were freed after all. */
static void note_late(struct tide_subject *subject, const struct tide_model *model,
                      const struct tide_holding *first, const struct tide_holding *last)
{
    const struct tide_site *const site = &model->sites[first->site];
    const struct tide_hold hold = hold_of(model, first, last);
    if (site->live_blocks > 0 || hold.siblings < TIDE_SIBLINGS_LEAST ||
        hold.blocks * TIDE_LATE_PARTS > first->calls || site->calls != first->calls)
        return;
    const double weight = (double)hold.bytes * (hold.until_s - hold.from_s);
    const struct tide_hold *const before = &subject->late;
    if (weight > (double)before->bytes * (before->until_s - before->from_s))
        subject->late = hold;
}

/* All that it ever made, made at the start, stays until the end. */
static void note_start_up(struct tide_subject *subject, const struct tide_model *model,
                          const struct tide_holding *first,
                          const struct tide_holding *last)
{
    const struct tide_site *const site = &model->sites[first->site];
    const double born = tide_trace_seconds(model->trace, site->last_ticks);
    if (last->moment != TIDE_HOLDINGS_MOMENTS || first->freed_calls > 0 ||
        site->calls != first->calls || born > model->duration_s / TIDE_START_PARTS)
        return;
    const struct tide_hold hold = hold_of(model, first, last);
    subject->start_up.bytes += hold.bytes;
    subject->start_up.blocks += hold.blocks;
    if (born > subject->start_up.from_s)
        subject->start_up.from_s = born;
    subject->start_up.until_s = hold.until_s;
}

void tide_subjects_hold(struct tide_subjects *subjects, const struct tide_model *model)
{
    for (size_t i = 0; i < model->holding_count;) {
        const struct tide_holding *const first = &model->holdings[i];
        const struct tide_holding *last = first;
        for (i++; i < model->holding_count; i++) {
            const struct tide_holding *const next = &model->holdings[i];
            if (next->site != first->site || next->moment != last->moment + 1 ||
                !same(next, first))
                break;
            last = next;
        }
        struct tide_subject *const subject =
            &subjects->list[subjects->of_site[first->site].subject];
        note_late(subject, model, first, last);
        note_start_up(subject, model, first, last);
    }
}
