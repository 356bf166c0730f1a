/* model/suppress.c - leaks that nobody wants to hear of.
 */
#include "model/suppress.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/suppress_known.h"

void tide_suppressions_release(struct tide_suppressions *suppressions)
{
    for (size_t i = 0; i < suppressions->count; i++)
        free(suppressions->list[i].pattern);
    free(suppressions->list);
    free(suppressions->sites);
    *suppressions = (struct tide_suppressions){0};
}

/* --- Patterns ------------------------------------------------------------------------ */

bool tide_suppression_means(const char *pattern, const char *name)
{
    const bool from_start = *pattern == '^';
    const char *at = pattern + from_start;
    const char *const end = at + strcspn(at, "$");
    const bool to_end = *end == '$';
    /* Where the two part, the last * takes one more: before the pattern there is one. */
    const char *star = from_start ? NULL : at;
    const char *resume = name;
    if (!*name)
        return false;
    for (;;) {
        if (at == end && (!to_end || !*name))
            return true;
        if (at < end && *at == '*') {
            star = ++at;
            resume = name;
        } else if (*name && at < end && *at == *name) {
            at++;
            name++;
        } else if (*name && star) {
            at = star;
            name = ++resume;
        } else {
            return false;
        }
    }
}

/* --- Files --------------------------------------------------------------------------- */

/* TEXT becomes the words of one more suppression. */
static struct tide_suppression *add(struct tide_suppressions *suppressions,
                                    const char *text, size_t length)
{
    struct tide_suppression *const list =
        tide_grown(suppressions->list, &suppressions->capacity, suppressions->count + 1,
                   sizeof(*list));
    if (!list)
        return NULL;
    suppressions->list = list;
    struct tide_suppression *const one = &list[suppressions->count];
    *one = (struct tide_suppression){.pattern = strndup(text, length)};
    if (!one->pattern)
        return NULL;
    suppressions->count++;
    return one;
}

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r';
}

static enum tide_status read_line(struct tide_suppressions *suppressions,
                                  const char *line, size_t length)
{
    static const char START[] = "leak:";
    const size_t start = sizeof(START) - 1;
    while (length && is_blank(*line)) {
        line++;
        length--;
    }
    while (length && is_blank(line[length - 1]))
        length--;
    if (length == 0 || *line == '#')
        return TIDE_OK;
    if (length <= start || memcmp(line, START, start) != 0 ||
        memchr(line, '\0', length))
        return TIDE_ECORRUPT;
    return add(suppressions, line + start, length - start) ? TIDE_OK : TIDE_ENOMEM;
}

enum tide_status tide_suppressions_read(struct tide_suppressions *suppressions,
                                        const char *text, size_t length, size_t *line)
{
    enum tide_status status = TIDE_OK;
    *line = 0;
    while (length && !status) {
        const char *const end = memchr(text, '\n', length);
        const size_t used = end ? (size_t)(end - text) : length;
        (*line)++;
        status = read_line(suppressions, text, used);
        text += end ? used + 1 : used;
        length -= end ? used + 1 : used;
    }
    return status;
}

/* --- Stacks -------------------------------------------------------------------------- */

/* The suppression that means the path at hand; NULL: none. */
static struct tide_suppression *find_written(struct tide_suppressions *suppressions,
                                             const struct tide_paths *paths,
                                             size_t written)
{
    for (size_t i = 0; i < written; i++) {
        const char *const pattern = suppressions->list[i].pattern;
        for (size_t k = 0; k < paths->call_count; k++) {
            const struct tide_call *const call = &paths->calls[k];
            const struct tide_function *const function =
                &paths->functions[call->function];
            if (tide_suppression_means(pattern, function->name) ||
                tide_suppression_means(pattern, function->module) ||
                (call->file && tide_suppression_means(pattern, call->file)))
                return &suppressions->list[i];
        }
    }
    return NULL;
}

/* The same of the built-in list, whose words come behind those that were WRITTEN. */
static enum tide_status find_known(struct tide_suppressions *suppressions,
                                   const struct tide_paths *paths, size_t written,
                                   struct tide_suppression **out)
{
    const char *const what = tide_suppression_known(paths);
    *out = NULL;
    if (!what)
        return TIDE_OK;
    for (size_t i = written; i < suppressions->count && !*out; i++)
        if (strcmp(suppressions->list[i].pattern, what) == 0)
            *out = &suppressions->list[i];
    if (!*out)
        *out = add(suppressions, what, strlen(what));
    if (!*out)
        return TIDE_ENOMEM;
    (*out)->built_in = true;
    return TIDE_OK;
}

static enum tide_status judge(struct tide_suppressions *suppressions,
                              const struct tide_model *model, struct tide_paths *paths,
                              uint32_t site, size_t written)
{
    const struct tide_site *const leaks = &model->sites[site];
    enum tide_status status = tide_paths_walk(paths, leaks->stack);
    if (status)
        return status;
    struct tide_suppression *by = find_written(suppressions, paths, written);
    if (!by && !suppressions->without_built_in && !tide_site_grows(model, site))
        status = find_known(suppressions, paths, written, &by);
    if (status || !by)
        return status;
    by->blocks += (uint64_t)leaks->live_blocks;
    by->bytes += (uint64_t)leaks->live_bytes;
    suppressions->blocks += (uint64_t)leaks->live_blocks;
    suppressions->bytes += (uint64_t)leaks->live_bytes;
    suppressions->sites[site] = true;
    return TIDE_OK;
}

enum tide_status tide_suppressions_apply(struct tide_suppressions *suppressions,
                                         const struct tide_model *model,
                                         enum tide_space space)
{
    const size_t written = suppressions->count;
    struct tide_paths paths;
    if (model->stopped || space != TIDE_IN_HEAP)
        return TIDE_OK;
    if (!model->symbols)
        return TIDE_EUSAGE;
    suppressions->sites = calloc(model->site_count + 1, sizeof(*suppressions->sites));
    if (!suppressions->sites)
        return TIDE_ENOMEM;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    for (uint32_t i = 0; i < model->site_count && !status; i++) {
        if (model->sites[i].space == TIDE_IN_HEAP && model->sites[i].live_blocks > 0)
            status = judge(suppressions, model, &paths, i, written);
    }
    tide_paths_release(&paths);
    return status;
}

enum tide_status tide_suppressed_stacks(const struct tide_model *model,
                                        const struct tide_suppressions *suppressions,
                                        bool **out, size_t *count)
{
    *out = NULL;
    *count = 0;
    if (!suppressions || !suppressions->sites || suppressions->blocks == 0)
        return TIDE_OK;
    for (size_t i = 0; i < model->site_count; i++)
        if (model->sites[i].stack >= *count)
            *count = (size_t)model->sites[i].stack + 1;
    *out = calloc(*count + 1, sizeof(**out));
    if (!*out)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < model->site_count; i++)
        (*out)[model->sites[i].stack] |= suppressions->sites[i];
    return TIDE_OK;
}
