/* model/account_detail.c - the books, when single blocks matter.
 */
#include <stdlib.h>

#include "model/account_enter.h"

enum tide_status tide_entry_select(const struct tide_entry *entry,
                                   enum tide_space space, uint32_t *context)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    if (tide_selects_birth(&account->select, event->ticks, event->size))
        return TIDE_OK;
    enum tide_status status = TIDE_OK;
    if (*context == TIDE_NO_CONTEXT) {
        status = tide_account_locate(account, event, space);
        *context = entry->lane->where.context[space];
    }
    return status ? status
                  : tide_context_exclude(&account->contexts, *context, context);
}

void tide_entry_born(const struct tide_entry *entry)
{
    struct tide_detail *const detail = entry->account->detail;
    const struct tide_event *const event = entry->event;
    tide_detail_birth(detail, entry->water->births, event->ticks, event->size);
    if (!tide_selects_birth(&entry->account->select, event->ticks, event->size))
        return;
    const uint64_t usable = event->usable > event->size ? event->usable : event->size;
    tide_histogram_add(&detail->histograms.requested, event->size, event->size);
    tide_histogram_add(&detail->histograms.usable, usable, usable);
}

/* --- Deaths ------------------------------------------------------------------------- */

static void histogram_take(struct tide_histogram *histogram, uint64_t size)
{
    const unsigned place = tide_histogram_place(size);
    histogram->calls[place]--;
    histogram->bytes[place] -= size;
}

/* BLOCK turns out not to count, because of its life: the key that it goes to. */
static enum tide_status exclude(struct tide_account *account,
                                const struct tide_block *block, uint32_t *key)
{
    struct tide_histograms *const histograms = &account->detail->histograms;
    const struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    const uint32_t from = block->key - 1;
    const struct tide_key before = account->keys.list[from];
    struct tide_key_place place = {
        .stack = before.stack, .space = before.space, .ticks = before.last_ticks};
    enum tide_status status =
        tide_context_exclude(&account->contexts, before.context, &place.context);
    if (!status)
        status = tide_keys_find(&account->keys, place, water, key);
    if (status)
        return status;
    tide_keys_pass(&account->keys, from, *key, water,
                   (struct tide_key_part){
                       .bytes = block->size,
                       .slack = block->slack,
                       .stood = block->born <= water->peak_births,
                   });
    histogram_take(&histograms->requested, block->size);
    histogram_take(&histograms->usable, block->size + block->slack);
    return TIDE_OK;
}

static bool is_excluded(const struct tide_account *account,
                        const struct tide_block *block)
{
    const uint32_t context = account->keys.list[block->key - 1].context;
    return tide_context_of(&account->contexts, context).excluded;
}

uint32_t tide_entry_dies(const struct tide_entry *entry, const struct tide_block *block)
{
    struct tide_account *const account = entry->account;
    struct tide_detail *const detail = account->detail;
    uint32_t key = block->key - 1;
    if (is_excluded(account, block))
        return key;
    const struct tide_moment_of_birth born =
        tide_detail_born(detail, block->born, entry->water->births);
    const uint64_t now = entry->event->ticks;
    const uint64_t life = now > born.ticks ? now - born.ticks : 0;
    if (!tide_selects_life(&account->select, life)) {
        const enum tide_status status = exclude(account, block, &key);
        account->trouble = status ? status : account->trouble;
        return key;
    }
    struct tide_histograms *const histograms = &detail->histograms;
    tide_histogram_add(&histograms->freed, block->size, block->size);
    tide_histogram_add(&histograms->life_ns,
                       (uint64_t)((double)life * account->setup.ns_per_tick),
                       block->size);
    tide_histogram_add(&histograms->life_allocs, entry->water->births - block->born,
                       block->size);
    tide_histogram_add(&histograms->life_bytes, detail->allocated - born.bytes,
                       block->size);
    return key;
}

/* --- The beginning and the end ------------------------------------------------------ */

enum tide_status tide_account_detail_begin(struct tide_account *account)
{
    const struct tide_selection *const select = account->setup.select;
    account->select = select ? *select : TIDE_SELECT_ALL;
    account->window_open = account->select.window_from == 0;
    if (!select && !account->setup.details)
        return TIDE_OK;
    account->detail = calloc(1, sizeof(*account->detail));
    return account->detail ? TIDE_OK : TIDE_ENOMEM;
}

void tide_account_open_window(struct tide_account *account, uint64_t ticks)
{
    account->window_open = true;
    for (size_t space = 0; space < TIDE_SPACES; space++) {
        struct tide_watermark *const water = &account->water[space];
        water->peaks++;
        water->peak_bytes = water->bytes;
        water->peak_blocks = water->blocks;
        water->peak_births = water->births;
        water->peak_usable = water->usable;
        water->peak_ticks = ticks;
        water->peak_now = water->now;
        water->peak_with_realloc = 0;
    }
}

enum tide_status tide_account_survives(struct tide_account *account,
                                       const struct tide_block *block, uint32_t *key)
{
    const bool mortal = account->select.life_most != UINT64_MAX;
    *key = block->key - 1;
    return mortal && !is_excluded(account, block) ? exclude(account, block, key)
                                                  : TIDE_OK;
}

static enum tide_status pass_survivors(struct tide_account *account)
{
    enum tide_status status = TIDE_OK;
    uint32_t key;
    for (size_t i = 0; i < account->process_capacity && !status; i++) {
        struct tide_live_walk walk = {0};
        struct tide_block block;
        while (!status && tide_live_next(&account->store, &account->processes[i].live,
                                         &walk, &block))
            status = tide_account_survives(account, &block, &key);
    }
    for (size_t i = 0; i < account->lane_capacity && !status; i++) {
        const struct tide_lane_book *const lane = &account->lanes[i];
        for (size_t k = 0; k < lane->move_count && !status; k++)
            if (lane->moves[k].key)
                status = tide_account_survives(account, &lane->moves[k], &key);
    }
    return status;
}

enum tide_status tide_account_detail_finish(struct tide_account *account)
{
    enum tide_status status = account->trouble;
    if (!account->detail)
        return status;
    if (!status && account->select.life_most != UINT64_MAX)
        status = pass_survivors(account);
    struct tide_histograms *const histograms = &account->detail->histograms;
    for (size_t i = 0; i < TIDE_HISTOGRAM_PLACES; i++) {
        histograms->live_calls +=
            histograms->requested.calls[i] - histograms->freed.calls[i];
        histograms->live_bytes +=
            histograms->requested.bytes[i] - histograms->freed.bytes[i];
    }
    return status;
}
