/* model/symbolize.c - names for the frames that the sites use.
 *
 * Frames are asked for module by module, in order of address, so that one symbolizer is
 * open at a time and walks its tables forward.  A module that cannot be read leaves its
 * frames without names; only want of memory is an error.
 */
#include "model/symbolize.h"

#include <stdlib.h>

#include "model/model_state.h"
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

/* A native frame to be named. */
struct question {
    uint32_t module, frame;
    uint64_t value;
};

static int by_place(const void *one, const void *other)
{
    const struct question *const a = one;
    const struct question *const b = other;
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

/* The native frames in use, sorted; *QUESTIONS belongs to the caller. */
static enum tide_status list_questions(const struct tide_model *model,
                                       struct question **questions, size_t *count)
{
    const struct tide_stacks *const stacks = &model->stacks;
    const size_t frames = stacks->frame_count;
    *count = 0;
    *questions = NULL;
    bool *const used = calloc(frames + 1, sizeof(*used));
    if (!used)
        return TIDE_ENOMEM;
    enum tide_status status = mark_used(model, used);
    if (!status) {
        *questions = calloc(frames + 1, sizeof(**questions));
        status = *questions ? TIDE_OK : TIDE_ENOMEM;
    }
    for (size_t i = 0; i < frames && !status; i++) {
        if (used[i] && stacks->frames[i].kind == TIDE_FRAME_NATIVE)
            (*questions)[(*count)++] = (struct question){
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
        list[i].inlined = i + 1 < count;
    }
    model->symbols[frame] = (struct tide_symbols){list, (uint32_t)count};
    return status;
}

/* A return address is one after the call it belongs to. */
static uint64_t call_before(uint64_t address)
{
    return address ? address - 1 : 0;
}

static enum tide_status answer(struct tide_model *model,
                               const struct tide_symbol_source *source,
                               struct tide_symbolizer *symbolizer,
                               const struct question *question)
{
    const struct tide_location *locations = NULL;
    size_t count = 0;
    enum tide_status status = TIDE_ENOENT;
    if (symbolizer)
        status =
            source->find(symbolizer, call_before(question->value), &locations, &count);
    if (status == TIDE_ENOMEM)
        return status;
    if (status || count == 0 || count > UINT32_MAX) {
        model->honesty.unresolved_frames++;
        return TIDE_OK;
    }
    if (!locations[count - 1].function)
        model->honesty.unresolved_frames++;
    return keep_answer(model, question->frame, locations, count);
}

/* Answer the questions of one module; they begin at QUESTIONS.  *COUNT becomes how many
 * they were. */
static enum tide_status answer_module(struct tide_model *model,
                                      const struct tide_symbol_source *source,
                                      const struct question *questions, size_t *count)
{
    const uint32_t module = questions[0].module;
    const struct tide_trace *const trace = model->trace;
    struct tide_symbolizer *symbolizer = NULL;
    if (module < trace->module_count) {
        const struct tide_module *const file = &trace->modules[module];
        if (source->open(file->path, file->build_id, NULL, &symbolizer))
            symbolizer = NULL;
    }
    enum tide_status status = TIDE_OK;
    size_t i = 0;
    for (; i < *count && questions[i].module == module && !status; i++)
        status = answer(model, source, symbolizer, &questions[i]);
    if (symbolizer)
        source->close(symbolizer);
    *count = i;
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

enum tide_status tide_model_symbolize_from(struct tide_model *model,
                                           const struct tide_symbol_source *source)
{
    struct question *questions;
    size_t count;
    enum tide_status status = list_questions(model, &questions, &count);
    if (!status)
        status = name_frames(model);
    model->honesty.unresolved_frames = 0;
    size_t done = 0;
    while (!status && done < count) {
        size_t here = count - done;
        status = answer_module(model, source, questions + done, &here);
        done += here;
    }
    free(questions);
    return status;
}

enum tide_status tide_model_symbolize(struct tide_model *model)
{
    static const struct tide_symbol_source elf_files = {
        .open = tide_symbolizer_open,
        .find = tide_symbolizer_find,
        .close = tide_symbolizer_close,
    };
    return tide_model_symbolize_from(model, &elf_files);
}
