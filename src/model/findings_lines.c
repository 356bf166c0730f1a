/* model/findings_lines.c - at which line of its function a finding is, and at how many.
 *
 * A function may do at several lines what is found of it.  The heaviest is named, and with
 * it the heaviest of the stacks that lead there.
 */
#include <stdlib.h>

#include "model/findings_parts.h"

enum { TIDE_PAGE = 4096 };

struct spot {
    uint32_t line, site;
    uint64_t weight;
};

struct part {
    uint64_t blocks, bytes;
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

/* What SITE adds to the blocks and bytes of a finding of KIND. */
static struct part part_in(enum tide_finding_kind kind, const struct tide_model *model,
                           uint32_t site)
{
    const struct tide_site *const all = &model->sites[site];
    switch (tide_rule_question(kind)) {
    case TIDE_ASK_LOST: {
        const struct tide_survival left = kind == TIDE_FOUND_GROWING
                                              ? model->survivals[site]
                                              : tide_site_left(model, site);
        return (struct part){left.blocks, left.bytes};
    }
    case TIDE_ASK_STANDS:
        return (struct part){all->peak_blocks > 0 ? (uint64_t)all->peak_blocks : 0,
                             all->peak_bytes > 0 ? (uint64_t)all->peak_bytes : 0};
    case TIDE_ASK_CHURNS:
    case TIDE_QUESTIONS:
    default:
        return kind == TIDE_FOUND_CHURN
                   ? (struct part){all->temporary_calls, all->temporary_bytes}
                   : (struct part){all->calls, all->bytes};
    }
}

/* Add what SPOT has to PART, and its size to those that were FOUND. */
static void add_part(struct tide_found *found, const struct tide_model *model,
                     const struct spot *spot, struct part *part)
{
    const uint64_t size = tide_site_size(&model->sites[spot->site]);
    if (spot->weight == 0)
        return;
    const struct part own = part_in(found->kind, model, spot->site);
    part->blocks += own.blocks;
    part->bytes += own.bytes;
    if (model->sites[spot->site].bytes % TIDE_PAGE == 0)
        found->page_bytes += own.bytes;
    found->size_least = size < found->size_least ? size : found->size_least;
    found->size_most = size > found->size_most ? size : found->size_most;
}

enum tide_status tide_found_lines(const struct tide_model *model,
                                  const struct tide_subjects *subjects,
                                  struct tide_found *found)
{
    struct part heaviest = {0}, all = {0};
    const size_t stacks = subjects->list[found->subject].stacks;
    struct spot *const spots = calloc(stacks, sizeof(*spots));
    if (!spots)
        return TIDE_ENOMEM;
    const size_t count = find_spots(model, subjects, found, spots);
    uint64_t most = 0;
    found->size_least = UINT64_MAX;
    found->site = spots->site;
    for (size_t i = 0; i < count;) {
        const struct spot *const first = &spots[i];
        uint64_t sum = 0;
        struct part part = {0};
        for (; i < count && spots[i].line == first->line; i++) {
            sum += spots[i].weight;
            add_part(found, model, &spots[i], &part);
        }
        found->lines += sum > 0;
        all.blocks += part.blocks;
        all.bytes += part.bytes;
        if (sum <= most)
            continue;
        most = sum;
        heaviest = part;
        found->site = first->site;
    }
    found->other_blocks = all.blocks - heaviest.blocks;
    found->other_bytes = all.bytes - heaviest.bytes;
    free(spots);
    return TIDE_OK;
}
