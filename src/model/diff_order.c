/* model/diff_order.c - the parts of a difference, weighed and sorted.
 *
 * What changed most comes first, whether it grew or shrank.  A branch in which one stack
 * grew by what another one shrank by weighs twice that, not nothing.
 */
#include <stdlib.h>

#include "model/diff.h"

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

static bool changed(const struct tide_change *change)
{
    return tide_change_kind(change) != TIDE_CHANGE_NONE;
}

/* A row on its way to its place: descending by heaviness, then as it was. */
struct ranked {
    uint32_t group, index;
    uint64_t bytes, calls, more;
};

static int by_rank(const void *one, const void *other)
{
    const struct ranked *const a = one;
    const struct ranked *const b = other;
    if (a->group != b->group)
        return a->group > b->group ? 1 : -1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    if (a->more != b->more)
        return a->more < b->more ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct ranked *new_list(size_t count)
{
    return calloc(count + 1, sizeof(struct ranked));
}

/* The indexes of LIST, sorted; NULL without memory.  LIST is released. */
static uint32_t *sorted_indexes(struct ranked *list, size_t count)
{
    uint32_t *const indexes = calloc(count + 1, sizeof(*indexes));
    qsort(list, count, sizeof(*list), by_rank);
    for (size_t i = 0; indexes && i < count; i++)
        indexes[i] = list[i].index;
    free(list);
    return indexes;
}

static enum tide_status sort_functions(struct tide_diff *diff)
{
    struct ranked *const list = new_list(diff->function_count);
    if (!list)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < diff->function_count; i++) {
        const struct tide_diff_function *const function = &diff->functions[i];
        if (!changed(&function->self) && !changed(&function->inclusive))
            continue;
        list[diff->flat_count++] = (struct ranked){
            .index = i,
            .bytes = magnitude(tide_change_bytes(&function->self)),
            .calls = magnitude(tide_change_calls(&function->self)),
            .more = magnitude(tide_change_bytes(&function->inclusive)),
        };
    }
    diff->flat = sorted_indexes(list, diff->flat_count);
    return diff->flat ? TIDE_OK : TIDE_ENOMEM;
}

static void count_one_sided(struct tide_diff *diff, const struct tide_change *self)
{
    const enum tide_change_kind kind = tide_change_kind(self);
    const bool fresh = kind == TIDE_CHANGE_NEW;
    const enum tide_side side = fresh ? TIDE_SIDE_NEW : TIDE_SIDE_BASE;
    struct tide_diff_one_sided *const sum = fresh ? &diff->added : &diff->gone;
    if (!fresh && kind != TIDE_CHANGE_GONE)
        return;
    sum->count++;
    sum->bytes += self->bytes[side];
    sum->calls += self->calls[side];
}

static enum tide_status sort_sites(struct tide_diff *diff)
{
    struct ranked *const list = new_list(diff->node_count);
    if (!list)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < diff->node_count; i++) {
        const struct tide_change *const self = &diff->nodes[i].self;
        if (!changed(self))
            continue;
        count_one_sided(diff, self);
        list[diff->site_count++] = (struct ranked){
            .index = i,
            .bytes = magnitude(tide_change_bytes(self)),
            .calls = magnitude(tide_change_calls(self)),
        };
    }
    diff->sites = sorted_indexes(list, diff->site_count);
    return diff->sites ? TIDE_OK : TIDE_ENOMEM;
}

/* Callers come before what they call, so from the last to the first all is summed up. */
static void weigh(struct tide_diff *diff)
{
    for (size_t i = diff->node_count; i-- > 0;) {
        struct tide_diff_node *const node = &diff->nodes[i];
        node->weight += magnitude(tide_change_bytes(&node->self));
        node->changes += changed(&node->self);
        if (i == 0)
            continue;
        diff->nodes[node->caller].weight += node->weight;
        diff->nodes[node->caller].changes += node->changes;
    }
}

static enum tide_status link_children(struct tide_diff *diff)
{
    const size_t count = diff->node_count - 1;
    struct ranked *const list = new_list(diff->node_count);
    if (!list)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const struct tide_diff_node *const node = &diff->nodes[i + 1];
        list[i] = (struct ranked){.group = node->caller,
                                  .index = i + 1,
                                  .bytes = node->weight,
                                  .calls = node->changes};
    }
    qsort(list, count, sizeof(*list), by_rank);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || list[i - 1].group != list[i].group)
            diff->nodes[list[i].group].first_child = list[i].index;
        else
            diff->nodes[list[i - 1].index].next = list[i].index;
    }
    free(list);
    return TIDE_OK;
}

/* Is all that changed in NODE below one call of it? */
static bool passes_on(const struct tide_diff *diff, const struct tide_diff_node *node)
{
    return node->changes && !changed(&node->self) &&
           diff->nodes[node->first_child].changes == node->changes;
}

static enum tide_status rank_nodes(struct tide_diff *diff)
{
    struct ranked *const list = new_list(diff->node_count);
    if (!list)
        return TIDE_ENOMEM;
    for (uint32_t i = 0; i < diff->node_count; i++)
        list[i] = (struct ranked){.index = i,
                                  .bytes = diff->nodes[i].weight,
                                  .calls = diff->nodes[i].changes};
    qsort(list, diff->node_count, sizeof(*list), by_rank);
    uint32_t forks = 0;
    for (uint32_t i = 0; i < diff->node_count; i++) {
        struct tide_diff_node *const node = &diff->nodes[list[i].index];
        node->rank = i;
        node->fork = forks;
        forks += i == 0 || !passes_on(diff, node);
    }
    free(list);
    return TIDE_OK;
}

enum tide_status tide_diff_order(struct tide_diff *diff)
{
    diff->total = diff->nodes[0].all;
    weigh(diff);
    enum tide_status status = link_children(diff);
    if (!status)
        status = rank_nodes(diff);
    if (!status)
        status = sort_functions(diff);
    if (!status)
        status = sort_sites(diff);
    return status;
}
