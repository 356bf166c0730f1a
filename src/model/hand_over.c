/* model/hand_over.c - what an account came to know becomes the model's.
 */
#include <stdlib.h>
#include <string.h>

#include "model/account.h"
#include "model/account_evidence.h"
#include "model/model_state.h"
#include "model/process_ends.h"

static int by_weight(const void *one, const void *other)
{
    const struct tide_flow *const a = one;
    const struct tide_flow *const b = other;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->calls != b->calls)
        return a->calls < b->calls ? 1 : -1;
    if (a->from != b->from)
        return a->from > b->from ? 1 : -1;
    return (a->to > b->to) - (a->to < b->to);
}

/* What was counted becomes the model's. */
static void hand_over_keys(struct tide_account *account, struct tide_model *model)
{
    struct tide_keys *const keys = &account->keys;
    model->keys = keys->list;
    model->key_count = keys->count;
    model->key_more = keys->more;
    model->key_more_count =
        keys->more_capacity < keys->count ? keys->more_capacity : keys->count;
    model->sites = account->sites.list;
    model->site_count = account->sites.count;
    model->flows = account->flows;
    model->flow_count = account->flow_pairs.count;
    if (model->flow_count)
        qsort(model->flows, model->flow_count, sizeof(*model->flows), by_weight);
    keys->list = NULL;
    keys->more = NULL;
    account->sites.list = NULL;
    account->flows = NULL;
}

static enum tide_status hand_over_detail(const struct tide_account *account,
                                         struct tide_model *model)
{
    model->selected = account->setup.select != NULL;
    if (!account->setup.details)
        return TIDE_OK;
    model->histograms = malloc(sizeof(*model->histograms));
    if (!model->histograms)
        return TIDE_ENOMEM;
    *model->histograms = account->detail->histograms;
    return TIDE_OK;
}

/* The model has its keys, sites and contexts. */
static enum tide_status hand_over_evidence(struct tide_account *account,
                                           struct tide_model *model)
{
    if (!account->evidence)
        return TIDE_OK;
    const struct tide_survivors *const survivors = &account->evidence->survivors;
    const bool apart = tide_model_breaks_off(model);
    model->survivals = tide_survivors_by_site(survivors, model, false);
    if (apart)
        model->losses = tide_survivors_by_site(survivors, model, true);
    if (!model->survivals || (apart && !model->losses))
        return TIDE_ENOMEM;
    return tide_holdings_hand_over(&account->evidence->holdings, model);
}

enum tide_status tide_model_take(struct tide_model *model, struct tide_account *account)
{
    enum tide_status status = tide_account_finish(account, model->summary);
    if (status)
        return status;
    for (size_t space = 0; space < TIDE_SPACES; space++) {
        const struct tide_watermark *const water = &account->water[space];
        if (water->peak_bytes)
            model->summary[space].peak_time_s =
                tide_trace_seconds(model->trace, water->peak_ticks);
    }
    status = hand_over_detail(account, model);
    if (status)
        return status;
    hand_over_keys(account, model);
    model->honesty.unmatched_frees = account->unmatched_frees;
    memcpy(model->unmatched, account->unmatched, sizeof(model->unmatched));
    model->unmatched_count = account->unmatched_count;
    model->honesty.inherited_frees = account->inherited_frees;
    model->honesty.dropped = tide_account_dropped(account);
    model->honesty.replaced_blocks = account->replaced_blocks;
    model->honesty.unmatched_labels = account->unmatched_labels;
    model->honesty.oversized_labels = account->oversized_labels;
    model->honesty.paused_frees = account->paused_frees;
    for (size_t i = 0; i < sizeof(model->extra_records) / sizeof(uint64_t); i++)
        model->extra_records[i] = account->extra_records[i];
    memcpy(model->alloc_kinds, account->alloc_kinds, sizeof(model->alloc_kinds));
    memcpy(model->map_calls, account->map_calls, sizeof(model->map_calls));
    model->stopped = account->stopped;
    status = tide_model_take_contexts(model, &account->contexts);
    return status ? status : hand_over_evidence(account, model);
}
