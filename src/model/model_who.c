/* model/model_who.c - what a model knows of threads, regions and labels.
 */
#include <stdlib.h>

#include "model/model_state.h"

/* The note that says the name of THREAD: of those with its id and lane, the one written
 * nearest to when it came. */
static const char *name_of(const struct tide_trace *trace,
                           const struct tide_key_thread *thread)
{
    const char *name = "";
    uint64_t nearest = UINT64_MAX;
    if (!thread->tid || thread->lane >= trace->lane_count)
        return name;
    for (size_t i = 0; i < trace->thread_count; i++) {
        const struct tide_thread *const note = &trace->threads[i];
        if (note->process != thread->process || note->tid != thread->tid ||
            note->lane_number != trace->lanes[thread->lane].number)
            continue;
        const uint64_t apart = note->ticks > thread->first_ticks
                                   ? note->ticks - thread->first_ticks
                                   : thread->first_ticks - note->ticks;
        if (apart < nearest)
            name = note->name;
        nearest = apart < nearest ? apart : nearest;
    }
    return name ? name : "";
}

static enum tide_status copy_contexts(struct tide_model *model,
                                      const struct tide_contexts *contexts)
{
    const size_t count = contexts->contexts.count;
    const size_t regions = contexts->regions.count;
    model->contexts = calloc(count + 1, sizeof(*model->contexts));
    model->regions = calloc(regions + 1, sizeof(*model->regions));
    if (!model->contexts || !model->regions)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < count; i++)
        model->contexts[i] = tide_context_of(contexts, i);
    for (size_t i = 0; i < regions; i++)
        model->regions[i] = (struct tide_region){
            .parent = (uint32_t)contexts->regions.list[i].one,
            .name = (uint32_t)contexts->regions.list[i].other,
        };
    model->context_count = count;
    model->region_count = regions;
    return TIDE_OK;
}

enum tide_status tide_model_take_contexts(struct tide_model *model,
                                          struct tide_contexts *contexts)
{
    const enum tide_status status = copy_contexts(model, contexts);
    if (status)
        return status;
    for (size_t i = 0; i < contexts->thread_count; i++)
        contexts->threads[i].name = name_of(model->trace, &contexts->threads[i]);
    model->key_threads = contexts->threads;
    model->key_thread_count = contexts->thread_count;
    contexts->threads = NULL;
    model->honesty.region_mismatches = contexts->region_mismatches;
    struct tide_model_state *const state = tide_model_state(model);
    state->contexts = *contexts;
    *contexts = (struct tide_contexts){0};
    return TIDE_OK;
}

const char *tide_model_text(const struct tide_model *model, uint32_t number)
{
    const struct tide_contexts *const contexts = &tide_model_state(model)->contexts;
    const char *const text = number > 0 && number <= contexts->texts.count
                                 ? contexts->strings[number - 1]
                                 : NULL;
    return text ? text : "[unnamed]";
}

void tide_model_region(const struct tide_model *model, uint32_t region,
                       struct tide_text *out)
{
    uint32_t path[TIDE_REGIONS_DEEP];
    size_t depth = 0;
    for (uint32_t at = region; at && at <= model->region_count; depth++) {
        if (depth == TIDE_REGIONS_DEEP)
            break;
        path[depth] = model->regions[at - 1].name;
        at = model->regions[at - 1].parent;
    }
    for (size_t i = depth; i > 0; i--) {
        tide_text_add(out, tide_model_text(model, path[i - 1]));
        if (i > 1)
            tide_text_add(out, "/");
    }
}
