/* model/call_graph.c - who calls whom, with all metrics at once.
 */
#include "model/call_graph.h"

#include <stdlib.h>

#include "model/grow.h"

enum { TIDE_GRAPH_SLOTS_FIRST = 1024 }; /* a power of two */

/* Negative only in traces that claim impossible sizes. */
static uint64_t at_least_zero(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static struct tide_costs costs_of(const struct tide_site *site)
{
    return (struct tide_costs){{
        [TIDE_METRIC_PEAK * 2] = at_least_zero(site->peak_bytes),
        [TIDE_METRIC_PEAK * 2 + 1] = at_least_zero(site->peak_blocks),
        [TIDE_METRIC_LEAKS * 2] = at_least_zero(site->live_bytes),
        [TIDE_METRIC_LEAKS * 2 + 1] = at_least_zero(site->live_blocks),
        [TIDE_METRIC_TOTAL * 2] = site->bytes,
        [TIDE_METRIC_TOTAL * 2 + 1] = site->calls,
        [TIDE_METRIC_CHURN * 2] = site->temporary_bytes,
        [TIDE_METRIC_CHURN * 2 + 1] = site->temporary_calls,
    }};
}

static void add_costs(struct tide_costs *sum, const struct tide_costs *more)
{
    for (size_t i = 0; i < TIDE_COSTS; i++)
        sum->of[i] += more->of[i];
}

/* --- Lines --------------------------------------------------------------------------- */

static size_t slot_of(const struct tide_call_graph *graph,
                      const struct tide_graph_line *line)
{
    uint64_t mixed = ((uint64_t)line->caller << 32 | line->callee) + line->line;
    mixed = (mixed ^ (mixed >> 31)) * 0x9e3779b97f4a7c15ull;
    mixed ^= (uint64_t)line->line * 0xbf58476d1ce4e5b9ull;
    size_t at = (size_t)(mixed >> 32) & graph->mask;
    while (graph->slots[at]) {
        const struct tide_graph_line *const known = &graph->lines[graph->slots[at] - 1];
        if (known->caller == line->caller && known->callee == line->callee &&
            known->line == line->line)
            break;
        at = (at + 1) & graph->mask;
    }
    return at;
}

static enum tide_status widen(struct tide_call_graph *graph)
{
    const size_t slots = graph->mask ? (graph->mask + 1) * 2 : TIDE_GRAPH_SLOTS_FIRST;
    uint32_t *const wider = calloc(slots, sizeof(*wider));
    if (!wider)
        return TIDE_ENOMEM;
    free(graph->slots);
    graph->slots = wider;
    graph->mask = slots - 1;
    for (size_t i = 0; i < graph->count; i++)
        wider[slot_of(graph, &graph->lines[i])] = (uint32_t)i + 1;
    return TIDE_OK;
}

/* Add COSTS to LINE, new or known, unless this stack did already: line->last_stack. */
static enum tide_status add_line(struct tide_call_graph *graph,
                                 const struct tide_graph_line *line,
                                 const struct tide_costs *costs)
{
    if (graph->count >= graph->mask / 2) {
        const enum tide_status status = widen(graph);
        if (status)
            return status;
    }
    const size_t at = slot_of(graph, line);
    if (!graph->slots[at]) {
        struct tide_graph_line *const lines = tide_grown(
            graph->lines, &graph->capacity, graph->count + 1, sizeof(*lines));
        if (!lines)
            return TIDE_ENOMEM;
        graph->lines = lines;
        lines[graph->count] = *line;
        lines[graph->count].last_stack = 0;
        graph->slots[at] = (uint32_t)++graph->count;
    }
    struct tide_graph_line *const known = &graph->lines[graph->slots[at] - 1];
    if (known->last_stack == line->last_stack)
        return TIDE_OK;
    known->last_stack = line->last_stack;
    add_costs(&known->costs, costs);
    return TIDE_OK;
}

/* --- Stacks -------------------------------------------------------------------------- */

/* The node of CALL in stack number STACK, which comes from outside inwards. */
static uint32_t node_of(struct tide_call_graph *graph, const struct tide_call *call,
                        uint32_t stack)
{
    const bool again = graph->seen[call->function] == stack;
    graph->seen[call->function] = stack;
    return 1 + call->function * 2 + again;
}

/* The line of CALL, if it is in the file that its function is said to be in. */
static uint32_t line_of(const struct tide_call_graph *graph,
                        const struct tide_call *call)
{
    const char *const file = graph->paths.functions[call->function].file;
    return call->file == file ? call->line : 0;
}

static enum tide_status add_stack(struct tide_call_graph *graph,
                                  const struct tide_site *site, uint32_t stack)
{
    const struct tide_costs costs = costs_of(site);
    enum tide_status status = tide_paths_walk(&graph->paths, site->stack);
    if (status)
        return status;
    uint32_t *const seen = tide_grown(graph->seen, &graph->seen_capacity,
                                      graph->paths.function_count, sizeof(*seen));
    if (!seen)
        return TIDE_ENOMEM;
    graph->seen = seen;
    add_costs(&graph->total, &costs);
    struct tide_graph_line line = {.caller = TIDE_GRAPH_ROOT, .last_stack = stack};
    for (size_t i = graph->paths.call_count; i > 0 && !status; i--) {
        const struct tide_call *const call = &graph->paths.calls[i - 1];
        line.callee = node_of(graph, call, stack);
        status = add_line(graph, &line, &costs);
        line.caller = line.callee;
        line.line = line_of(graph, call);
    }
    line.callee = TIDE_GRAPH_SELF;
    return status ? status : add_line(graph, &line, &costs);
}

/* A function's own lines come before its calls. */
static int by_caller(const void *one, const void *other)
{
    const struct tide_graph_line *const a = one;
    const struct tide_graph_line *const b = other;
    if (a->caller != b->caller)
        return a->caller > b->caller ? 1 : -1;
    const uint32_t first = a->callee + 1; /* SELF becomes 0 */
    const uint32_t second = b->callee + 1;
    if (first != second)
        return first > second ? 1 : -1;
    return (a->line > b->line) - (a->line < b->line);
}

enum tide_status tide_call_graph_build(const struct tide_model *model,
                                       enum tide_space space,
                                       struct tide_call_graph *out)
{
    *out = (struct tide_call_graph){0};
    if (!model->symbols)
        return TIDE_EUSAGE;
    enum tide_status status = tide_paths_init(&out->paths, model);
    for (size_t i = 0; i < model->site_count && !status; i++)
        if (model->sites[i].space == (uint32_t)space)
            status = add_stack(out, &model->sites[i], (uint32_t)i + 1);
    if (status) {
        tide_call_graph_release(out);
        return status;
    }
    if (out->count)
        qsort(out->lines, out->count, sizeof(*out->lines), by_caller);
    return TIDE_OK;
}

void tide_call_graph_release(struct tide_call_graph *graph)
{
    tide_paths_release(&graph->paths);
    free(graph->lines);
    free(graph->slots);
    free(graph->seen);
    *graph = (struct tide_call_graph){0};
}
