/* model/holdings.c - what the heavy sites held, at some moments of the run.
 */
#include "model/holdings.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

void tide_holdings_release(struct tide_holdings *holdings)
{
    free(holdings->list);
    *holdings = (struct tide_holdings){0};
}

static enum tide_status add(struct tide_holdings *holdings, struct tide_holding holding)
{
    struct tide_holding *const list = tide_grown(holdings->list, &holdings->capacity,
                                                 holdings->count + 1, sizeof(*list));
    if (!list)
        return TIDE_ENOMEM;
    holdings->list = list;
    list[holdings->count++] = holding;
    return TIDE_OK;
}

static void note_height(struct tide_holdings *holdings, uint32_t moment, uint64_t bytes)
{
    if (moment <= TIDE_HOLDINGS_MOMENTS)
        holdings->heights[moment] = bytes;
}

/* Write down what KEYS hold at MOMENT. */
static enum tide_status look(struct tide_holdings *holdings,
                             const struct tide_keys *keys,
                             const struct tide_watermark *water, uint32_t moment)
{
    enum tide_status status = TIDE_OK;
    const uint64_t part = water->bytes / TIDE_HOLDINGS_PARTS;
    const uint64_t least = part > TIDE_HOLDINGS_BYTES ? part : TIDE_HOLDINGS_BYTES;
    note_height(holdings, moment, water->bytes);
    for (size_t i = 0; i < keys->count && !status; i++) {
        const struct tide_key *const key = &keys->list[i];
        const uint64_t bytes = key->bytes - key->freed_bytes;
        if (bytes < least || bytes > INT64_MAX || key->space != TIDE_IN_HEAP)
            continue;
        status = add(holdings, (struct tide_holding){
                                   .site = (uint32_t)i,
                                   .moment = moment,
                                   .bytes = bytes,
                                   .calls = key->calls,
                                   .freed_calls = key->freed_calls,
                               });
    }
    return status;
}

/* What was written down last holds at MOMENT too: nothing has happened since. */
static enum tide_status repeat(struct tide_holdings *holdings, size_t first,
                               uint32_t moment)
{
    const size_t until = holdings->count;
    enum tide_status status = TIDE_OK;
    if (moment <= TIDE_HOLDINGS_MOMENTS)
        note_height(holdings, moment, holdings->heights[moment - 1]);
    for (size_t i = first; i < until && !status; i++) {
        struct tide_holding again = holdings->list[i];
        if (again.moment != moment - 1)
            break;
        again.moment = moment;
        status = add(holdings, again);
    }
    return status;
}

enum tide_status tide_holdings_pass(struct tide_holdings *holdings,
                                    const struct tide_keys *keys,
                                    const struct tide_watermark *water,
                                    uint32_t stretch)
{
    const uint32_t passed = stretch / TIDE_HOLDINGS_EVERY;
    enum tide_status status = TIDE_OK;
    if (passed <= holdings->moments)
        return status;
    size_t first = holdings->count;
    status = look(holdings, keys, water, ++holdings->moments);
    while (!status && holdings->moments < passed) {
        const size_t next = holdings->count;
        status = repeat(holdings, first, ++holdings->moments);
        first = next;
    }
    return status;
}

/* --- By site ------------------------------------------------------------------------- */

static int by_site(const void *one, const void *other)
{
    const struct tide_holding *const a = one;
    const struct tide_holding *const b = other;
    if (a->site != b->site)
        return a->site > b->site ? 1 : -1;
    return (a->moment > b->moment) - (a->moment < b->moment);
}

/* Keys of one site become one. */
static size_t merge(struct tide_holding *list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct tide_holding *const last = kept ? &list[kept - 1] : NULL;
        if (last && last->site == list[i].site && last->moment == list[i].moment) {
            last->bytes += list[i].bytes;
            last->calls += list[i].calls;
            last->freed_calls += list[i].freed_calls;
        } else {
            list[kept++] = list[i];
        }
    }
    return kept;
}

enum tide_status tide_holdings_hand_over(struct tide_holdings *holdings,
                                         struct tide_model *model)
{
    uint32_t *const by_stack =
        calloc((size_t)model->stacks.node_count + 1, sizeof(*by_stack));
    if (!by_stack)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < model->site_count; i++) {
        if (model->sites[i].space == TIDE_IN_HEAP)
            by_stack[model->sites[i].stack] = (uint32_t)i;
    }
    for (size_t i = 0; i < holdings->count; i++)
        holdings->list[i].site = by_stack[model->keys[holdings->list[i].site].stack];
    free(by_stack);
    if (holdings->count)
        qsort(holdings->list, holdings->count, sizeof(*holdings->list), by_site);
    model->holdings = holdings->list;
    memcpy(model->heights, holdings->heights, sizeof(model->heights));
    model->holding_count = merge(holdings->list, holdings->count);
    holdings->list = NULL;
    return TIDE_OK;
}
