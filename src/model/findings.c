/* model/findings.c - what a reader of the report should look at first.
 *
 * A finding names one function with all its stacks, says what was measured, and what a
 * cure would save.  Ten findings are the most: whoever
 * reads more of them reads none.  The rules: findings_rules.c and docs/findings.md.
 */
#include <stdlib.h>

#include "model/findings_parts.h"
#include "model/model.h"

enum {
    TIDE_FINDINGS_MAX = 10,
    /* Programs that do not tidy up before they end have many of these; what the first
     * few are is news, the others are more of the same. */
    TIDE_PLAIN_LEAKS_MAX = 3,
    TIDE_PEAK_OWNERS_MAX = 2,
    TIDE_CHURN_MAX = 4,
    TIDE_SPACE_PARTS = 10,
    TIDE_STACKS_MANY = 10,    /* of so many it is said who calls */
    TIDE_SMALL_LEAKS_MAX = 3, /* that grow, and are not yet a hundredth of the peak */
};

static const double TIDE_SMALL_SHARE = 0.01;

struct list {
    struct tide_found *found; /* owned */
    size_t count;
    bool mapped;                            /* of mapped memory alone */
    const struct tide_bad_frees *bad_frees; /* borrowed; said first */
};

static int by_score(const void *one, const void *other)
{
    const struct tide_found *const a = one;
    const struct tide_found *const b = other;
    if (a->score < b->score || a->score > b->score)
        return a->score < b->score ? 1 : -1;
    if (a->verdict.bytes != b->verdict.bytes)
        return a->verdict.bytes < b->verdict.bytes ? 1 : -1;
    return (a->subject > b->subject) - (a->subject < b->subject);
}

/* A share of a space that holds less than a tenth of what the largest one does is a share of
 * little. */
static double weight_of(const struct tide_model *model, const struct tide_found *found,
                        uint32_t space)
{
    const double peak = (double)model->summary[space].peak_bytes;
    double most = 1;
    if (tide_rule_question(found->kind) == TIDE_ASK_CHURNS)
        return 1;
    for (int i = 0; i < TIDE_SPACES; i++)
        if ((double)model->summary[i].peak_bytes > most)
            most = (double)model->summary[i].peak_bytes;
    return peak * TIDE_SPACE_PARTS < most ? peak * TIDE_SPACE_PARTS / most : 1;
}

/* Judge SUBJECT: for each question the first rule that has a word.  What is lost is not
 * also said to stand. */
static void judge(const struct tide_model *model, struct tide_subjects *subjects,
                  uint32_t subject, struct list *out)
{
    bool answered[TIDE_QUESTIONS] = {false};
    for (int kind = 0; kind < TIDE_FOUND_KINDS; kind++) {
        struct tide_found found = {.subject = subject,
                                   .kind = (enum tide_finding_kind)kind};
        const enum tide_question question = tide_rule_question(found.kind);
        if (answered[question] ||
            !tide_rule_finds(found.kind, model, subjects, &subjects->list[subject],
                             &found.verdict))
            continue;
        answered[question] = true;
        subjects->list[subject].explained[question] = true;
        subjects->list[subject].told |=
            question != TIDE_ASK_CHURNS && found.kind != TIDE_FOUND_TINY;
        if (question == TIDE_ASK_LOST)
            answered[TIDE_ASK_STANDS] =
                subjects->list[subject].explained[TIDE_ASK_STANDS] = true;
        tide_found_standing(model, subjects, &found);
        found.score = found.verdict.rank * tide_rule_worth(found.kind) *
                      weight_of(model, &found, subjects->list[subject].space);
        out->found[out->count++] = found;
    }
}

/* Judge all subjects from FIRST on. */
static enum tide_status judge_from(const struct tide_model *model,
                                   struct tide_subjects *subjects, uint32_t first,
                                   struct list *out)
{
    struct tide_found *const found =
        realloc(out->found, (subjects->count * TIDE_QUESTIONS + 1) * sizeof(*found));
    if (!found)
        return TIDE_ENOMEM;
    out->found = found;
    for (uint32_t i = first; i < subjects->count; i++) {
        if (!out->mapped || subjects->list[i].space == TIDE_IN_MMAP)
            judge(model, subjects, i, out);
    }
    return TIDE_OK;
}

static bool owns_peak(const struct tide_subjects *subjects,
                      const struct tide_found *found)
{
    const struct tide_subject *const subject = &subjects->list[found->subject];
    return found->kind == TIDE_FOUND_PEAK_OWNER && subject->space == TIDE_IN_HEAP &&
           !subject->wide;
}

/* The findings of those who own the peak give way to one of their root. */
static enum tide_status put_root(const struct tide_model *model,
                                 struct tide_subjects *subjects, struct list *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!owns_peak(subjects, &list->found[i]))
            list->found[kept++] = list->found[i];
    list->count = kept;
    return judge_from(model, subjects, (uint32_t)subjects->count - 1, list);
}

/* Several who own the peak may have one root. */
static enum tide_status judge_root(const struct tide_model *model,
                                   struct tide_subjects *subjects,
                                   struct tide_stack_tree *tree, struct list *list)
{
    const size_t before = subjects->count;
    size_t count = 0;
    bool *const owners = calloc(before + 1, sizeof(*owners));
    if (!owners)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < list->count; i++) {
        const bool owns = owns_peak(subjects, &list->found[i]);
        owners[list->found[i].subject] |= owns;
        count += owns;
    }
    enum tide_status status = TIDE_OK;
    if (count > 1)
        status = tide_subjects_find_root(subjects, model, tree, owners);
    free(owners);
    if (!status && subjects->count > before)
        status = put_root(model, subjects, list);
    return status;
}

/* On whose behalf that is which no finding explains; at last, in which library. */
static enum tide_status judge_wide(const struct tide_model *model,
                                   struct tide_subjects *subjects,
                                   struct tide_stack_tree *tree, struct list *out)
{
    enum tide_status status = judge_root(model, subjects, tree, out);
    for (int i = 0; i < TIDE_AMOUNTS && !status; i++) {
        const enum tide_amount amount = (enum tide_amount)i;
        uint32_t first = (uint32_t)subjects->count;
        status = tide_subjects_widen(subjects, model, tree, amount);
        if (!status)
            status = judge_from(model, subjects, first, out);
        first = (uint32_t)subjects->count;
        if (!status)
            status = tide_subjects_add_module(subjects, model, tree->paths, amount);
        if (!status)
            status = judge_from(model, subjects, first, out);
    }
    return status;
}

/* First who allocates; then, of what that does not explain, on whose behalf. */
static enum tide_status judge_all(const struct tide_model *model,
                                  struct tide_subjects *subjects,
                                  struct tide_stack_tree *tree, struct list *out)
{
    enum tide_status status = judge_from(model, subjects, 0, out);
    if (!status && !out->mapped)
        status = judge_wide(model, subjects, tree, out);
    if (out->count)
        qsort(out->found, out->count, sizeof(*out->found), by_score);
    return status;
}

/* Of which not all are listed. */
enum quota {
    TIDE_QUOTA_LEAKS,
    TIDE_QUOTA_OWNERS,
    TIDE_QUOTA_SMALL,
    TIDE_QUOTA_CHURN,
    TIDE_QUOTAS
};

/* TIDE_QUOTAS: as many as there are. */
static enum quota quota_of(const struct tide_found *found)
{
    if (found->kind == TIDE_FOUND_LEAK || found->kind == TIDE_FOUND_LEAK_ONCE)
        return TIDE_QUOTA_LEAKS;
    if (found->kind == TIDE_FOUND_PEAK_OWNER)
        return TIDE_QUOTA_OWNERS;
    if (tide_rule_question(found->kind) == TIDE_ASK_CHURNS)
        return TIDE_QUOTA_CHURN;
    return found->kind == TIDE_FOUND_LEAK_GROWING &&
                   found->verdict.rank < TIDE_SMALL_SHARE
               ? TIDE_QUOTA_SMALL
               : TIDE_QUOTAS;
}

/* Leave out what is too much of a kind, and too much. */
static void choose(struct list *list)
{
    size_t left[TIDE_QUOTAS + 1] = {
        [TIDE_QUOTA_LEAKS] = TIDE_PLAIN_LEAKS_MAX,
        [TIDE_QUOTA_OWNERS] = TIDE_PEAK_OWNERS_MAX,
        [TIDE_QUOTA_SMALL] = TIDE_SMALL_LEAKS_MAX,
        [TIDE_QUOTA_CHURN] = TIDE_CHURN_MAX,
        [TIDE_QUOTAS] = TIDE_FINDINGS_MAX,
    };
    size_t kept = 0;
    for (size_t i = 0; i < list->count && kept < TIDE_FINDINGS_MAX; i++) {
        size_t *const more = &left[quota_of(&list->found[i])];
        if (*more == 0)
            continue;
        --*more;
        list->found[kept++] = list->found[i];
    }
    list->count = kept;
}

static enum tide_status find_lines(const struct tide_model *model,
                                   const struct tide_subjects *subjects,
                                   struct tide_stack_tree *tree,
                                   struct tide_paths *paths, struct list *list)
{
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < list->count && !status; i++) {
        const struct tide_subject *const subject =
            &subjects->list[list->found[i].subject];
        status = tide_found_lines(model, subjects, &list->found[i]);
        if (!status)
            status = tide_found_others(model, subjects, paths, &list->found[i]);
        for (size_t j = 0; j < list->count; j++)
            tide_found_inside(model, subjects, paths, &list->found[j], &list->found[i]);
        const bool wants = !subject->root;
        if (!status && wants && subject->stacks >= TIDE_STACKS_MANY)
            status = tide_found_callers(model, subjects, tree, paths, &list->found[i]);
    }
    return status;
}

/* The innermost call of MODULE in the path at hand. */
static size_t call_into(const struct tide_paths *paths, const char *module)
{
    size_t i = 0;
    while (i + 1 < paths->call_count &&
           paths->functions[paths->calls[i].function].module != module)
        i++;
    return i;
}

/* Add whom SUBJECT is about, which has CALL in the path at hand. */
static void add_who(struct tide_text *who, const struct tide_paths *paths,
                    const struct tide_subject *subject, const struct tide_found *found,
                    size_t call)
{
    if (subject->module) {
        tide_text_addf(who, "%s, with all its functions,",
                       tide_path_base(subject->module));
        return;
    }
    if (subject->space != TIDE_IN_MMAP ||
        !tide_found_heap(who, &paths->functions[subject->function]))
        tide_found_who(who, paths, call, found);
    if (subject->wide)
        tide_text_add(who, subject->rest ? ", with the rest of what it calls,"
                                         : ", with what it calls,");
}

static enum tide_status write_one(const struct tide_model *model,
                                  struct tide_subjects *subjects,
                                  struct tide_paths *paths,
                                  const struct tide_found *found,
                                  struct tide_finding *out)
{
    const uint32_t stack = model->sites[found->site].stack;
    const struct tide_subject *const subject = &subjects->list[found->subject];
    const struct tide_verdict_on *const verdict = &found->verdict;
    struct tide_text text = {0}, who = {0};
    struct tide_blame blame = {0};
    enum tide_status status = tide_paths_walk(paths, stack);
    if (!status && subject->module)
        blame.call = call_into(paths, subject->module);
    else if (!status && subject->wide)
        blame.call = tide_path_call_of(paths, subject->function);
    else if (!status)
        status = tide_blame_path(&subjects->blamer, paths, &blame);
    if (status)
        return status;
    add_who(&who, paths, subject, found, blame.call);
    tide_found_words(&text, model, subject, found, who.bytes ? who.bytes : "");
    const bool failed = text.failed || who.failed;
    tide_text_release(&who);
    if (failed) {
        tide_text_release(&text);
        return TIDE_ENOMEM;
    }
    *out = (struct tide_finding){
        .kind = tide_finding_word(found->kind),
        .space = subject->space,
        .text = text.bytes,
        .bytes = verdict->bytes,
        .calls = verdict->calls,
        .stack = stack,
        .call = (uint32_t)blame.call,
        .stacks = subject->stacks,
        .gain_bytes = verdict->gain_bytes,
        .gain_calls = verdict->gain_calls,
        .gain_s = verdict->seconds,
        .share = verdict->share,
        .first_s = tide_trace_seconds(model->trace, subject->first_ticks),
        .last_s = tide_trace_seconds(model->trace, subject->last_ticks),
    };
    return TIDE_OK;
}

static enum tide_status write_all(const struct tide_model *model,
                                  struct tide_subjects *subjects,
                                  struct tide_paths *paths, const struct list *list,
                                  struct tide_findings *out)
{
    out->list = calloc(TIDE_FINDINGS_MAX, sizeof(*out->list));
    if (!out->list)
        return TIDE_ENOMEM;
    enum tide_status status =
        tide_found_frees(model, list->bad_frees, &subjects->blamer, paths, out);
    for (size_t i = 0; i < list->count && !status && out->count < TIDE_FINDINGS_MAX;
         i++) {
        status =
            write_one(model, subjects, paths, &list->found[i], &out->list[out->count]);
        out->count += !status;
    }
    return status;
}

enum tide_status tide_findings_build(const struct tide_model *model,
                                     const struct tide_findings_scope *scope,
                                     struct tide_findings *out)
{
    struct tide_subjects subjects;
    struct tide_paths paths;
    struct tide_stack_tree tree = {0};
    struct list list = {.mapped = scope->mapped, .bad_frees = scope->bad_frees};
    *out = (struct tide_findings){0};
    if (!model->symbols)
        return TIDE_EUSAGE;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    status = tide_subjects_gather(&subjects, model, &paths, scope->suppressed);
    if (!status)
        status = tide_stack_tree_init(&tree, model, &paths);
    if (!status)
        status = judge_all(model, &subjects, &tree, &list);
    if (!status) {
        choose(&list);
        status = find_lines(model, &subjects, &tree, &paths, &list);
    }
    if (!status)
        status = write_all(model, &subjects, &paths, &list, out);
    free(list.found);
    tide_stack_tree_release(&tree);
    tide_subjects_release(&subjects);
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
