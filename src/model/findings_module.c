/* model/findings_module.c - what neither a function nor its callers explain, a library may.
 *
 * The last resort: at least half of an amount is in no finding, and a third of it in one
 * library, spread over functions none of which stands out.  The program itself is no answer.
 */
#include <stdlib.h>
#include <string.h>

#include "model/findings_parts.h"
#include "model/grow.h"

enum {
    TIDE_UNTOLD_PARTS = 2, /* half of the whole */
    TIDE_MODULE_PARTS = 3, /* a third of it */
    TIDE_SPREAD_PARTS = 2, /* no function has more than half of that */
    TIDE_MODULES_MAX = 128,
};

struct library {
    const char *module; /* interned: equal when the pointers are */
    uint64_t amount;
    uint64_t most; /* of one function */
};

/* Is MODULE the program, or is that not known? */
static bool is_program(const struct tide_model *model, const char *module)
{
    bool known = false;
    for (size_t i = 0; i < model->trace->process_count; i++) {
        const char *const exe = model->trace->processes[i].exe;
        if (!exe || !*exe)
            continue;
        known = true;
        if (strcmp(exe, module) == 0)
            return true;
    }
    return !known;
}

static const char *module_of(const struct tide_subjects *subjects,
                             const struct tide_paths *paths, size_t subject)
{
    return paths->functions[subjects->list[subject].function].module;
}

/* Add AMOUNT of one function of MODULE to LIST. */
static void add_to(struct library *list, size_t *count, const char *module,
                   uint64_t amount)
{
    size_t i = 0;
    while (i < *count && list[i].module != module)
        i++;
    if (i == TIDE_MODULES_MAX)
        return;
    if (i == *count)
        list[(*count)++] = (struct library){.module = module};
    list[i].amount += amount;
    list[i].most = amount > list[i].most ? amount : list[i].most;
}

/* Which of the libraries has most of what the functions have that UNTOLD says. */
static struct library find_largest(const struct tide_subjects *subjects,
                                   const struct tide_paths *paths,
                                   const uint64_t *untold)
{
    struct library list[TIDE_MODULES_MAX];
    struct library largest = {0};
    size_t count = 0;
    for (size_t i = 0; i < subjects->count; i++)
        if (untold[i])
            add_to(list, &count, module_of(subjects, paths, i), untold[i]);
    for (size_t i = 0; i < count; i++)
        if (list[i].amount > largest.amount)
            largest = list[i];
    return largest;
}

/* The library that has most of what is untold, if that is enough of WHOLE; else NULL. */
static enum tide_status find_module(const struct tide_subjects *subjects,
                                    const struct tide_model *model,
                                    const struct tide_paths *paths,
                                    enum tide_amount amount, const char **out)
{
    const uint64_t whole = tide_amount_whole(model, amount);
    uint64_t *const untold = calloc(subjects->count + 1, sizeof(*untold));
    uint64_t all = 0;
    *out = NULL;
    if (!untold)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const uint64_t part = tide_site_untold(subjects, model, i, amount);
        untold[subjects->of_site[i].subject] += part;
        all += part;
    }
    const struct library library = find_largest(subjects, paths, untold);
    free(untold);
    if (whole > 0 && all >= whole / TIDE_UNTOLD_PARTS && library.module &&
        *library.module && library.amount >= whole / TIDE_MODULE_PARTS &&
        library.most <= library.amount / TIDE_SPREAD_PARTS &&
        !is_program(model, library.module))
        *out = library.module;
    return TIDE_OK;
}

enum tide_status tide_subjects_add_module(struct tide_subjects *subjects,
                                          const struct tide_model *model,
                                          const struct tide_paths *paths,
                                          enum tide_amount amount)
{
    const enum tide_question question = tide_amount_question(amount);
    const uint32_t number = (uint32_t)subjects->count;
    const char *module;
    const enum tide_status status =
        find_module(subjects, model, paths, amount, &module);
    if (status || !module)
        return status;
    struct tide_subject *const subject = tide_subjects_add_wide(subjects, question);
    if (!subject)
        return TIDE_ENOMEM;
    subject->module = module;
    for (uint32_t i = 0; i < model->site_count; i++) {
        const uint32_t leaf = subjects->of_site[i].subject;
        if (module_of(subjects, paths, leaf) != module ||
            !tide_site_untold(subjects, model, i, amount))
            continue;
        subject->function = subjects->list[leaf].function;
        subjects->wide[question][i] = number;
        tide_subject_add_site(subject, &model->sites[i]);
    }
    return TIDE_OK;
}
