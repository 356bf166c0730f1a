/* model/embed.c - the names of all frames of a model, as notes for its trace. */
#include "model/embed.h"

#include <stdlib.h>

#include "model/symbolize.h"
#include "trace/name_notes.h"

static bool is_named(const struct tide_symbols *symbols)
{
    for (uint32_t i = 0; i < symbols->count; i++)
        if (symbols->list[i].function || symbols->list[i].file)
            return true;
    return false;
}

/* FRAME, in order of address; MODULE is where it is. */
static void add_frame(const struct tide_model *model, struct tide_name_notes *names,
                      const struct tide_module *module, uint32_t frame)
{
    const struct tide_symbols *const symbols = &model->symbols[frame];
    struct tide_embedded_place *const places =
        calloc((size_t)symbols->count + 1, sizeof(*places));
    names->failed |= !places;
    for (uint32_t i = 0; places && i < symbols->count; i++)
        places[i] = (struct tide_embedded_place){
            symbols->list[i].function, symbols->list[i].file, symbols->list[i].line};
    if (places)
        tide_name_notes_add(names, module,
                            tide_call_address(model->stacks.frames[frame].value),
                            places, symbols->count);
    free(places);
}

struct embedding {
    const struct tide_model *model;
    struct tide_name_notes names;
    struct tide_embed_counts *counts;
    size_t most; /* nameless frames of one module */
};

/* The frames of one module, COUNT of them at ASKED, in order of address. */
static void add_module(struct embedding *embedding,
                       const struct tide_asked_frame *asked, size_t count)
{
    const struct tide_model *const model = embedding->model;
    struct tide_embed_counts *const counts = embedding->counts;
    const struct tide_module *const module = &model->trace->modules[asked[0].module];
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_named(&model->symbols[asked[i].frame]))
            continue;
        add_frame(model, &embedding->names, module, asked[i].frame);
        named++;
    }
    counts->frames += count;
    counts->named += named;
    counts->modules++;
    counts->unknown += named == 0;
    if (count - named > embedding->most) {
        embedding->most = count - named;
        counts->one = module->path;
    }
}

enum tide_status tide_model_embed(const struct tide_model *model,
                                  struct tide_text *notes,
                                  struct tide_embed_counts *counts)
{
    struct embedding embedding = {.model = model, .counts = counts};
    struct tide_name_notes *const names = &embedding.names;
    struct tide_asked_frame *asked;
    size_t count;
    *counts = (struct tide_embed_counts){0};
    if (!model->symbols)
        return TIDE_EUSAGE;
    enum tide_status status = tide_model_ask_frames(model, true, &asked, &count);
    for (size_t i = 0; i < count && !status && !names->failed;) {
        size_t here = 1;
        while (i + here < count && asked[i + here].module == asked[i].module)
            here++;
        if (asked[i].module < model->trace->module_count)
            add_module(&embedding, asked + i, here);
        i += here;
    }
    if (!status)
        status = tide_name_notes_end(names);
    if (!status && names->notes.length)
        tide_text_add_bytes(notes, names->notes.bytes, names->notes.length);
    if (!status && notes->failed)
        status = TIDE_ENOMEM;
    tide_name_notes_release(names);
    free(asked);
    return status;
}
