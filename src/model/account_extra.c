/* model/account_extra.c - events that are neither a birth nor a death.
 */
#include <stdlib.h>
#include <string.h>

#include "model/account_enter.h"
#include "model/grow.h"
#include "trace/format.h"

/* A realloc of what is no block is counted, but its address stands in another event. */
static void keep_unmatched(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    account->unmatched_frees++;
    if (event->kind == TIDE_EVENT_FREE &&
        account->unmatched_count < TIDE_UNMATCHED_KEPT)
        account->unmatched[account->unmatched_count++] =
            (struct tide_unmatched){event->address, event->process};
}

void tide_entry_unknown_free(const struct tide_entry *entry)
{
    if (entry->process->forked)
        entry->account->inherited_frees++;
    else if (entry->process->paused)
        entry->account->paused_frees++;
    else
        keep_unmatched(entry);
}

/* --- Where lanes are ------------------------------------------------------------------ */

static enum tide_status begin_thread(struct tide_account *account,
                                     const struct tide_event *event, uint64_t tid)
{
    const struct tide_key_thread thread = {
        .process = event->process,
        .lane = event->lane,
        .tid = tid <= UINT32_MAX ? (uint32_t)tid : 0,
        .first_ticks = event->ticks,
    };
    struct tide_lane_book *const lane = &account->lanes[event->lane];
    memset(lane->flow_hints, 0, sizeof(lane->flow_hints)); /* they were another's */
    const enum tide_status status =
        tide_where_thread(&account->contexts, &lane->where, &thread);
    return status ? status
                  : tide_where_phases(&account->contexts, &lane->where,
                                      &account->processes[event->process].phases);
}

/* The process of the event enters a phase or leaves it, and with it all its threads. */
static enum tide_status on_phase(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    struct tide_phases *const phases = &entry->process->phases;
    enum tide_status status = event->extra == TIDE_EXTRA_PHASE_BEGIN
                                  ? tide_phases_enter(&account->contexts, phases,
                                                      event->process, event->value)
                                  : tide_phases_leave(&account->contexts, phases,
                                                      event->process, event->value);
    for (uint32_t lane = entry->process->first_lane; lane && !status;) {
        struct tide_lane_book *const book = &account->lanes[lane - 1];
        lane = book->next_lane;
        if (book->where.thread != TIDE_NO_THREAD)
            status = tide_where_phases(&account->contexts, &book->where, phases);
    }
    return status;
}

enum tide_status tide_account_locate(struct tide_account *account,
                                     const struct tide_event *event,
                                     enum tide_space space)
{
    struct tide_where *const where = &account->lanes[event->lane].where;
    enum tide_status status = TIDE_OK;
    if (where->context[space] != TIDE_NO_CONTEXT)
        return TIDE_OK;
    if (where->thread == TIDE_NO_THREAD)
        status = begin_thread(account, event, 0);
    return status ? status : tide_where_context(&account->contexts, where, space);
}

/* The flow from MAKER to the lane's thread: index + 1; 0 without memory. */
static uint32_t __attribute__((noinline))
find_flow(const struct tide_entry *entry, uint32_t maker)
{
    struct tide_account *const account = entry->account;
    const struct tide_pair pair = {maker, entry->lane->where.thread};
    uint32_t number;
    if (tide_pairs_find(&account->flow_pairs, pair, &number))
        return 0;
    struct tide_flow *const flows = tide_grown(account->flows, &account->flow_capacity,
                                               (size_t)number + 1, sizeof(*flows));
    if (!flows)
        return 0;
    account->flows = flows;
    flows[number].from = maker;
    flows[number].to = entry->lane->where.thread;
    entry->lane->flow_hints[maker % TIDE_FLOW_HINTS] =
        (struct tide_flow_hint){.maker = maker, .flow = number + 1};
    return number + 1;
}

enum tide_status tide_entry_flow(const struct tide_entry *entry, uint32_t key,
                                 uint64_t bytes)
{
    struct tide_account *const account = entry->account;
    const enum tide_status status =
        tide_account_locate(account, entry->event, TIDE_IN_HEAP);
    if (status)
        return status;
    const struct tide_context made =
        tide_context_of(&account->contexts, account->keys.list[key].context);
    if (made.thread == entry->lane->where.thread || made.excluded)
        return TIDE_OK;
    const struct tide_flow_hint hint =
        entry->lane->flow_hints[made.thread % TIDE_FLOW_HINTS];
    const uint32_t flow = hint.flow && hint.maker == made.thread
                              ? hint.flow
                              : find_flow(entry, made.thread);
    struct tide_key_more *const more = tide_keys_more(&account->keys, key);
    if (!flow || !more)
        return TIDE_ENOMEM;
    account->flows[flow - 1].calls++;
    account->flows[flow - 1].bytes += bytes;
    more->foreign_calls++;
    more->foreign_bytes += bytes;
    return TIDE_OK;
}

/* A forked child's first record, perhaps: then its thread is not known yet. */
static enum tide_status on_inherit(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    struct tide_where *const where = &entry->lane->where;
    enum tide_status status = TIDE_OK;
    if (where->thread == TIDE_NO_THREAD)
        status = begin_thread(account, event, 0);
    return status
               ? status
               : tide_where_inherit(&account->contexts, where, event->process,
                                    (struct tide_inherited){event->value, event->value2,
                                                            event->value3 != 0});
}

/* --- Labels --------------------------------------------------------------------------- */

/* The key of *KEY's stack with the label that the event gives, or takes away.  *KEY becomes
 * it, unless it is the same. */
static enum tide_status find_labelled(const struct tide_entry *entry,
                                      const struct tide_watermark *water, uint32_t *key,
                                      bool *same)
{
    struct tide_account *const account = entry->account;
    const struct tide_key before = account->keys.list[*key];
    struct tide_key_place place = {
        .stack = before.stack,
        .space = before.space,
        .ticks = entry->event->ticks,
    };
    enum tide_status status =
        entry->event->extra == TIDE_EXTRA_UNLABEL
            ? tide_context_unlabel(&account->contexts, before.context, &place.context)
            : tide_context_label(&account->contexts, before.context,
                                 entry->event->process, entry->event->value2,
                                 &place.context);
    *same = place.context == before.context;
    return status || *same ? status : tide_keys_find(&account->keys, place, water, key);
}

/* A block counts under its label from its birth on, unless it lost one before.  FROM and
 * TO are its keys. */
static void pass_on(const struct tide_entry *entry, struct tide_watermark *water,
                    const uint32_t keys[2], struct tide_key_part part)
{
    struct tide_account *const account = entry->account;
    const uint32_t context = account->keys.list[keys[0]].context;
    if (entry->event->extra == TIDE_EXTRA_UNLABEL ||
        tide_context_of(&account->contexts, context).renamed)
        tide_keys_hand_on(&account->keys, keys[0], keys[1], water, part.bytes);
    else
        tide_keys_pass(&account->keys, keys[0], keys[1], water, part);
}

static enum tide_status label_block(const struct tide_entry *entry,
                                    struct tide_block *block)
{
    uint32_t keys[2] = {block->key - 1, block->key - 1};
    bool same;
    const enum tide_status status = find_labelled(entry, entry->water, &keys[1], &same);
    if (status || same)
        return status;
    pass_on(entry, entry->water, keys,
            (struct tide_key_part){
                .bytes = block->size,
                .slack = block->slack,
                .stood = block->born <= entry->water->peak_births,
            });
    block->key = keys[1] + 1;
    return TIDE_OK;
}

static enum tide_status label_commit(const struct tide_entry *entry, uint32_t commit)
{
    struct tide_maps *const maps = &entry->account->maps;
    struct tide_commit *const labelled = &maps->commits[commit];
    uint32_t keys[2] = {labelled->key, labelled->key};
    bool same;
    const enum tide_status status = find_labelled(entry, maps->water, &keys[1], &same);
    if (status || same)
        return status;
    pass_on(entry, maps->water, keys,
            (struct tide_key_part){
                .bytes = labelled->bytes,
                .stood = labelled->born <= maps->water->peak_births,
            });
    labelled->key = keys[1];
    return TIDE_OK;
}

static enum tide_status on_label(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    const uint64_t address = entry->event->value;
    struct tide_block block;
    if (tide_live_take(&account->store, &entry->process->live, address, &block)) {
        struct tide_block none;
        account->oversized_labels += entry->event->extra == TIDE_EXTRA_LABEL &&
                                     entry->event->value3 > block.size + block.slack;
        const enum tide_status status = label_block(entry, &block);
        return status ? status
                      : tide_live_put(&account->store, &entry->process->live, &block,
                                      &none);
    }
    const uint32_t commit =
        tide_maps_commit_at(&account->maps, &entry->process->mapped, address);
    if (commit)
        return label_commit(entry, commit - 1);
    /* Who takes a name away from what has gone already has missed nothing. */
    account->unmatched_labels += entry->event->extra == TIDE_EXTRA_LABEL;
    return TIDE_OK;
}

/* --- All kinds of events --------------------------------------------------------------- */

/* The stretch of EVENT lasts so long: to the lane's next stamp, or to the end of its process. */
static uint64_t end_of_span(const struct tide_account_setup *setup,
                            const struct tide_event *event)
{
    const struct tide_process *const process = event->process < setup->process_count
                                                   ? &setup->processes[event->process]
                                                   : NULL;
    const bool ends = process && process->ended && process->end_ticks &&
                      process->end_ticks < event->usable;
    return ends ? process->end_ticks : event->usable;
}

static void on_span(const struct tide_entry *entry)
{
    const struct tide_event *const event = entry->event;
    struct tide_envelope *const envelope = &entry->account->envelope;
    const struct tide_stretches all = tide_account_stretches(entry->account);
    struct tide_stretch *const stretch = &entry->lane->stretch;
    if (event->ticks > entry->water->now)
        entry->water->now = event->ticks;
    tide_stretch_settle(stretch, entry->water, event->ticks);
    tide_envelope_close(envelope, all, event->lane);
    const struct tide_span span = {
        .from = event->ticks,
        .until = end_of_span(&entry->account->setup, event),
        .promised = event->size,
    };
    tide_stretch_next(stretch, span);
    tide_envelope_open(envelope, all, event->lane);
}

static enum tide_status on_extra(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    struct tide_where *const where = &entry->lane->where;
    if (event->extra < sizeof(account->extra_records) / sizeof(uint64_t))
        account->extra_records[event->extra]++;
    switch (event->extra) {
    case TIDE_EXTRA_FAILED:
        account->failed_calls++;
        return TIDE_OK;
    case TIDE_EXTRA_DROPPED:
        entry->process->dropped += event->value;
        return TIDE_OK;
    case TIDE_EXTRA_THREAD_BEGIN:
        entry->lane->newest = 0;
        return begin_thread(account, event, event->value);
    case TIDE_EXTRA_THREAD_END:
        entry->lane->newest = 0;
        return TIDE_OK;
    case TIDE_EXTRA_REGION_BEGIN:
    case TIDE_EXTRA_LOOP_BEGIN:
        return tide_where_enter(&account->contexts, where, event->process,
                                event->value);
    case TIDE_EXTRA_REGION_END:
        return tide_where_leave(&account->contexts, where, event->process,
                                event->value);
    case TIDE_EXTRA_REGION_BASE:
        return on_inherit(entry);
    case TIDE_EXTRA_PHASE_BEGIN:
    case TIDE_EXTRA_PHASE_END:
        return on_phase(entry);
    case TIDE_EXTRA_LABEL:
    case TIDE_EXTRA_UNLABEL:
        return on_label(entry);
    case TIDE_EXTRA_PAUSE:
        entry->process->paused = true;
        return TIDE_OK;
    default:
        return TIDE_OK;
    }
}

/* mremap keeps the label: the new mapping's context in *CONTEXT gets it. */
static enum tide_status keep_label(const struct tide_entry *entry, uint32_t *context)
{
    struct tide_account *const account = entry->account;
    const uint32_t commit = tide_maps_commit_at(&account->maps, &entry->process->mapped,
                                                entry->event->value);
    if (!commit)
        return TIDE_OK;
    const uint32_t before =
        account->keys.list[account->maps.commits[commit - 1].key].context;
    if (!tide_context_of(&account->contexts, before).label)
        return TIDE_OK;
    return tide_context_like(&account->contexts, *context, before, context);
}

static enum tide_status on_map(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    account->map_calls[entry->event->map_call & 7]++;
    enum tide_status status = tide_account_locate(account, entry->event, TIDE_IN_MMAP);
    uint32_t context = entry->lane->where.context[TIDE_IN_MMAP];
    if (!status && account->detail)
        status = tide_entry_select(entry, TIDE_IN_MMAP, &context);
    if (!status && entry->event->map_call == TIDE_MAP_MREMAP)
        status = keep_label(entry, &context);
    return status ? status
                  : tide_maps_event(&account->maps, &entry->process->mapped,
                                    entry->event, context);
}

enum tide_status tide_entry_other(const struct tide_entry *entry)
{
    switch (entry->event->kind) {
    case TIDE_EVENT_MOVE_END:
        entry->account->alloc_kinds[entry->event->alloc_kind & 15]++;
        return tide_entry_move(entry);
    case TIDE_EVENT_MOVE_BEGIN:
    case TIDE_EVENT_MOVE_BACK:
    case TIDE_EVENT_MOVE_GONE:
        return tide_entry_move(entry);
    case TIDE_EVENT_MAP:
        return on_map(entry);
    case TIDE_EVENT_SPAN:
        on_span(entry);
        return TIDE_OK;
    case TIDE_EVENT_EXTRA:
        return on_extra(entry);
    default:
        return TIDE_OK;
    }
}
