/* cli/near_function.c - a function was asked for that is not there.
 *
 * Most often its name is misspelt, and an empty table does not tell that from a function
 * that allocates nothing.
 */
#include "cli/near_function.h"

#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "model/near_names.h"
#include "model/path.h"
#include "model/pattern.h"

/* Is one of the functions that PATHS met since the first KNOWN what PATTERN means? */
static bool is_met(const struct tide_paths *paths, size_t known, const char *pattern)
{
    for (size_t i = known; i < paths->function_count; i++)
        if (tide_pattern_means_function(pattern, paths->functions[i].name))
            return true;
    return false;
}

/* Walk all stacks, until a function is what PATTERN means. */
static enum tide_status search(struct tide_paths *paths, const char *pattern, bool *met)
{
    const struct tide_model *const model = paths->model;
    enum tide_status status = TIDE_OK;
    *met = false;
    for (size_t i = 0; i < model->site_count && !*met && !status; i++) {
        const size_t known = paths->function_count;
        status = tide_paths_walk(paths, model->sites[i].stack);
        *met = is_met(paths, known, pattern);
    }
    return status;
}

static enum tide_status say(struct tide_paths *paths, const char *pattern)
{
    struct tide_text near = {0};
    enum tide_status status = TIDE_OK;
    if (!strpbrk(pattern, "*?[|"))
        status = tide_near_names(paths, pattern, &near);
    if (!status && near.length > 0)
        (void)tide_fail("no function that allocates is named '%s'; did you mean %s?",
                        pattern, near.bytes);
    else if (!status)
        (void)tide_fail("no function that allocates is named '%s'; report --flat -n 0 "
                        "lists all",
                        pattern);
    tide_text_release(&near);
    return status;
}

enum tide_status tide_say_near_function(const struct tide_model *model,
                                        const char *pattern)
{
    struct tide_paths paths;
    bool met;
    enum tide_status status = pattern ? tide_paths_init(&paths, model) : TIDE_OK;
    if (status || !pattern)
        return status;
    status = search(&paths, pattern, &met);
    if (!status && !met)
        status = say(&paths, pattern);
    tide_paths_release(&paths);
    return status;
}
