/* model/profile.c - functions by rank, with their callers and callees. */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"
#include "model/path.h"

enum { TIDE_EDGE_SLOTS_FIRST = 1024 }; /* a power of two */

/* Where a function was met last. */
struct met {
    size_t stack; /* + 1 */
    uint32_t node;
    uint32_t first; /* its node of level 1, 0: none yet */
};

struct builder {
    struct tide_profile *profile;
    struct met *met; /* owned, per function */
    size_t met_capacity;
    struct tide_profile_edge *edges; /* owned */
    size_t edge_count, edge_capacity;
    uint32_t *slots; /* owned: edge + 1 */
    size_t mask;
};

/* What a stack has. */
struct amount {
    uint64_t bytes, calls;
};

static void add_bytes(const struct tide_profile *profile, uint64_t *sum, uint64_t bytes)
{
    if (!profile->largest)
        *sum += bytes;
    else if (bytes > *sum)
        *sum = bytes;
}

/* --- Nodes ------------------------------------------------------------------------- */

/* A new node; 0 without memory, which is nobody's but the root's. */
static uint32_t add_node(struct tide_profile *profile, uint32_t function,
                         uint32_t level)
{
    struct tide_profile_node *const nodes =
        tide_grown(profile->nodes, &profile->node_capacity, profile->node_count + 1,
                   sizeof(*nodes));
    if (!nodes)
        return 0;
    profile->nodes = nodes;
    nodes[profile->node_count] = (struct tide_profile_node){
        .function = function, .level = level, .depth = UINT32_MAX};
    return (uint32_t)profile->node_count++;
}

/* The node of FUNCTION in stack number STACK, which comes from outside inwards. */
static uint32_t node_of(struct builder *builder, uint32_t function, size_t stack)
{
    struct tide_profile *const profile = builder->profile;
    struct met *const met = &builder->met[function];
    if (met->stack != stack) {
        if (!met->first)
            met->first = add_node(profile, function, 1);
        met->node = met->first;
    } else {
        const uint32_t outer = met->node;
        if (!profile->nodes[outer].deeper) {
            const uint32_t level = profile->nodes[outer].level + 1;
            const uint32_t deeper = add_node(profile, function, level);
            profile->nodes[outer].deeper = deeper;
        }
        met->node = profile->nodes[outer].deeper;
    }
    met->stack = stack;
    return met->node;
}

static void enter(struct tide_profile *profile, uint32_t node, uint32_t depth,
                  struct amount amount)
{
    struct tide_profile_node *const into = &profile->nodes[node];
    into->depth = depth < into->depth ? depth : into->depth;
    into->calls += amount.calls;
    add_bytes(profile, &into->bytes, amount.bytes);
}

/* --- Edges ------------------------------------------------------------------------- */

static size_t edge_slot(const struct builder *builder, uint32_t caller, uint32_t callee)
{
    const uint64_t pair = (uint64_t)caller << 32 | callee;
    const uint64_t mixed = (pair ^ (pair >> 29)) * 0x9e3779b97f4a7c15ull;
    size_t at = (size_t)(mixed >> 32) & builder->mask;
    while (builder->slots[at]) {
        const struct tide_profile_edge *const edge =
            &builder->edges[builder->slots[at] - 1];
        if (edge->caller == caller && edge->callee == callee)
            break;
        at = (at + 1) & builder->mask;
    }
    return at;
}

static enum tide_status widen_edges(struct builder *builder)
{
    const size_t count =
        builder->mask ? (builder->mask + 1) * 2 : TIDE_EDGE_SLOTS_FIRST;
    uint32_t *const slots = calloc(count, sizeof(*slots));
    if (!slots)
        return TIDE_ENOMEM;
    free(builder->slots);
    builder->slots = slots;
    builder->mask = count - 1;
    for (size_t i = 0; i < builder->edge_count; i++) {
        const struct tide_profile_edge *const edge = &builder->edges[i];
        slots[edge_slot(builder, edge->caller, edge->callee)] = (uint32_t)i + 1;
    }
    return TIDE_OK;
}

static enum tide_status add_edge(struct builder *builder, uint32_t caller,
                                 uint32_t callee, struct amount amount)
{
    if (builder->edge_count >= builder->mask / 2) {
        const enum tide_status status = widen_edges(builder);
        if (status)
            return status;
    }
    const size_t at = edge_slot(builder, caller, callee);
    if (!builder->slots[at]) {
        struct tide_profile_edge *const edges =
            tide_grown(builder->edges, &builder->edge_capacity, builder->edge_count + 1,
                       sizeof(*edges));
        if (!edges)
            return TIDE_ENOMEM;
        builder->edges = edges;
        edges[builder->edge_count] =
            (struct tide_profile_edge){.caller = caller, .callee = callee};
        builder->slots[at] = (uint32_t)++builder->edge_count;
    }
    struct tide_profile_edge *const edge = &builder->edges[builder->slots[at] - 1];
    edge->calls += amount.calls;
    add_bytes(builder->profile, &edge->bytes, amount.bytes);
    return TIDE_OK;
}

/* --- Stacks ------------------------------------------------------------------------ */

/* Add the stack number STACK, whose calls PATHS has. */
static enum tide_status add_stack(struct builder *builder,
                                  const struct tide_paths *paths, size_t stack,
                                  struct amount amount)
{
    struct tide_profile *const profile = builder->profile;
    struct met *const met = tide_grown(builder->met, &builder->met_capacity,
                                       paths->function_count, sizeof(*met));
    if (!met)
        return TIDE_ENOMEM;
    builder->met = met;
    uint32_t caller = TIDE_PROFILE_ROOT;
    enter(profile, caller, 0, amount);
    enum tide_status status = TIDE_OK;
    for (size_t i = paths->call_count; i > 0 && !status; i--) {
        const uint32_t node = node_of(builder, paths->calls[i - 1].function, stack);
        if (!node)
            return TIDE_ENOMEM;
        enter(profile, node, (uint32_t)(paths->call_count - i + 1), amount);
        status = add_edge(builder, caller, node, amount);
        caller = node;
    }
    profile->nodes[caller].self_calls += amount.calls;
    add_bytes(profile, &profile->nodes[caller].self_bytes, amount.bytes);
    return status;
}

static enum tide_status add_stacks(struct builder *builder,
                                   const struct tide_model *model,
                                   const uint64_t *largest)
{
    const struct tide_rows *const rows = builder->profile->rows;
    struct tide_paths *const paths = rows->private_state;
    enum tide_status status = TIDE_OK;
    for (size_t i = 0; i < rows->stack_count && !status; i++) {
        const struct tide_stack_row *const row = &rows->stacks[i];
        const uint32_t stack = model->sites[row->site].stack;
        const struct amount amount = {
            largest && stack < model->stacks.node_count ? largest[stack] : row->bytes,
            row->calls};
        status = tide_paths_walk(paths, stack);
        if (!status)
            status = add_stack(builder, paths, i + 1, amount);
    }
    return status;
}

/* --- Order ------------------------------------------------------------------------- */

/* What is sorted: qsort has no place for the profile. */
struct placed {
    const struct tide_profile *profile;
    uint32_t node;
};

static const struct tide_profile_node *node_at(const struct placed *placed)
{
    return &placed->profile->nodes[placed->node];
}

/* By name, the root first; of one function by level. */
static int by_name(const struct tide_profile *profile, uint32_t one, uint32_t other)
{
    const struct tide_profile_node *const a = &profile->nodes[one];
    const struct tide_profile_node *const b = &profile->nodes[other];
    const struct tide_function *const functions = profile->rows->functions;
    if (one == TIDE_PROFILE_ROOT || other == TIDE_PROFILE_ROOT)
        return (other == TIDE_PROFILE_ROOT) - (one == TIDE_PROFILE_ROOT);
    const int names = strcmp(functions[a->function].name, functions[b->function].name);
    if (names)
        return names;
    if (a->level != b->level)
        return a->level > b->level ? 1 : -1;
    return (a->function > b->function) - (a->function < b->function);
}

/* Largest first; callers come before what they call. */
static int by_bytes(const void *one, const void *other)
{
    const struct placed *const first = one, *const second = other;
    const struct tide_profile_node *const a = node_at(first);
    const struct tide_profile_node *const b = node_at(second);
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->depth != b->depth)
        return a->depth > b->depth ? 1 : -1;
    return by_name(first->profile, first->node, second->node);
}

static int by_self(const void *one, const void *other)
{
    const struct tide_profile_node *const a = node_at(one);
    const struct tide_profile_node *const b = node_at(other);
    if (a->self_bytes != b->self_bytes)
        return a->self_bytes < b->self_bytes ? 1 : -1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The nodes in the order that COMPARE says; owned by the caller. */
static uint32_t *sorted(const struct tide_profile *profile,
                        int (*compare)(const void *, const void *))
{
    uint32_t *const order = calloc(profile->node_count, sizeof(*order));
    struct placed *const list = calloc(profile->node_count, sizeof(*list));
    if (order && list) {
        for (size_t i = 0; i < profile->node_count; i++)
            list[i] = (struct placed){profile, (uint32_t)i};
        qsort(list, profile->node_count, sizeof(*list), compare);
        for (size_t i = 0; i < profile->node_count; i++)
            order[i] = list[i].node;
        free(list);
        return order;
    }
    free(list);
    free(order);
    return NULL;
}

static enum tide_status rank(struct tide_profile *profile)
{
    profile->order = sorted(profile, by_bytes);
    if (!profile->order)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < profile->node_count; i++)
        profile->nodes[profile->order[i]].rank = (uint32_t)i + 1;
    profile->by_self = sorted(profile, by_self);
    return profile->by_self ? TIDE_OK : TIDE_ENOMEM;
}

/* An edge to be sorted: whose it is, and who is at its other end. */
struct end {
    const struct tide_profile *profile;
    struct tide_profile_edge edge;
    uint32_t owner, other;
};

static int by_owner(const void *one, const void *other)
{
    const struct end *const a = one, *const b = other;
    if (a->owner != b->owner)
        return a->owner > b->owner ? 1 : -1;
    const bool callers = a->owner == a->edge.callee;
    if (a->edge.bytes != b->edge.bytes)
        return (a->edge.bytes < b->edge.bytes) == callers ? -1 : 1;
    return by_name(a->profile, a->other, b->other);
}

/* The edges of BUILDER by owner: by callee, when CALLERS are wanted. */
static struct tide_profile_edge *sorted_edges(const struct builder *builder,
                                              bool callers)
{
    const size_t count = builder->edge_count;
    struct end *const ends = calloc(count + 1, sizeof(*ends));
    struct tide_profile_edge *const edges = calloc(count + 1, sizeof(*edges));
    for (size_t i = 0; ends && edges && i < count; i++) {
        const struct tide_profile_edge *const edge = &builder->edges[i];
        ends[i] =
            (struct end){builder->profile, *edge, callers ? edge->callee : edge->caller,
                         callers ? edge->caller : edge->callee};
    }
    if (ends && edges) {
        if (count)
            qsort(ends, count, sizeof(*ends), by_owner);
        for (size_t i = 0; i < count; i++)
            edges[i] = ends[i].edge;
        free(ends);
        return edges;
    }
    free(ends);
    free(edges);
    return NULL;
}

/* Tell each node where its edges are. */
static void hand_out(struct tide_profile *profile)
{
    for (size_t i = profile->edge_count; i > 0; i--) {
        const struct tide_profile_edge *const in = &profile->callers[i - 1];
        const struct tide_profile_edge *const out = &profile->callees[i - 1];
        profile->nodes[in->callee].first_caller = i - 1;
        profile->nodes[in->callee].caller_count++;
        struct tide_profile_node *const caller = &profile->nodes[out->caller];
        caller->first_callee = i - 1;
        caller->callee_count++;
        add_bytes(profile, &caller->children_bytes, out->bytes);
    }
}

static enum tide_status finish(struct builder *builder)
{
    struct tide_profile *const profile = builder->profile;
    const enum tide_status status = rank(profile);
    if (status)
        return status;
    profile->callers = sorted_edges(builder, true);
    profile->callees = sorted_edges(builder, false);
    if (!profile->callers || !profile->callees)
        return TIDE_ENOMEM;
    profile->edge_count = builder->edge_count;
    hand_out(profile);
    return TIDE_OK;
}

enum tide_status tide_profile_build(const struct tide_model *model,
                                    const struct tide_rows *rows,
                                    const uint64_t *largest, struct tide_profile *out)
{
    *out = (struct tide_profile){.rows = rows, .largest = largest != NULL};
    struct builder builder = {.profile = out};
    (void)add_node(out, UINT32_MAX, 1);
    enum tide_status status =
        out->node_count ? add_stacks(&builder, model, largest) : TIDE_ENOMEM;
    if (!status)
        status = finish(&builder);
    free(builder.met);
    free(builder.edges);
    free(builder.slots);
    if (status)
        tide_profile_release(out);
    return status;
}

void tide_profile_release(struct tide_profile *profile)
{
    free(profile->nodes);
    free(profile->order);
    free(profile->by_self);
    free(profile->callers);
    free(profile->callees);
    *profile = (struct tide_profile){0};
}
