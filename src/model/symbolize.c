/* model/symbolize.c - names for the frames that the sites use.
 *
 * Frames are asked for module by module, in order of address, so that one symbolizer is
 * open at a time and walks its tables forward; a child process reads the files.  A module
 * that cannot be read leaves its frames without names; only want of memory is an error.
 * What the trace brings itself is believed first: whoever wrote it had the very files.  A
 * function without a line is asked for again: debug information may have come since.
 */
#include "model/symbolize.h"

#include <stdlib.h>
#include <string.h>

#include "model/model_state.h"
#include "model/wrappers.h"
#include "symbol/name_child.h"
#include "trace/embedded.h"
#include "trace/format.h"

static const struct tide_symbol TIDE_NO_SYMBOL = {0};

const char *tide_synthetic_name(uint64_t synthetic)
{
    if (synthetic == TIDE_SYNTHETIC_CUT)
        return "[stack cut]";
    if (synthetic == TIDE_SYNTHETIC_EARLY)
        return "[before start]";
    return "[unknown]";
}

/* Where the names of one module come from. */
struct sources {
    const struct tide_symbol_source *source;
    const struct tide_embedded *embedded; /* NULL: the trace brings none */
    struct tide_name_child *child;        /* reads the files; NULL: this process does */
    struct tide_symbolizer *symbolizer;   /* of the module; NULL: not opened */
    bool opened;                          /* or tried */
};

static int by_place(const void *one, const void *other)
{
    const struct tide_asked_frame *const a = one;
    const struct tide_asked_frame *const b = other;
    if (a->module != b->module)
        return a->module > b->module ? 1 : -1;
    return (a->value > b->value) - (a->value < b->value);
}

/* --- Which frames ------------------------------------------------------------------ */

/* Set USED for every frame on a stack of a site.  A stack is walked outwards until it
 * meets one that was walked before, so each node is seen once. */
static enum tide_status mark_used(const struct tide_model *model, bool *used)
{
    const struct tide_stacks *const stacks = &model->stacks;
    bool *const seen = calloc((size_t)stacks->node_count + 1, sizeof(*seen));
    if (!seen)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < model->site_count; i++) {
        uint32_t node = model->sites[i].stack;
        while (node && node < stacks->node_count && !seen[node]) {
            seen[node] = true;
            if (stacks->nodes[node].frame < stacks->frame_count)
                used[stacks->nodes[node].frame] = true;
            node = stacks->nodes[node].parent;
        }
    }
    free(seen);
    return TIDE_OK;
}

enum tide_status tide_model_ask_frames(const struct tide_model *model, bool all,
                                       struct tide_asked_frame **questions,
                                       size_t *count)
{
    const struct tide_stacks *const stacks = &model->stacks;
    const size_t frames = stacks->frame_count;
    *count = 0;
    *questions = NULL;
    bool *const used = calloc(frames + 1, sizeof(*used));
    if (!used)
        return TIDE_ENOMEM;
    if (all)
        memset(used, true, frames);
    enum tide_status status = all ? TIDE_OK : mark_used(model, used);
    if (!status) {
        *questions = calloc(frames + 1, sizeof(**questions));
        status = *questions ? TIDE_OK : TIDE_ENOMEM;
    }
    for (size_t i = 0; i < frames && !status; i++) {
        if (used[i] && stacks->frames[i].kind == TIDE_FRAME_NATIVE)
            (*questions)[(*count)++] = (struct tide_asked_frame){
                stacks->frames[i].module, (uint32_t)i, stacks->frames[i].value};
    }
    free(used);
    if (!status)
        qsort(*questions, *count, sizeof(**questions), by_place);
    return status;
}

/* --- Answers ------------------------------------------------------------------------- */

static const char *keep(struct tide_model_state *state, const char *text,
                        enum tide_status *status)
{
    if (!text)
        return NULL;
    const char *const kept = tide_intern(&state->strings, &state->arena, text);
    if (!kept)
        *status = TIDE_ENOMEM;
    return kept;
}

/* Copy COUNT locations, innermost first, into the model. */
static enum tide_status keep_answer(struct tide_model *model, uint32_t frame,
                                    const struct tide_location *locations, size_t count)
{
    struct tide_model_state *const state = tide_model_state(model);
    struct tide_symbol *const list =
        tide_arena_take(&state->arena, count * sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < count; i++) {
        list[i].function = keep(state, locations[i].function, &status);
        list[i].file = keep(state, locations[i].file, &status);
        list[i].line = locations[i].line;
        list[i].start = locations[i].start;
        list[i].inlined = i + 1 < count;
    }
    model->symbols[frame] = (struct tide_symbols){list, (uint32_t)count};
    return status;
}

/* All COUNT QUESTIONS will be put to the module that was opened. */
static enum tide_status announce(const struct sources *sources,
                                 const struct tide_asked_frame *questions, size_t count)
{
    if (!sources->child)
        return TIDE_OK;
    uint64_t *const addresses = calloc(count + 1, sizeof(*addresses));
    if (!addresses)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        addresses[i] = tide_call_address(questions[i].value);
    const enum tide_status status =
        sources->source->expect(sources->symbolizer, addresses, count);
    free(addresses);
    return status;
}

/* The module of COUNT QUESTIONS is asked for the first time. */
static enum tide_status open_module(const struct tide_model *model,
                                    struct sources *sources,
                                    const struct tide_asked_frame *questions,
                                    size_t count)
{
    const struct tide_trace *const trace = model->trace;
    sources->opened = true;
    if (questions[0].module >= trace->module_count)
        return TIDE_OK;
    const struct tide_module *const file = &trace->modules[questions[0].module];
    const struct tide_symbolizer_options options = {
        .file = {file->file_bytes, file->file_mtime_ns},
        .debuginfod = model->debuginfod,
        .child = sources->child};
    if (sources->source->open(file->path, file->build_id, &options,
                              &sources->symbolizer)) {
        sources->symbolizer = NULL;
        return TIDE_OK;
    }
    return announce(sources, questions, count);
}

/* Keep the names that the trace brings: COUNT PLACES. */
static enum tide_status keep_embedded(struct tide_model *model, uint32_t frame,
                                      const struct tide_embedded_place *places,
                                      size_t count)
{
    struct tide_location *const locations = calloc(count, sizeof(*locations));
    if (!locations)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < count; i++)
        locations[i] = (struct tide_location){.function = places[i].function,
                                              .file = places[i].file,
                                              .line = places[i].line};
    if (!locations[count - 1].function)
        model->honesty.unresolved_frames++;
    const enum tide_status status = keep_answer(model, frame, locations, count);
    free(locations);
    return status;
}

/* What the file of the module says today, if it is the same file. */
static enum tide_status ask_file(const struct sources *sources,
                                 const struct tide_asked_frame *question,
                                 const struct tide_location **locations, size_t *count)
{
    return sources->symbolizer
               ? sources->source->find(sources->symbolizer,
                                       tide_call_address(question->value), locations,
                                       count)
               : TIDE_ENOENT;
}

/* Answer the first of COUNT questions of one module. */
static enum tide_status answer(struct tide_model *model, struct sources *sources,
                               const struct tide_asked_frame *question,
                               size_t count_left)
{
    const struct tide_location *locations = NULL;
    size_t count = 0, brought;
    const struct tide_embedded_place *const places =
        tide_embedded_find(sources->embedded, question->module,
                           tide_call_address(question->value), &brought);
    if (tide_embedded_has_file(places, brought))
        return keep_embedded(model, question->frame, places, brought);
    if (!sources->opened && open_module(model, sources, question, count_left))
        return TIDE_ENOMEM;
    const enum tide_status status = ask_file(sources, question, &locations, &count);
    if (status == TIDE_ENOMEM)
        return status;
    if (brought && (status || count == 0 || !locations[count - 1].file))
        return keep_embedded(model, question->frame, places, brought);
    if (status || count == 0 || count > UINT32_MAX) {
        model->honesty.unresolved_frames++;
        return TIDE_OK;
    }
    if (!locations[count - 1].function)
        model->honesty.unresolved_frames++;
    return keep_answer(model, question->frame, locations, count);
}

/* What was given up says so, even when the symbol table had all names. */
static bool is_given_up(enum tide_module_state state)
{
    return state == TIDE_MODULE_TOO_BIG || state == TIDE_MODULE_BROKEN;
}

/* Has the run named all that its file of MODULE had a name for? */
static bool was_named(const struct tide_model *model, const struct sources *sources,
                      uint32_t module)
{
    return model->trace->naming.left == 0 &&
           tide_embedded_names(sources->embedded, module);
}

/* FRAMES of MODULE stayed without a name: why? */
static enum tide_status note_unnamed(struct tide_model *model,
                                     const struct sources *sources, uint32_t module,
                                     uint64_t frames)
{
    struct tide_honesty *const honesty = &model->honesty;
    const struct tide_trace *const trace = model->trace;
    if (!sources->symbolizer || !sources->source->state ||
        module >= trace->module_count || trace->modules[module].path[0] != '/')
        return TIDE_OK;
    const enum tide_module_state why = sources->source->state(sources->symbolizer);
    const bool elsewhere = why == TIDE_MODULE_OTHER || why == TIDE_MODULE_GONE;
    if (elsewhere && was_named(model, sources, module))
        return TIDE_OK;
    trace->modules[module].other_build |= why == TIDE_MODULE_OTHER && frames > 0;
    if (why == TIDE_MODULE_READ || (frames == 0 && !is_given_up(why)))
        return TIDE_OK;
    if (!honesty->unnamed)
        honesty->unnamed =
            tide_arena_take(&tide_model_state(model)->arena,
                            trace->module_count * sizeof(*honesty->unnamed));
    if (!honesty->unnamed)
        return TIDE_ENOMEM;
    honesty->unnamed[honesty->unnamed_count++] = (struct tide_unnamed){
        .module = trace->modules[module].path, .frames = frames, .why = why};
    return TIDE_OK;
}

static int by_frames(const void *one, const void *other)
{
    const struct tide_unnamed *const a = one;
    const struct tide_unnamed *const b = other;
    if (a->frames != b->frames)
        return a->frames < b->frames ? 1 : -1;
    return strcmp(a->module, b->module);
}

/* Answer the questions of one module; they begin at QUESTIONS.  *COUNT becomes how many
 * they were. */
static enum tide_status answer_module(struct tide_model *model, struct sources sources,
                                      const struct tide_asked_frame *questions,
                                      size_t *count)
{
    const uint32_t module = questions[0].module;
    const uint64_t before = model->honesty.unresolved_frames;
    enum tide_status status = TIDE_OK;
    size_t own = 0;
    while (own < *count && questions[own].module == module)
        own++;
    for (size_t i = 0; i < own && !status; i++)
        status = answer(model, &sources, &questions[i], own - i);
    if (!status)
        status = note_unnamed(model, &sources, module,
                              model->honesty.unresolved_frames - before);
    if (sources.symbolizer)
        sources.source->close(sources.symbolizer);
    *count = own;
    return status;
}

static enum tide_status name_synthetic(struct tide_model *model, uint32_t frame)
{
    struct tide_symbol *const symbol =
        tide_arena_take(&tide_model_state(model)->arena, sizeof(*symbol));
    if (!symbol)
        return TIDE_ENOMEM;
    symbol->function = tide_synthetic_name(model->stacks.frames[frame].value);
    model->symbols[frame] = (struct tide_symbols){symbol, 1};
    return TIDE_OK;
}

/* Every frame has one symbol at least: nothing, or what stands for a synthetic one. */
static enum tide_status name_frames(struct tide_model *model)
{
    const uint32_t frames = model->stacks.frame_count;
    model->symbols = tide_arena_take(&tide_model_state(model)->arena,
                                     ((size_t)frames + 1) * sizeof(*model->symbols));
    if (!model->symbols)
        return TIDE_ENOMEM;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < frames && !status; i++) {
        model->symbols[i] = (struct tide_symbols){&TIDE_NO_SYMBOL, 1};
        if (model->stacks.frames[i].kind == TIDE_FRAME_SYNTHETIC)
            status = name_synthetic(model, i);
    }
    return status;
}

static enum tide_status name_all(struct tide_model *model,
                                 const struct tide_symbol_source *source, bool all)
{
    struct sources sources = {.source = source};
    struct tide_embedded *embedded = NULL;
    struct tide_asked_frame *questions;
    size_t count;
    enum tide_status status = tide_model_ask_frames(model, all, &questions, &count);
    if (!status)
        status = name_frames(model);
    if (!status)
        status = tide_embedded_open(model->trace, &embedded);
    sources.embedded = embedded;
    model->honesty.unresolved_frames = 0;
    model->honesty.unnamed = NULL;
    model->honesty.unnamed_count = 0;
    size_t done = 0;
    if (!status && source->expect)
        status = tide_name_child_new(model->debuginfod, &sources.child);
    while (!status && done < count) {
        size_t here = count - done;
        status = answer_module(model, sources, questions + done, &here);
        done += here;
    }
    if (model->honesty.unnamed_count > 1)
        qsort(model->honesty.unnamed, model->honesty.unnamed_count,
              sizeof(*model->honesty.unnamed), by_frames);
    tide_name_child_free(sources.child);
    tide_embedded_close(embedded);
    free(questions);
    return status ? status : tide_wrappers_find(model);
}

enum tide_status tide_model_symbolize_from(struct tide_model *model,
                                           const struct tide_symbol_source *source)
{
    return name_all(model, source, false);
}

static const struct tide_symbol_source ELF_FILES = {
    .open = tide_symbolizer_open,
    .find = tide_symbolizer_find,
    .close = tide_symbolizer_close,
    .state = tide_symbolizer_state,
    .expect = tide_symbolizer_expect,
};

enum tide_status tide_model_symbolize(struct tide_model *model)
{
    return name_all(model, &ELF_FILES, false);
}

enum tide_status tide_model_symbolize_all(struct tide_model *model)
{
    return name_all(model, &ELF_FILES, true);
}
