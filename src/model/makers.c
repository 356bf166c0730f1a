/* model/makers.c - where blocks were made that another thread freed. */
#include "model/makers.h"

#include <stdlib.h>

#include "model/grow.h"
#include "model/pairs.h"

static int by_weight(const void *one, const void *other)
{
    const struct tide_maker *const a = one;
    const struct tide_maker *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    return (a->site > b->site) - (a->site < b->site);
}

/* Add what SITE made to the maker that its stack names; PLACES has the makers' numbers. */
static enum tide_status add_site(const struct tide_model *model, uint32_t site,
                                 struct tide_paths *paths, struct tide_pairs *places,
                                 struct tide_makers *out)
{
    const struct tide_key_more *const more = &model->sites[site].more;
    enum tide_status status = tide_paths_walk(paths, model->sites[site].stack);
    if (status)
        return status;
    const struct tide_call *const call = &paths->calls[0];
    uint32_t number;
    status = tide_pairs_find(places, (struct tide_pair){call->function, call->line},
                             &number);
    if (status)
        return status;
    struct tide_maker *const list =
        tide_grown(out->list, &out->capacity, number + 1u, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    out->list = list;
    if (number == out->count)
        list[out->count++].site = site;
    list[number].bytes += more->foreign_bytes;
    list[number].calls += more->foreign_calls;
    return TIDE_OK;
}

enum tide_status tide_makers_build(const struct tide_model *model,
                                   struct tide_paths *paths, struct tide_makers *out)
{
    struct tide_pairs places = {0};
    enum tide_status status = TIDE_OK;
    *out = (struct tide_makers){0};
    for (uint32_t i = 0; i < model->site_count && !status; i++)
        if (model->sites[i].more.foreign_calls > 0)
            status = add_site(model, i, paths, &places, out);
    tide_pairs_release(&places);
    if (status)
        tide_makers_release(out);
    else if (out->count)
        qsort(out->list, out->count, sizeof(*out->list), by_weight);
    return status;
}

void tide_makers_release(struct tide_makers *makers)
{
    free(makers->list);
    *makers = (struct tide_makers){0};
}
