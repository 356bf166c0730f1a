/* model/filter.c - what each site has of a metric, when only some keys count.
 *
 * Keys are sorted out by their context, which is looked at once, and by their stack,
 * which is walked once.
 */
#include "model/filter.h"

#include <stdlib.h>
#include <string.h>

#include "model/model_state.h"
#include "model/path.h"
#include "model/pattern.h"

void tide_chosen_release(struct tide_chosen *chosen)
{
    free(chosen->sites);
    free(chosen->keys);
    *chosen = (struct tide_chosen){0};
}

/* --- Amounts ------------------------------------------------------------------------ */

/* Negative only in traces that claim impossible sizes. */
static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static struct tide_amount amount_of_site(const struct tide_site *site,
                                         enum tide_metric metric)
{
    switch (metric) {
    case TIDE_METRIC_PEAK:
        return (struct tide_amount){at_least_zero(site->peak_bytes),
                                    at_least_zero(site->peak_blocks)};
    case TIDE_METRIC_LEAKS:
        return (struct tide_amount){at_least_zero(site->live_bytes),
                                    at_least_zero(site->live_blocks)};
    case TIDE_METRIC_TOTAL:
        return (struct tide_amount){site->bytes, site->calls};
    case TIDE_METRIC_CHURN:
        return (struct tide_amount){site->temporary_bytes, site->temporary_calls};
    }
    return (struct tide_amount){0, 0};
}

/* What key INDEX still held when the model's time was over. */
static struct tide_amount live_of_key(const struct tide_model *model, size_t index)
{
    const struct tide_key *const key = &model->keys[index];
    uint64_t bytes = key->bytes - key->freed_bytes;
    uint64_t blocks = key->calls - key->freed_calls;
    if (model->stopped && index < model->key_more_count) {
        bytes -= model->key_more[index].left_bytes;
        blocks -= model->key_more[index].left_blocks;
    }
    return (struct tide_amount){at_least_zero((int64_t)bytes),
                                at_least_zero((int64_t)blocks)};
}

static struct tide_amount amount_of_key(const struct tide_model *model, size_t index,
                                        enum tide_metric metric)
{
    const struct tide_key *const key = &model->keys[index];
    switch (metric) {
    case TIDE_METRIC_PEAK:
        return (struct tide_amount){at_least_zero(key->peak_bytes),
                                    at_least_zero(key->peak_blocks)};
    case TIDE_METRIC_LEAKS:
        return live_of_key(model, index);
    case TIDE_METRIC_TOTAL:
        return (struct tide_amount){key->bytes, key->calls};
    case TIDE_METRIC_CHURN:
        return (struct tide_amount){key->temporary_bytes, key->temporary_calls};
    }
    return (struct tide_amount){0, 0};
}

static void add(struct tide_amount *sum, struct tide_amount amount)
{
    sum->bytes += amount.bytes;
    sum->calls += amount.calls;
}

/* --- Contexts ----------------------------------------------------------------------- */

/* Does PATTERN mean NAME or, when it is a number, exactly NUMBER? */
static bool means_either(const char *pattern, const char *name, uint32_t number)
{
    if (!pattern || !*pattern)
        return !pattern;
    if (pattern[strspn(pattern, "0123456789")] == '\0')
        return strtoull(pattern, NULL, 10) == number;
    return tide_pattern_means(pattern, name);
}

/* Is RANK one of the numbers of LIST? */
static bool means_rank(const char *list, uint64_t rank)
{
    while (list) {
        char *end;
        const unsigned long long number = strtoull(list, &end, 10);
        if (end != list && (*end == '\0' || *end == '|') && number == rank)
            return true;
        const char *const next = strchr(list, '|');
        list = next ? next + 1 : NULL;
    }
    return false;
}

static bool takes_thread(const struct tide_model *model,
                         const struct tide_filter *filter, uint32_t number)
{
    const struct tide_key_thread *const thread = &model->key_threads[number];
    const struct tide_process *const process =
        thread->process < model->trace->process_count
            ? &model->trace->processes[thread->process]
            : NULL;
    if (filter->rank &&
        !(process && process->ranked && means_rank(filter->rank, process->rank)))
        return false;
    return means_either(filter->thread, thread->name, thread->tid) &&
           means_either(filter->process,
                        process && process->exe ? tide_path_base(process->exe) : "",
                        process ? process->pid : 0);
}

static bool takes_region(const struct tide_model *model, const char *pattern,
                         uint32_t region)
{
    if (!pattern)
        return true;
    struct tide_text path = {0};
    tide_model_region(model, region, &path);
    const bool takes = region && path.bytes && tide_pattern_means(pattern, path.bytes);
    tide_text_release(&path);
    return takes;
}

static bool takes_context(const struct tide_model *model,
                          const struct tide_filter *filter,
                          const struct tide_context *context)
{
    if (context->excluded)
        return false;
    if (filter->label &&
        !(context->label &&
          tide_pattern_means(filter->label, tide_model_text(model, context->label))))
        return false;
    return takes_thread(model, filter, context->thread) &&
           takes_region(model, filter->region, context->region);
}

bool tide_filter_meets(const struct tide_model *model, const struct tide_filter *filter)
{
    for (size_t i = 0; i < model->context_count; i++)
        if (takes_context(model, filter, &model->contexts[i]))
            return true;
    return false;
}

/* For each context: does it count?  NULL without memory. */
static bool *list_contexts(const struct tide_model *model,
                           const struct tide_filter *filter)
{
    bool *const takes = calloc(model->context_count + 1, sizeof(*takes));
    for (size_t i = 0; takes && i < model->context_count; i++)
        takes[i] = takes_context(model, filter, &model->contexts[i]);
    return takes;
}

/* --- Stacks ------------------------------------------------------------------------- */

static bool takes_path(const struct tide_paths *paths, const struct tide_filter *filter)
{
    bool function = !filter->function, module = !filter->module, file = !filter->file;
    for (size_t i = 0; i < paths->call_count; i++) {
        const struct tide_call *const call = &paths->calls[i];
        const struct tide_function *const called = &paths->functions[call->function];
        function =
            function || tide_pattern_means_function(filter->function, called->name);
        module = module || tide_pattern_means(filter->module, called->module);
        file = file || (call->file && tide_pattern_means(filter->file, call->file));
    }
    return function && module && file;
}

/* For each site: does its stack count? */
static enum tide_status list_sites(const struct tide_model *model,
                                   const struct tide_filter *filter, bool *takes)
{
    struct tide_paths paths;
    enum tide_status status = tide_paths_init(&paths, model);
    if (status)
        return status;
    for (size_t i = 0; i < model->site_count && !status; i++) {
        status = tide_paths_walk(&paths, model->sites[i].stack);
        takes[i] = !status && takes_path(&paths, filter);
    }
    tide_paths_release(&paths);
    return status;
}

/* --- All ---------------------------------------------------------------------------- */

static bool by_context(const struct tide_filter *filter)
{
    return filter->region || filter->label || filter->thread || filter->process ||
           filter->rank;
}

static bool by_stack(const struct tide_filter *filter)
{
    return filter->function || filter->module || filter->file;
}

bool tide_filter_narrows(const struct tide_filter *filter)
{
    return by_context(filter) || by_stack(filter);
}

/* Is SITE one whose leaks nobody wants to hear of? */
static bool is_suppressed(const struct tide_rows_request *request, size_t site)
{
    return request->suppressed && request->metric == TIDE_METRIC_LEAKS &&
           request->suppressed[site];
}

/* The site of each stack in the request's space, + 1; owned by the caller. */
static uint32_t *list_by_stack(const struct tide_model *model, enum tide_space space)
{
    uint32_t *const sites =
        calloc((size_t)model->stacks.node_count + 1, sizeof(*sites));
    for (size_t i = 0; sites && i < model->site_count; i++) {
        if (model->sites[i].space == (uint32_t)space)
            sites[model->sites[i].stack] = (uint32_t)i + 1;
    }
    return sites;
}

/* Add up the keys of SPACE that count; TAKES_SITE: NULL: all do. */
static enum tide_status add_keys(const struct tide_model *model,
                                 const struct tide_rows_request *request,
                                 const bool *takes_site, struct tide_chosen *chosen)
{
    bool *const takes = list_contexts(model, &request->filter);
    uint32_t *const sites = list_by_stack(model, request->space);
    const bool memory = takes && sites;
    for (size_t i = 0; memory && i < model->key_count; i++) {
        const struct tide_key *const key = &model->keys[i];
        if (key->space != (uint32_t)request->space)
            continue;
        const uint32_t site = sites[key->stack] - 1;
        const struct tide_amount amount = amount_of_key(model, i, request->metric);
        add(&chosen->whole, amount);
        if (!takes[key->context] || (takes_site && !takes_site[site]) ||
            is_suppressed(request, site))
            continue;
        chosen->keys[i] = amount;
        add(&chosen->sites[site], amount);
        add(&chosen->total, amount);
    }
    free(takes);
    free(sites);
    return memory ? TIDE_OK : TIDE_ENOMEM;
}

/* The same of whole sites. */
static void add_sites(const struct tide_model *model,
                      const struct tide_rows_request *request, const bool *takes_site,
                      struct tide_chosen *chosen)
{
    for (size_t i = 0; i < model->site_count; i++) {
        if (model->sites[i].space != (uint32_t)request->space)
            continue;
        const struct tide_amount amount =
            amount_of_site(&model->sites[i], request->metric);
        add(&chosen->whole, amount);
        if ((takes_site && !takes_site[i]) || is_suppressed(request, i))
            continue;
        chosen->sites[i] = amount;
        add(&chosen->total, amount);
    }
}

enum tide_status tide_choose(const struct tide_model *model,
                             const struct tide_rows_request *request, bool keys,
                             struct tide_chosen *out)
{
    const bool by_key = keys || model->selected || by_context(&request->filter);
    *out = (struct tide_chosen){
        .filtered = model->selected || tide_filter_narrows(&request->filter),
        .sites = calloc(model->site_count + 1, sizeof(*out->sites)),
        .keys = by_key ? calloc(model->key_count + 1, sizeof(*out->keys)) : NULL,
    };
    bool *const takes_site =
        by_stack(&request->filter) ? calloc(model->site_count + 1, sizeof(bool)) : NULL;
    enum tide_status status = TIDE_OK;
    if (!out->sites || (by_key && !out->keys) ||
        (by_stack(&request->filter) && !takes_site))
        status = TIDE_ENOMEM;
    if (!status && takes_site)
        status = list_sites(model, &request->filter, takes_site);
    if (!status && by_key)
        status = add_keys(model, request, takes_site, out);
    else if (!status)
        add_sites(model, request, takes_site, out);
    free(takes_site);
    if (status)
        tide_chosen_release(out);
    return status;
}
