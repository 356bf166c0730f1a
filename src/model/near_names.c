/* model/near_names.c - which functions of a trace were probably meant.
 *
 * Names are compared as people write them: without parameters and the arguments of
 * templates, and with as many classes and namespaces as the name that was given has.
 */
#include "model/near_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "model/pattern.h"

enum { TIDE_NEAR_MOST = 3 };

static size_t count_parts(const char *name)
{
    size_t parts = 1;
    for (const char *at = strstr(name, "::"); at; at = strstr(at + 2, "::"))
        parts++;
    return parts;
}

/* The last PARTS of NAME, which is short. */
static const char *last_parts(const char *name, size_t parts)
{
    for (size_t more = count_parts(name); more > parts; more--)
        name = strstr(name, "::") + 2;
    return name;
}

/* Each different name of a function in NAMES, cut to PARTS; they live in PATHS. */
static enum tide_status gather(struct tide_paths *paths, size_t parts,
                               const char **names, size_t *count)
{
    struct tide_text text = {0};
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < paths->function_count && !status; i++) {
        tide_text_clear(&text);
        tide_function_short(paths->functions[i].name, &text);
        names[i] = text.bytes ? tide_intern(&paths->strings, &paths->arena,
                                            last_parts(text.bytes, parts))
                              : NULL;
        if (!names[i])
            status = TIDE_ENOMEM;
    }
    *count = paths->function_count;
    tide_text_release(&text);
    return status;
}

/* Leave NAME out of NAMES. */
static size_t without(const char **names, size_t count, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (names[i] != name)
            names[kept++] = names[i];
    }
    return kept;
}

/* "a", "a or b", "a, b or c" */
static void add_list(struct tide_text *out, const char *const *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tide_text_addf(out, "%s%s",
                       i == 0           ? ""
                       : i + 1 == count ? " or "
                                        : ", ",
                       found[i]);
}

enum tide_status tide_near_names(struct tide_paths *paths, const char *wanted,
                                 struct tide_text *out)
{
    const char **const names = calloc(paths->function_count + 1, sizeof(*names));
    const char *found[TIDE_NEAR_MOST];
    struct tide_text word = {0};
    size_t count = 0, near = 0;
    tide_function_short(wanted, &word);
    enum tide_status status =
        names && word.bytes ? gather(paths, count_parts(word.bytes), names, &count)
                            : TIDE_ENOMEM;
    while (!status && near < TIDE_NEAR_MOST) {
        const char *const best = tide_nearest(word.bytes, names, count);
        if (!best)
            break;
        found[near++] = best;
        count = without(names, count, best);
    }
    if (!status)
        add_list(out, found, near);
    tide_text_release(&word);
    free(names);
    return status;
}
