/* unit/hand_model.c - a model put together by hand, with symbols from a table. */
#include "hand_model.h"

#include <stdlib.h>
#include <string.h>

#include "model/model_state.h"
#include "trace/format.h"

enum { TIDE_HAND_SITES = 64, TIDE_HAND_INLINES = 8 };

static const char *const paths[TIDE_HAND_MODULES] = {
    "/bin/app", "/lib/libc.so.6", "/opt/libtidemark.so", "/lib/ld-linux-x86-64.so.2",
    "/usr/lib/libstdc++.so.6"};

static const struct hand_symbol *known;
size_t hand_opened, hand_closed;

/* --- The model --- */

void hand_model_init(struct hand_model *hand, const struct hand_symbol *symbols)
{
    memset(hand, 0, sizeof(*hand));
    known = symbols;
    hand_opened = 0;
    hand_closed = 0;
    for (size_t i = 0; i < TIDE_HAND_MODULES; i++)
        hand->modules[i] = (struct tide_module){.path = paths[i], .build_id = ""};
    hand->process = (struct tide_process){.main = true, .ended = true};
    hand->trace.modules = hand->modules;
    hand->trace.module_count = TIDE_HAND_MODULES;
    hand->trace.processes = &hand->process;
    hand->trace.process_count = 1;
    hand->model = calloc(1, sizeof(*hand->model));
    if (!hand->model)
        abort();
    hand->model->trace = &hand->trace;
    hand->model->private_state = calloc(1, sizeof(struct tide_model_state));
    hand->model->sites = calloc(TIDE_HAND_SITES, sizeof(*hand->model->sites));
    hand->model->honesty.complete = true;
    if (!hand->model->private_state || !hand->model->sites ||
        tide_stacks_init(&hand->model->stacks))
        abort();
}

void hand_model_release(struct hand_model *hand)
{
    tide_model_free(hand->model);
    hand->model = NULL;
}

static uint32_t add_frame(struct hand_model *hand, uint32_t parent,
                          struct tide_frame frame)
{
    uint32_t number, node;
    if (tide_stacks_frame(&hand->model->stacks, frame, &number) ||
        tide_stacks_child(&hand->model->stacks, parent, number, &node))
        abort();
    return node;
}

uint32_t hand_stack(struct hand_model *hand, const struct hand_frame *frames,
                    size_t count)
{
    uint32_t node = 0;
    for (size_t i = 0; i < count; i++)
        node = add_frame(hand, node,
                         (struct tide_frame){.kind = TIDE_FRAME_NATIVE,
                                             .module = frames[i].module,
                                             .value = frames[i].value});
    return node;
}

uint32_t hand_synthetic(struct hand_model *hand, uint32_t parent, uint64_t synthetic)
{
    return add_frame(hand, parent,
                     (struct tide_frame){.kind = TIDE_FRAME_SYNTHETIC,
                                         .module = TIDE_NO_MODULE,
                                         .value = synthetic});
}

void hand_site(struct hand_model *hand, struct tide_site site)
{
    struct tide_model *model = hand->model;
    if (model->site_count == TIDE_HAND_SITES)
        abort();
    model->sites[model->site_count++] = site;
    struct tide_summary *summary = &model->summary[site.space];
    summary->alloc_calls += site.calls;
    summary->allocated_bytes += site.bytes;
    summary->peak_bytes += (uint64_t)site.peak_bytes;
    summary->live_bytes += (uint64_t)site.live_bytes;
    summary->temporary_calls += site.temporary_calls;
}

/* --- The symbols --- */

struct tide_symbolizer {
    uint32_t module;
    struct tide_location found[TIDE_HAND_INLINES];
};

static enum tide_status open_module(const char *path, const char *build_id,
                                    const struct tide_symbolizer_options *options,
                                    struct tide_symbolizer **out)
{
    (void)build_id;
    (void)options;
    *out = NULL;
    if (strcmp(path, paths[TIDE_HAND_LIBC]) == 0)
        return TIDE_ENOENT; /* a module that cannot be read */
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return TIDE_ENOMEM;
    while (strcmp(paths[(*out)->module], path) != 0)
        (*out)->module++;
    hand_opened++;
    return TIDE_OK;
}

/* A return address is asked for by the call before it. */
static enum tide_status find_address(struct tide_symbolizer *symbolizer,
                                     uint64_t address, const struct tide_location **out,
                                     size_t *count)
{
    *count = 0;
    *out = symbolizer->found;
    for (const struct hand_symbol *symbol = known; symbol->value; symbol++) {
        if (symbol->module != symbolizer->module || symbol->value != address + 1)
            continue;
        symbolizer->found[(*count)++] =
            (struct tide_location){.function = symbol->function,
                                   .file = symbol->file,
                                   .line = (uint32_t)symbol->line};
    }
    return TIDE_OK;
}

static void close_module(struct tide_symbolizer *symbolizer)
{
    hand_closed++;
    memset(symbolizer, 0xee, sizeof(*symbolizer)); /* what it handed out is dead now */
    free(symbolizer);
}

const struct tide_symbol_source hand_source = {
    .open = open_module,
    .find = find_address,
    .close = close_module,
};
