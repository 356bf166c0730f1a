/* model/findings_wide.c - what no single function that allocates explains, but one further out
 * does.
 *
 * Where blocks come from many functions, none of them is worth a finding, and yet all may be
 * made on behalf of one: a parser, a layout, a command.  All sites are summed up by every
 * function on their stacks, and the narrowest one that has enough of the whole, and of what no
 * finding is about yet, becomes a subject of its own.
 */
#include <stdlib.h>

#include "model/findings_parts.h"
#include "model/grow.h"

enum {
    TIDE_WIDE_PARTS = 4, /* a quarter of the whole */
    TIDE_WIDE_NEWS = 10, /* of which a tenth of the whole is in no other finding */
    TIDE_WIDE_ALL = 3,   /* who has more than two thirds explains nothing */
    TIDE_WIDE_MAX = 2,   /* for one amount */
};

static const uint32_t NONE = UINT32_MAX;

struct widening {
    struct tide_subjects *subjects;
    const struct tide_model *model;
    struct tide_stack_tree *tree;
    enum tide_amount amount;
    enum tide_question question;
    struct tide_reach *reach; /* owned, per function; left: what other wide subjects do
                                 not have; news: of that, what no finding explains */
};

uint64_t tide_site_amount(const struct tide_site *site, enum tide_amount amount)
{
    switch (amount) {
    case TIDE_AMOUNT_FREED_BYTES:
        return site->more.moved_calls > site->calls / 2 ? 0 : site->freed_bytes;
    case TIDE_AMOUNT_FREED_CALLS:
        return site->more.moved_calls > site->calls / 2 ? 0 : site->freed_calls;
    case TIDE_AMOUNT_PEAK_BYTES:
    case TIDE_AMOUNTS:
    default:
        return site->peak_bytes > 0 ? (uint64_t)site->peak_bytes : 0;
    }
}

enum tide_question tide_amount_question(enum tide_amount amount)
{
    return amount == TIDE_AMOUNT_PEAK_BYTES ? TIDE_ASK_STANDS : TIDE_ASK_CHURNS;
}

uint64_t tide_site_untold(const struct tide_subjects *subjects,
                          const struct tide_model *model, uint32_t site,
                          enum tide_amount amount)
{
    const enum tide_question question = tide_amount_question(amount);
    const bool told =
        subjects->list[subjects->of_site[site].subject].explained[question] ||
        subjects->wide[question][site] != NONE;
    return told || model->sites[site].space != TIDE_IN_HEAP
               ? 0
               : tide_site_amount(&model->sites[site], amount);
}

static uint64_t amount_of(const struct widening *widening, uint32_t index)
{
    const struct tide_site *const site = &widening->model->sites[index];
    return site->space == TIDE_IN_HEAP ? tide_site_amount(site, widening->amount) : 0;
}

static bool is_taken(const struct widening *widening, uint32_t index)
{
    return widening->subjects->wide[widening->question][index] != NONE;
}

/* What of AMOUNT is in no finding. */
static uint64_t news_of(const struct widening *widening, uint32_t index,
                        uint64_t amount)
{
    const struct tide_subjects *const subjects = widening->subjects;
    const struct tide_subject *const leaf =
        &subjects->list[subjects->of_site[index].subject];
    return leaf->explained[widening->question] ? 0 : amount;
}

/* Of bytes that stand each is told once. */
static bool is_told(const struct widening *widening, uint32_t index)
{
    const struct tide_subjects *const subjects = widening->subjects;
    return is_taken(widening, index) ||
           (widening->question == TIDE_ASK_STANDS &&
            subjects->list[subjects->of_site[index].subject].told);
}

/* Sum up all, or what is not told.  True: anything is told. */
static bool reach_all(struct widening *widening, bool all)
{
    const struct tide_model *const model = widening->model;
    bool any = false;
    tide_stack_tree_clear(widening->tree);
    for (uint32_t i = 0; i < model->site_count; i++) {
        const uint64_t amount = amount_of(widening, i);
        const bool told = amount && is_told(widening, i);
        any |= told;
        if (amount && (all || !told))
            tide_stack_tree_add(widening->tree, model->sites[i].stack, amount,
                                told ? 0 : news_of(widening, i, amount));
    }
    tide_stack_tree_reach(widening->tree, widening->reach);
    return any;
}

/* What functions have in all, what of that they allocate themselves, and what is left. */
static void begin_reach(struct widening *widening)
{
    const struct tide_subjects *const subjects = widening->subjects;
    const bool told = reach_all(widening, true);
    for (size_t i = 0; i < widening->tree->paths->function_count; i++)
        widening->reach[i].whole = widening->reach[i].left;
    for (uint32_t i = 0; i < widening->model->site_count; i++) {
        const uint32_t leaf = subjects->list[subjects->of_site[i].subject].function;
        widening->reach[leaf].own += amount_of(widening, i);
    }
    if (told)
        (void)reach_all(widening, false);
}

/* Who has a finding of his own gets no second one. */
static void leave_out_told(struct widening *widening)
{
    const struct tide_subjects *const subjects = widening->subjects;
    for (size_t i = 0; i < subjects->count; i++)
        if (subjects->list[i].explained[widening->question])
            widening->reach[subjects->list[i].function].whole = UINT64_MAX;
}

/* Does a function that reaches so far explain a good part of WHOLE, and something new?  What
 * one mostly allocates itself is for the rules of single functions to tell. */
static bool explains(const struct tide_reach *reach, uint64_t whole)
{
    return reach->left > 0 && reach->left >= whole / TIDE_WIDE_PARTS &&
           reach->news >= whole / TIDE_WIDE_NEWS && reach->own <= reach->whole / 2 &&
           reach->whole <= whole - whole / TIDE_WIDE_ALL;
}

static bool is_narrower(const struct tide_reach *a, const struct tide_reach *b)
{
    return a->left < b->left || (a->left == b->left && a->depth > b->depth);
}

/* The narrowest function that has a quarter of WHOLE; NONE if there is none. */
static uint32_t find_narrowest(const struct widening *widening, uint64_t whole)
{
    const struct tide_paths *const paths = widening->tree->paths;
    const struct tide_reach *const reach = widening->reach;
    uint32_t best = NONE;
    for (uint32_t i = 0; i < paths->function_count; i++) {
        if (explains(&reach[i], whole) && paths->functions[i].resolved &&
            tide_blame_fits(&widening->subjects->blamer, paths, i) &&
            (best == NONE || is_narrower(&reach[i], &reach[best])))
            best = i;
    }
    return best;
}

struct tide_subject *tide_subjects_add_wide(struct tide_subjects *subjects,
                                            enum tide_question question)
{
    struct tide_subject *const list = tide_grown(subjects->list, &subjects->capacity,
                                                 subjects->count + 1, sizeof(*list));
    if (!list)
        return NULL;
    subjects->list = list;
    list[subjects->count] = (struct tide_subject){
        .space = TIDE_IN_HEAP, .wide = true, .question = question};
    return &list[subjects->count++];
}

/* Make FUNCTION a subject, of all the sites that it has part in. */
static enum tide_status add_subject(struct widening *widening, uint32_t function)
{
    struct tide_subjects *const subjects = widening->subjects;
    const uint32_t number = (uint32_t)subjects->count;
    struct tide_subject *const subject =
        tide_subjects_add_wide(subjects, widening->question);
    if (!subject)
        return TIDE_ENOMEM;
    subject->function = function;
    tide_stack_tree_mark(widening->tree, function);
    for (uint32_t i = 0; i < widening->model->site_count; i++) {
        const struct tide_site *const site = &widening->model->sites[i];
        if (amount_of(widening, i) == 0 ||
            !tide_stack_tree_has(widening->tree, site->stack))
            continue;
        if (is_told(widening, i)) {
            subject->rest = true;
            continue;
        }
        subjects->wide[widening->question][i] = number;
        tide_subject_add_site(subject, site);
    }
    return TIDE_OK;
}

uint64_t tide_amount_whole(const struct tide_model *model, enum tide_amount amount)
{
    const struct tide_summary *const summary = &model->summary[TIDE_IN_HEAP];
    switch (amount) {
    case TIDE_AMOUNT_FREED_BYTES:
        return tide_rule_turns_over(model) ? summary->allocated_bytes : 0;
    case TIDE_AMOUNT_FREED_CALLS:
        return tide_rule_calls_much(model, summary->alloc_calls / TIDE_WIDE_PARTS)
                   ? summary->alloc_calls
                   : 0;
    case TIDE_AMOUNT_PEAK_BYTES:
    case TIDE_AMOUNTS:
    default:
        return summary->peak_bytes;
    }
}

enum tide_status tide_subjects_make_wide(struct tide_subjects *subjects,
                                         const struct tide_model *model,
                                         enum tide_question question)
{
    if (subjects->wide[question])
        return TIDE_OK;
    uint32_t *const of_site = malloc((model->site_count + 1) * sizeof(*of_site));
    for (size_t i = 0; of_site && i < model->site_count; i++)
        of_site[i] = NONE;
    subjects->wide[question] = of_site;
    return of_site ? TIDE_OK : TIDE_ENOMEM;
}

enum tide_status tide_subjects_widen(struct tide_subjects *subjects,
                                     const struct tide_model *model,
                                     struct tide_stack_tree *tree,
                                     enum tide_amount amount)
{
    struct widening widening = {
        .subjects = subjects,
        .model = model,
        .tree = tree,
        .amount = amount,
        .question = tide_amount_question(amount),
    };
    const uint64_t whole = tide_amount_whole(model, amount);
    uint64_t news = 0;
    enum tide_status status =
        tide_subjects_make_wide(subjects, model, widening.question);
    for (uint32_t i = 0; i < model->site_count && !status; i++)
        news += news_of(&widening, i, amount_of(&widening, i));
    if (status || whole == 0 || news < whole / TIDE_WIDE_NEWS)
        return status;
    widening.reach = calloc(tree->paths->function_count + 1, sizeof(*widening.reach));
    if (!widening.reach)
        return TIDE_ENOMEM;
    begin_reach(&widening);
    leave_out_told(&widening);
    for (int i = 0; i < TIDE_WIDE_MAX && !status; i++) {
        if (i > 0)
            (void)reach_all(&widening, false);
        const uint32_t function = find_narrowest(&widening, whole);
        if (function == NONE)
            break;
        status = add_subject(&widening, function);
    }
    free(widening.reach);
    return status;
}
