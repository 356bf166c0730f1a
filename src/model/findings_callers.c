/* model/findings_callers.c - on whose behalf a function does what is found of it.
 *
 * Mostly one caller has it do most.  Where it serves very many, the nearest says little: then
 * those further out are named that have a good part of it each, and not the same part.
 */
#include <stdlib.h>
#include <string.h>

#include "model/findings_parts.h"

enum {
    TIDE_SHARE_PARTS = 5, /* so much of it is worth a name */
    TIDE_SHARE_ALL = 3,   /* who has more than two thirds explains nothing */
};

/* One caller with half of it says enough. */
static const double TIDE_CALLER_ENOUGH = 0.5;

/* The call that has the blamed one in the path at hand made: the next outwards that is of
 * another function, and can be blamed.  UINT32_MAX: there is none. */
static uint32_t caller_of(const struct tide_subjects *subjects,
                          const struct tide_paths *paths, uint32_t function)
{
    bool inside = false;
    for (size_t i = 0; i < paths->call_count; i++) {
        const uint32_t at = paths->calls[i].function;
        inside |= at == function;
        if (inside && at != function && paths->functions[at].resolved &&
            tide_blame_fits(&subjects->blamer, paths, at))
            return at;
    }
    return UINT32_MAX;
}

/* The nearest caller that has most; *ALL: what all have. */
static enum tide_status find_nearest(const struct tide_model *model,
                                     const struct tide_subjects *subjects,
                                     struct tide_paths *paths, struct tide_found *found,
                                     uint64_t *all)
{
    const struct tide_subject *const subject = &subjects->list[found->subject];
    uint64_t *const sums = calloc(paths->function_count + 1, sizeof(*sums));
    enum tide_status status = sums ? TIDE_OK : TIDE_ENOMEM;
    uint64_t most = 0;
    *all = 0;
    for (uint32_t i = 0; i < model->site_count && !status; i++) {
        const uint64_t weight = tide_found_weight(model, subjects, i, found);
        if (weight == 0)
            continue;
        status = tide_paths_walk(paths, model->sites[i].stack);
        const uint32_t caller =
            status ? UINT32_MAX : caller_of(subjects, paths, subject->function);
        *all += weight;
        if (caller == UINT32_MAX)
            continue;
        sums[caller] += weight;
        if (sums[caller] <= most)
            continue;
        most = sums[caller];
        found->callers[0].name = paths->functions[caller].name;
    }
    if (most > 0)
        found->caller_count = 1;
    found->callers[0].share = *all ? (double)most / (double)*all : 0;
    free(sums);
    return status;
}

/* --- Shares -------------------------------------------------------------------------- */

/* The function that has the largest part of ALL worth a name, and does not have nearly all of
 * it with what others are named for; UINT32_MAX: there is none. */
static uint32_t find_share(const struct tide_subjects *subjects,
                           const struct tide_stack_tree *tree,
                           const struct tide_reach *reach, uint32_t leaf, uint64_t all)
{
    const struct tide_paths *const paths = tree->paths;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < paths->function_count; i++) {
        const uint64_t part = reach[i].left;
        if (part > all / TIDE_SHARE_PARTS &&
            reach[i].whole <= all - all / TIDE_SHARE_ALL && i != leaf &&
            paths->functions[i].resolved &&
            tide_blame_fits(&subjects->blamer, paths, i) &&
            (best == UINT32_MAX || part > reach[best].left ||
             (part == reach[best].left && reach[i].depth > reach[best].depth)))
            best = i;
    }
    return best;
}

static int by_share(const void *one, const void *other)
{
    const struct tide_caller *const a = one;
    const struct tide_caller *const b = other;
    return (a->share < b->share) - (a->share > b->share);
}

/* Sum up what was FOUND, without the sites that are NAMED. */
static void sum_rest(const struct tide_model *model,
                     const struct tide_subjects *subjects, struct tide_stack_tree *tree,
                     const struct tide_found *found, const bool *named)
{
    tide_stack_tree_clear(tree);
    for (uint32_t i = 0; i < model->site_count; i++)
        if (!named[i])
            tide_stack_tree_add(tree, model->sites[i].stack,
                                tide_found_weight(model, subjects, i, found), 0);
}

/* Name those that have a part each of what was FOUND, ALL in sum. */
static enum tide_status find_shares(const struct tide_model *model,
                                    const struct tide_subjects *subjects,
                                    struct tide_stack_tree *tree,
                                    struct tide_found *found, uint64_t all)
{
    const struct tide_subject *const subject = &subjects->list[found->subject];
    const uint32_t leaf = subject->module ? UINT32_MAX : subject->function;
    struct tide_caller callers[TIDE_CALLERS_SAID] = {{0}};
    uint32_t count = 0;
    bool *const named = calloc(model->site_count + 1, sizeof(*named));
    struct tide_reach *const reach =
        calloc(tree->paths->function_count + 1, sizeof(*reach));
    const enum tide_status status = named && reach ? TIDE_OK : TIDE_ENOMEM;
    while (!status && count < TIDE_CALLERS_SAID) {
        sum_rest(model, subjects, tree, found, named);
        tide_stack_tree_reach(tree, reach);
        for (uint32_t i = 0; count == 0 && i < tree->paths->function_count; i++)
            reach[i].whole = reach[i].left;
        const uint32_t next = find_share(subjects, tree, reach, leaf, all);
        if (next == UINT32_MAX)
            break;
        tide_stack_tree_mark(tree, next);
        for (uint32_t i = 0; i < model->site_count; i++)
            named[i] |= tide_stack_tree_has(tree, model->sites[i].stack);
        callers[count++] = (struct tide_caller){tree->paths->functions[next].name,
                                                (double)reach[next].left / (double)all};
    }
    if (count) {
        qsort(callers, count, sizeof(*callers), by_share);
        memcpy(found->callers, callers, sizeof(callers));
        found->caller_count = count;
        found->callers_below = true;
    }
    free(named);
    free(reach);
    return status;
}

enum tide_status tide_found_callers(const struct tide_model *model,
                                    const struct tide_subjects *subjects,
                                    struct tide_stack_tree *tree,
                                    struct tide_paths *paths, struct tide_found *found)
{
    uint64_t all = 0;
    if (subjects->list[found->subject].wide) {
        for (uint32_t i = 0; i < model->site_count; i++)
            all += tide_found_weight(model, subjects, i, found);
        return find_shares(model, subjects, tree, found, all);
    }
    const enum tide_status status = find_nearest(model, subjects, paths, found, &all);
    if (status || all == 0 || found->callers[0].share >= TIDE_CALLER_ENOUGH)
        return status;
    return find_shares(model, subjects, tree, found, all);
}
