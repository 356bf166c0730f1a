/* model/diff_places.c - where the calls of one row of stacks are. */
#include "model/diff_places.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

enum tide_status tide_diff_places_init(struct tide_diff_places *places,
                                       const struct tide_diff *diff)
{
    enum tide_status status = TIDE_OK;
    memset(places, 0, sizeof(*places));
    places->diff = diff;
    for (int side = 0; side < TIDE_SIDES && !status; side++) {
        status = tide_paths_init(&places->paths[side], diff->request.models[side]);
        places->paths[side].fold = diff->request.fold;
        places->paths[side].hide = diff->request.hide;
        places->paths[side].beside = diff->request.models[!side];
    }
    return status;
}

void tide_diff_places_release(struct tide_diff_places *places)
{
    for (int side = 0; side < TIDE_SIDES; side++)
        tide_paths_release(&places->paths[side]);
    free(places->list);
    free(places->lines.list);
    free(places->heads);
}

/* The stacks of a node go through the same functions: they are equally deep. */
static enum tide_status make_room(struct tide_diff_places *places, uint32_t node)
{
    const struct tide_diff *const diff = places->diff;
    size_t count = 0;
    for (uint32_t at = node; at; at = diff->nodes[at].caller)
        count++;
    struct tide_diff_place *const list =
        tide_grown(places->list, &places->capacity, count, sizeof(*list));
    if (list)
        places->list = list;
    uint32_t *const heads =
        tide_grown(places->heads, &places->head_capacity, count, sizeof(*heads));
    if (heads)
        places->heads = heads;
    if (count > 0 && (!list || !heads))
        return TIDE_ENOMEM;
    if (count > 0)
        memset(heads, 0, count * sizeof(*heads));
    places->count = count;
    places->lines.count = 0;
    return TIDE_OK;
}

static enum tide_status enter(struct tide_diff_places *places,
                              const struct tide_diff_stack *stack)
{
    const enum tide_side side = (enum tide_side)stack->side;
    struct tide_paths *const paths = &places->paths[side];
    const struct tide_site *const site = &paths->model->sites[stack->site];
    const struct tide_change amount =
        tide_diff_amount(site, places->diff->metric, side);
    enum tide_status status = tide_paths_walk(paths, site->stack);
    for (size_t i = 0; i < paths->call_count && i < places->count && !status; i++)
        status = tide_diff_enter_line(&places->lines, &places->heads[i],
                                      &paths->calls[i], &amount);
    return status;
}

enum tide_status tide_diff_places_find(struct tide_diff_places *places, uint32_t node)
{
    const struct tide_diff *const diff = places->diff;
    enum tide_status status = make_room(places, node);
    for (uint32_t at = diff->nodes[node].stacks; at && !status;
         at = diff->stacks[at - 1].next)
        status = enter(places, &diff->stacks[at - 1]);
    if (status)
        places->count = 0;
    for (size_t i = 0; i < places->count; i++) {
        const struct tide_diff_line *const line =
            tide_diff_choose_line(&places->lines, places->heads[i]);
        places->list[i] =
            (struct tide_diff_place){line ? line->file : NULL, line ? line->line : 0};
    }
    return status;
}
