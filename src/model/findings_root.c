/* model/findings_root.c - findings that have one root are one finding.
 *
 * Who holds most at the peak may be several functions that all work for one: a picture and its
 * pixels, both made by one test at the start.  When what that one does is only a part of the
 * run, it can be left out, put off or made smaller, and this is what a reader wants to know.
 * A function that does most of the run's work is no such root: everything is below it.
 */
#include <stdlib.h>

#include "model/findings_parts.h"
#include "model/grow.h"

enum {
    TIDE_ROOT_PARTS = 20, /* all but a twentieth */
    TIDE_ROOT_WORK = 2,   /* it has at most half of all calls, and of all bytes */
};

static const uint32_t NONE = UINT32_MAX;

struct roots {
    const struct tide_model *model;
    struct tide_stack_tree *tree;
    struct tide_reach *held; /* owned, per function; whole, own: of the run */
    uint64_t bytes, most; /* of those that may have one root: at the peak, and ever */
};

static bool nearly_all(uint64_t part, uint64_t whole)
{
    return part >= whole - whole / TIDE_ROOT_PARTS;
}

/* Sum up what the whole run does. */
static void sum_work(struct roots *roots)
{
    const struct tide_model *const model = roots->model;
    tide_stack_tree_clear(roots->tree);
    for (size_t i = 0; i < model->site_count; i++)
        if (model->sites[i].space == TIDE_IN_HEAP)
            tide_stack_tree_add(roots->tree, model->sites[i].stack,
                                model->sites[i].bytes, model->sites[i].calls);
    tide_stack_tree_reach(roots->tree, roots->held);
    for (size_t i = 0; i < roots->tree->paths->function_count; i++) {
        roots->held[i].whole = roots->held[i].left;
        roots->held[i].own = roots->held[i].news;
    }
}

/* Sum up what the OWNERS hold: at the peak, and what their stacks hold at most, so that one
 * part of the work is no root when the next one would hold as much. */
static void sum_owners(struct roots *roots, const struct tide_subjects *subjects,
                       const bool *owners)
{
    const struct tide_model *const model = roots->model;
    tide_stack_tree_clear(roots->tree);
    for (uint32_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        const uint64_t bytes = tide_site_amount(site, TIDE_AMOUNT_PEAK_BYTES);
        if (!owners[subjects->of_site[i].subject] || site->space != TIDE_IN_HEAP)
            continue;
        tide_stack_tree_add(roots->tree, site->stack, bytes, site->most_bytes);
        roots->bytes += bytes;
        roots->most += site->most_bytes;
    }
    tide_stack_tree_reach(roots->tree, roots->held);
}

/* The nearest function that all of it is below; NONE: there is none. */
static uint32_t find_root(const struct roots *roots,
                          const struct tide_subjects *subjects)
{
    const struct tide_summary *const heap = &roots->model->summary[TIDE_IN_HEAP];
    const struct tide_paths *const paths = roots->tree->paths;
    uint32_t best = NONE;
    for (uint32_t i = 0; i < paths->function_count; i++) {
        const struct tide_reach *const reach = &roots->held[i];
        if (reach->left > 0 && nearly_all(reach->left, roots->bytes) &&
            nearly_all(reach->news, roots->most) && paths->functions[i].resolved &&
            reach->whole <= heap->allocated_bytes / TIDE_ROOT_WORK &&
            reach->own <= heap->alloc_calls / TIDE_ROOT_WORK &&
            tide_blame_fits(&subjects->blamer, paths, i) &&
            (best == NONE || reach->depth > roots->held[best].depth))
            best = i;
    }
    return best;
}

/* Make FUNCTION a subject, of all that is made below it, at other times than the peak too. */
static enum tide_status add_root(const struct roots *roots,
                                 struct tide_subjects *subjects, uint32_t function)
{
    const struct tide_model *const model = roots->model;
    const uint32_t number = (uint32_t)subjects->count;
    struct tide_subject *const subject =
        tide_subjects_add_wide(subjects, TIDE_ASK_STANDS);
    if (!subject)
        return TIDE_ENOMEM;
    subject->function = function;
    subject->root = true;
    tide_stack_tree_mark(roots->tree, function);
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        if (site->space != TIDE_IN_HEAP ||
            !tide_stack_tree_has(roots->tree, site->stack))
            continue;
        subjects->wide[TIDE_ASK_STANDS][i] = number;
        tide_subject_add_site(subject, site);
    }
    return TIDE_OK;
}

enum tide_status tide_subjects_find_root(struct tide_subjects *subjects,
                                         const struct tide_model *model,
                                         struct tide_stack_tree *tree,
                                         const bool *owners)
{
    struct roots roots = {.model = model, .tree = tree};
    enum tide_status status = tide_subjects_make_wide(subjects, model, TIDE_ASK_STANDS);
    roots.held = calloc(tree->paths->function_count + 1, sizeof(*roots.held));
    if (!status && !roots.held)
        status = TIDE_ENOMEM;
    if (!status) {
        sum_work(&roots);
        sum_owners(&roots, subjects, owners);
        const uint32_t function = find_root(&roots, subjects);
        if (function != NONE)
            status = add_root(&roots, subjects, function);
    }
    free(roots.held);
    return status;
}
