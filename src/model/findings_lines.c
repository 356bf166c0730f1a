/* model/findings_lines.c - at which line of its function a finding is, and at how many.
 *
 * A function may do at several lines what is found of it.  The heaviest is named, and with
 * it the heaviest of the stacks that lead there.
 */
#include <stdlib.h>

#include "model/findings_parts.h"

struct spot {
    uint32_t line, site;
    uint64_t weight;
};

/* By line; of one line the heaviest first. */
static int by_line(const void *one, const void *other)
{
    const struct spot *const a = one;
    const struct spot *const b = other;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->site > b->site) - (a->site < b->site);
}

uint64_t tide_found_weight(const struct tide_model *model,
                           const struct tide_subjects *subjects, uint32_t site,
                           const struct tide_found *found)
{
    if (!tide_subject_has(subjects, found->subject, site))
        return 0;
    if (found->kind == TIDE_FOUND_LATE_FREE)
        return site == subjects->list[found->subject].late.site;
    const struct tide_subject_site *const part = &subjects->of_site[site];
    const bool lost = tide_rule_question(found->kind) == TIDE_ASK_LOST;
    if (lost && !(found->kind == TIDE_FOUND_GROWING ? part->held : part->left))
        return 0;
    return tide_rule_weight(found->kind, &model->sites[site]);
}

static size_t find_spots(const struct tide_model *model,
                         const struct tide_subjects *subjects,
                         const struct tide_found *found, struct spot *out)
{
    const bool wide = subjects->list[found->subject].wide;
    size_t count = 0;
    for (uint32_t i = 0; i < model->site_count; i++) {
        if (tide_subject_has(subjects, found->subject, i))
            out[count++] = (struct spot){
                .line = wide ? 0 : subjects->of_site[i].line,
                .site = i,
                .weight = tide_found_weight(model, subjects, i, found),
            };
    }
    qsort(out, count, sizeof(*out), by_line);
    return count;
}

enum tide_status tide_found_lines(const struct tide_model *model,
                                  const struct tide_subjects *subjects,
                                  struct tide_found *found)
{
    const size_t stacks = subjects->list[found->subject].stacks;
    struct spot *const spots = calloc(stacks, sizeof(*spots));
    if (!spots)
        return TIDE_ENOMEM;
    const size_t count = find_spots(model, subjects, found, spots);
    uint64_t most = 0;
    found->site = spots->site;
    for (size_t i = 0; i < count;) {
        const struct spot *const first = &spots[i];
        uint64_t sum = 0;
        for (; i < count && spots[i].line == first->line; i++)
            sum += spots[i].weight;
        found->lines += sum > 0;
        if (sum <= most)
            continue;
        most = sum;
        found->site = first->site;
    }
    free(spots);
    return TIDE_OK;
}
