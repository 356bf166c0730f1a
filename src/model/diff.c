/* model/diff.c - two models become one tree of calls.
 *
 * NEW is entered first, so that names are those of today where there are any.
 */
#include "model/diff.h"

#include <stdlib.h>

#include "model/grow.h"
#include "model/path.h"

enum { TIDE_NODE_SLOTS_FIRST = 256 }; /* a power of two */

enum tide_change_kind tide_change_kind(const struct tide_change *change)
{
    const bool base = change->bytes[TIDE_SIDE_BASE] || change->calls[TIDE_SIDE_BASE];
    const bool fresh = change->bytes[TIDE_SIDE_NEW] || change->calls[TIDE_SIDE_NEW];
    if (base && fresh)
        return tide_change_bytes(change) || tide_change_calls(change)
                   ? TIDE_CHANGE_MORE
                   : TIDE_CHANGE_NONE;
    if (!base && !fresh)
        return TIDE_CHANGE_NONE;
    return base ? TIDE_CHANGE_GONE : TIDE_CHANGE_NEW;
}

/* Negative only in traces that claim impossible sizes. */
static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

struct tide_change tide_diff_amount(const struct tide_site *site,
                                    enum tide_metric metric, enum tide_side side)
{
    struct tide_change amount = {{0}, {0}};
    uint64_t *const bytes = &amount.bytes[side], *const calls = &amount.calls[side];
    switch (metric) {
    case TIDE_METRIC_PEAK:
        *bytes = at_least_zero(site->peak_bytes);
        *calls = at_least_zero(site->peak_blocks);
        break;
    case TIDE_METRIC_LEAKS:
        *bytes = at_least_zero(site->live_bytes);
        *calls = at_least_zero(site->live_blocks);
        break;
    case TIDE_METRIC_TOTAL:
        *bytes = site->bytes;
        *calls = site->calls;
        break;
    case TIDE_METRIC_CHURN:
        *bytes = site->temporary_bytes;
        *calls = site->temporary_calls;
        break;
    }
    return amount;
}

/* --- Nodes --------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct tide_diff *diff, uint32_t caller,
                         uint32_t function)
{
    const uint64_t key = (uint64_t)caller << 32 | function;
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & diff->node_mask;
    for (;;) {
        const uint32_t node = diff->node_slots[at];
        if (!node || (diff->nodes[node].caller == caller &&
                      diff->nodes[node].function == function))
            return &diff->node_slots[at];
        at = (at + 1) & diff->node_mask;
    }
}

static enum tide_status make_room(struct tide_diff *diff)
{
    if (diff->node_slots && diff->node_count <= diff->node_mask / 2)
        return TIDE_OK;
    const size_t slots =
        diff->node_slots ? (diff->node_mask + 1) * 2 : TIDE_NODE_SLOTS_FIRST;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(diff->node_slots);
    diff->node_slots = wider;
    diff->node_mask = slots - 1;
    for (uint32_t node = 1; node < diff->node_count; node++)
        *slot_of(diff, diff->nodes[node].caller, diff->nodes[node].function) = node;
    return TIDE_OK;
}

static enum tide_status add_node(struct tide_diff *diff,
                                 const struct tide_diff_node *node)
{
    if (diff->node_count >= UINT32_MAX)
        return TIDE_ELIMIT;
    struct tide_diff_node *const nodes = tide_grown(
        diff->nodes, &diff->node_capacity, diff->node_count + 1, sizeof(*nodes));
    if (!nodes)
        return TIDE_ENOMEM;
    diff->nodes = nodes;
    nodes[diff->node_count++] = *node;
    return TIDE_OK;
}

/* The node of FUNCTION, called from CALLER, new or known. */
static enum tide_status find_node(struct tide_diff *diff, uint32_t caller,
                                  uint32_t function, uint32_t *out)
{
    enum tide_status status = make_room(diff);
    if (status)
        return status;
    uint32_t *const slot = slot_of(diff, caller, function);
    if (!*slot) {
        const struct tide_diff_node node = {
            .function = function,
            .caller = caller,
        };
        status = add_node(diff, &node);
        if (status)
            return status;
        *slot = (uint32_t)diff->node_count - 1;
    }
    *out = *slot;
    return TIDE_OK;
}

/* --- Sides --------------------------------------------------------------------------- */

/* A model on its way in. */
struct entry {
    struct tide_diff *diff;
    enum tide_side side;
    struct tide_paths paths;
    uint32_t
        *functions; /* owned: per function of the paths, its number in the diff + 1 */
    size_t capacity;
};

static enum tide_status function_of(struct entry *entry, uint32_t function,
                                    uint32_t *out)
{
    if (!entry->functions[function]) {
        uint32_t number;
        const enum tide_status status = tide_diff_function(
            entry->diff, entry->side, &entry->paths.functions[function], &number);
        if (status)
            return status;
        entry->functions[function] = number + 1;
    }
    *out = entry->functions[function] - 1;
    return TIDE_OK;
}

/* AMOUNT passes through CALL of FUNCTION, perhaps not for the first time in this
 * stack. */
static enum tide_status pass(struct tide_diff *diff, uint32_t function,
                             const struct tide_call *call,
                             const struct tide_change *amount)
{
    struct tide_diff_function *const passed = &diff->functions[function];
    if (passed->seen == diff->stack_count)
        return TIDE_OK;
    passed->seen = diff->stack_count;
    tide_change_add(&passed->inclusive, amount);
    return tide_diff_enter_line(&diff->lines, &passed->lines, call, amount);
}

/* Enter AMOUNT for CALL, made from *NODE, which becomes its own. */
static enum tide_status enter_call(struct entry *entry, const struct tide_call *call,
                                   const struct tide_change *amount, uint32_t *node)
{
    struct tide_diff *const diff = entry->diff;
    uint32_t function;
    enum tide_status status = function_of(entry, call->function, &function);
    if (!status)
        status = find_node(diff, *node, function, node);
    if (status)
        return status;
    tide_change_add(&diff->nodes[*node].all, amount);
    status =
        tide_diff_enter_line(&diff->lines, &diff->nodes[*node].lines, call, amount);
    return status ? status : pass(diff, function, call, amount);
}

/* One more stack comes. */
static enum tide_status begin_stack(struct entry *entry, uint32_t site)
{
    struct tide_diff *const diff = entry->diff;
    if (diff->stack_count >= UINT32_MAX - 1)
        return TIDE_ELIMIT;
    struct tide_diff_stack *const stacks = tide_grown(
        diff->stacks, &diff->stack_capacity, diff->stack_count + 1, sizeof(*stacks));
    if (!stacks)
        return TIDE_ENOMEM;
    diff->stacks = stacks;
    stacks[diff->stack_count++] =
        (struct tide_diff_stack){.site = site, .side = (uint8_t)entry->side};
    return TIDE_OK;
}

/* The stack that came last ends in NODE. */
static void end_stack(struct tide_diff *diff, uint32_t node)
{
    diff->stacks[diff->stack_count - 1].next = diff->nodes[node].stacks;
    diff->nodes[node].stacks = (uint32_t)diff->stack_count;
}

/* Enter AMOUNT for the path that was walked last. */
static enum tide_status enter_path(struct entry *entry,
                                   const struct tide_change *amount)
{
    struct tide_diff *const diff = entry->diff;
    const struct tide_paths *const paths = &entry->paths;
    enum tide_status status = TIDE_OK;
    uint32_t node = 0;
    tide_change_add(&diff->nodes[0].all, amount);
    for (size_t left = paths->call_count; left > 0 && !status; left--)
        status = enter_call(entry, &paths->calls[left - 1], amount, &node);
    if (status)
        return status;
    tide_change_add(&diff->nodes[node].self, amount);
    end_stack(diff, node);
    if (!node)
        return TIDE_OK;
    struct tide_diff_function *const innermost =
        &diff->functions[diff->nodes[node].function];
    tide_change_add(&innermost->self, amount);
    return tide_diff_enter_line(&diff->lines, &innermost->own_lines, &paths->calls[0],
                                amount);
}

static enum tide_status enter_site(struct entry *entry, size_t index)
{
    const struct tide_site *const site = &entry->paths.model->sites[index];
    const struct tide_change amount =
        tide_diff_amount(site, entry->diff->metric, entry->side);
    if (!amount.bytes[entry->side] && !amount.calls[entry->side])
        return TIDE_OK;
    enum tide_status status = tide_paths_walk(&entry->paths, site->stack);
    if (!status)
        status = begin_stack(entry, (uint32_t)index);
    if (status)
        return status;
    uint32_t *const functions =
        tide_grown(entry->functions, &entry->capacity, entry->paths.function_count,
                   sizeof(*functions));
    if (!functions)
        return TIDE_ENOMEM;
    entry->functions = functions;
    return enter_path(entry, &amount);
}

static enum tide_status enter_side(struct tide_diff *diff, enum tide_side side,
                                   const struct tide_diff_request *request)
{
    const struct tide_model *const model = request->models[side];
    struct entry entry = {.diff = diff, .side = side};
    enum tide_status status = tide_paths_init(&entry.paths, model);
    if (status)
        return status;
    entry.paths.fold = request->fold;
    entry.paths.hide = request->hide;
    entry.paths.beside = request->models[!side];
    const bool *const suppressed =
        diff->metric == TIDE_METRIC_LEAKS ? request->suppressed[side] : NULL;
    for (size_t i = 0; i < model->site_count && !status; i++)
        if (model->sites[i].space == (uint32_t)diff->space &&
            !(suppressed && suppressed[i]))
            status = enter_site(&entry, i);
    tide_paths_release(&entry.paths);
    free(entry.functions);
    return status;
}

enum tide_status tide_diff_build(const struct tide_diff_request *request,
                                 struct tide_diff **out)
{
    const struct tide_model *const *const models = request->models;
    *out = NULL;
    if (!models[TIDE_SIDE_BASE]->symbols || !models[TIDE_SIDE_NEW]->symbols)
        return TIDE_EUSAGE;
    struct tide_diff *const diff = calloc(1, sizeof(*diff));
    if (!diff)
        return TIDE_ENOMEM;
    diff->request = *request;
    diff->metric = request->metric;
    diff->space = request->space;
    const struct tide_diff_node root = {.function = UINT32_MAX};
    enum tide_status status = add_node(diff, &root);
    if (!status)
        status = tide_diff_name_programs(diff, request);
    if (!status)
        status = enter_side(diff, TIDE_SIDE_NEW, request);
    if (!status)
        status = enter_side(diff, TIDE_SIDE_BASE, request);
    if (!status)
        status = tide_diff_name_new(diff);
    if (!status) {
        tide_diff_choose_lines(diff);
        status = tide_diff_order(diff);
    }
    if (status) {
        tide_diff_free(diff);
        return status;
    }
    *out = diff;
    return TIDE_OK;
}

void tide_diff_free(struct tide_diff *diff)
{
    if (!diff)
        return;
    free(diff->functions);
    free(diff->function_slots);
    free(diff->nodes);
    free(diff->node_slots);
    free(diff->stacks);
    free(diff->lines.list);
    free(diff->flat);
    free(diff->sites);
    tide_intern_release(&diff->strings);
    tide_arena_release(&diff->arena);
    free(diff);
}
