/* view/export_frames.c - frames and kinds as exports name them. */
#include <inttypes.h>
#include <string.h>

#include "model/symbolize.h"
#include "trace/format.h"
#include "view/export.h"
#include "view/names.h"

static const char *module_of(const struct tide_model *model, uint32_t frame)
{
    const struct tide_frame *const about = &model->stacks.frames[frame];
    const bool known =
        about->kind == TIDE_FRAME_NATIVE && about->module < model->trace->module_count;
    return known ? model->trace->modules[about->module].path : "";
}

static bool is_own(const struct tide_model *model, uint32_t frame)
{
    static const char OWN[] = "libtidemark";
    const char *const base = tide_name_base(module_of(model, frame));
    return strncmp(base, OWN, sizeof(OWN) - 1) == 0;
}

uint32_t tide_frame_outside(const struct tide_model *model, uint32_t stack)
{
    const struct tide_stacks *const stacks = &model->stacks;
    while (stack && stack < stacks->node_count &&
           is_own(model, stacks->nodes[stack].frame))
        stack = stacks->nodes[stack].parent;
    return stack < stacks->node_count ? stack : 0;
}

struct tide_symbols tide_frame_symbols(const struct tide_model *model, uint32_t frame)
{
    static const struct tide_symbol NOTHING = {.function = NULL};
    const struct tide_symbols symbols = model->symbols[frame];
    return symbols.count ? symbols
                         : (struct tide_symbols){.list = &NOTHING, .count = 1};
}

void tide_frame_name(struct tide_text *text, const struct tide_model *model,
                     uint32_t frame, const struct tide_symbol *symbol)
{
    const struct tide_frame *const about = &model->stacks.frames[frame];
    const char *const module = module_of(model, frame);
    if (symbol->function)
        tide_out_name(text, symbol->function);
    else if (about->kind == TIDE_FRAME_PYTHON)
        tide_text_add(text, "[python]");
    else if (about->kind == TIDE_FRAME_SYNTHETIC)
        tide_text_add(text, tide_synthetic_name(about->value));
    else if (*module) {
        tide_out_name(text, tide_name_base(module));
        tide_text_addf(text, "+0x%" PRIx64,
                       symbol->start ? symbol->start : about->value);
    } else
        tide_text_addf(text, "0x%" PRIx64, about->value);
}
