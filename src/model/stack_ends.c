/* model/stack_ends.c - stacks that end before they should, and in whose code.
 *
 * Where nothing says who called, a walk ends with the frame UNKNOWN, outermost.  Stacks
 * that come to it from the loader are whole: its first instructions have no tables, and
 * nothing called them.
 *
 * Most traces have no other, so this is found out before a number is kept for each node.
 */
#include <stdlib.h>
#include <string.h>

#include "model/model_state.h"
#include "model/path.h"
#include "trace/format.h"

/* The node of all stacks that end so; 0: there are none. */
static uint32_t find_unknown(const struct tide_stacks *stacks)
{
    for (uint32_t i = 1; i < stacks->node_count; i++) {
        const struct tide_frame *const frame = &stacks->frames[stacks->nodes[i].frame];
        if (stacks->nodes[i].parent == 0 && frame->kind == TIDE_FRAME_SYNTHETIC &&
            frame->value == TIDE_SYNTHETIC_UNKNOWN)
            return i;
    }
    return 0;
}

/* The module of NODE's code; the number of modules for code of no file. */
static size_t module_of(const struct tide_model *model, uint32_t node)
{
    const struct tide_stacks *const stacks = &model->stacks;
    const uint32_t module = stacks->frames[stacks->nodes[node].frame].module;
    const size_t modules = model->trace->module_count;
    return module < modules ? module : modules;
}

/* Is NODE, called from UNKNOWN, where a stack ends before it should? */
static bool ends_early(const struct tide_model *model, uint32_t node, uint32_t unknown)
{
    const struct tide_trace *const trace = model->trace;
    if (model->stacks.nodes[node].parent != unknown)
        return false;
    const size_t module = module_of(model, node);
    return module == trace->module_count ||
           !tide_path_is_loader(trace->modules[module].path);
}

static bool any_ends_early(const struct tide_model *model, uint32_t unknown)
{
    for (uint32_t i = unknown + 1; i < model->stacks.node_count; i++) {
        if (ends_early(model, i, unknown))
            return true;
    }
    return false;
}

/* Per node: 1 + the module where its stack ends too early, 0 for a whole one.  Callers
 * have lower numbers. */
static void mark_nodes(const struct tide_model *model, uint32_t unknown, uint32_t *ends)
{
    for (uint32_t i = unknown + 1; i < model->stacks.node_count; i++) {
        if (ends_early(model, i, unknown))
            ends[i] = (uint32_t)module_of(model, i) + 1;
        else
            ends[i] = ends[model->stacks.nodes[i].parent];
    }
}

static int by_calls(const void *one, const void *other)
{
    const struct tide_unfinished *const a = one;
    const struct tide_unfinished *const b = other;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return strcmp(a->module ? a->module : "", b->module ? b->module : "");
}

/* LIST has a place for each module, and one for none: keep those that count. */
static void keep_list(struct tide_model *model, struct tide_unfinished *list)
{
    const struct tide_trace *const trace = model->trace;
    struct tide_honesty *const honesty = &model->honesty;
    size_t kept = 0;
    honesty->unfinished_stacks = 0;
    for (size_t i = 0; i <= trace->module_count; i++) {
        const uint64_t calls = list[i].calls;
        if (calls == 0)
            continue;
        list[kept++] = (struct tide_unfinished){
            .module = i < trace->module_count ? trace->modules[i].path : NULL,
            .calls = calls,
        };
        honesty->unfinished_stacks += calls;
    }
    if (kept > 1)
        qsort(list, kept, sizeof(*list), by_calls);
    honesty->unfinished = list;
    honesty->unfinished_count = kept;
}

enum tide_status tide_model_stack_ends(struct tide_model *model)
{
    const uint32_t unknown = find_unknown(&model->stacks);
    if (unknown == 0 || !any_ends_early(model, unknown))
        return TIDE_OK;
    struct tide_unfinished *const list =
        tide_arena_take(&tide_model_state(model)->arena,
                        (model->trace->module_count + 1) * sizeof(*list));
    uint32_t *const ends = calloc(model->stacks.node_count, sizeof(*ends));
    if (!list || !ends) {
        free(ends);
        return TIDE_ENOMEM;
    }
    mark_nodes(model, unknown, ends);
    for (size_t i = 0; i < model->site_count; i++) {
        const struct tide_site *const site = &model->sites[i];
        if (ends[site->stack])
            list[ends[site->stack] - 1].calls += site->calls;
    }
    free(ends);
    keep_list(model, list);
    return TIDE_OK;
}
