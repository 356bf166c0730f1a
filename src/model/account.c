/* model/account.c - the books: every event of a run is entered here, once.
 *
 * This is the loop that a report of fifty million events waits for.  Events are taken
 * in groups of one lane each.  When the books have grown beyond the cache, a first pass
 * over the group fetches what its events will touch.  Nothing is allocated per event; the
 * tables grow.  Nearly all births and deaths are entered by account_quick.c; what it leaves
 * comes here.  What is rarer is in account_moves.c and account_extra.c.
 */
#include "model/account.h"

#include "model/account_enter.h"

enum {
    TIDE_GROUP = 72,             /* events, at most, whose blocks are fetched at once */
    TIDE_FEW_BLOCKS = 64 * 1024, /* so many stay in the cache by themselves */
};

/* Of what every event needs nothing is left in memory that can stay in registers. */
#define HOT inline __attribute__((always_inline))

#define RARE(condition) __builtin_expect((condition) != 0, 0)

/* --- Blocks are born and die ---------------------------------------------------- */

/* The key no longer holds BLOCK. */
static HOT struct tide_key *give_up(const struct tide_entry *entry,
                                    const struct tide_block *block)
{
    const struct tide_keys *const keys = &entry->account->keys;
    const uint32_t index =
        RARE(entry->account->detail) ? tide_entry_dies(entry, block) : block->key - 1;
    struct tide_key *const key = &keys->list[index];
    tide_key_lose(keys, key, entry->water, 1, block->size);
    entry->water->usable -= block->size + block->slack;
    tide_stretch_touch(&entry->lane->stretch, entry->water);
    tide_stretch_fall(&entry->lane->stretch, block->size);
    return key;
}

void tide_entry_give_up(const struct tide_entry *entry, const struct tide_block *block)
{
    give_up(entry, block);
}

static HOT uint32_t slack_of(const struct tide_event *event)
{
    if (event->usable <= event->size)
        return 0;
    const uint64_t slack = event->usable - event->size;
    return slack > UINT32_MAX ? UINT32_MAX : (uint32_t)slack;
}

enum tide_status tide_entry_put(const struct tide_entry *entry,
                                const struct tide_block *block)
{
    struct tide_block old;
    const enum tide_status status =
        tide_live_put(&entry->account->store, &entry->process->live, block, &old);
    if (status || !old.key)
        return status;
    entry->account->replaced_blocks++;
    give_up(entry, &old);
    return TIDE_OK;
}

/* A key that was not the last one of its stack. */
enum tide_status tide_entry_key(const struct tide_entry *entry, uint32_t context,
                                uint32_t *out)
{
    enum tide_status status = TIDE_OK;
    if (context == TIDE_NO_CONTEXT) {
        status = tide_account_locate(entry->account, entry->event, TIDE_IN_HEAP);
        context = entry->lane->where.context[TIDE_IN_HEAP];
    }
    const struct tide_key_place place = {
        .stack = entry->event->stack,
        .context = context,
        .space = TIDE_IN_HEAP,
        .ticks = entry->event->ticks,
    };
    return status ? status
                  : tide_keys_find(&entry->account->keys, place, entry->water, out);
}

/* The index of the key of the event's stack in CONTEXT. */
static HOT enum tide_status find_key(const struct tide_entry *entry, uint32_t context,
                                     uint32_t *out)
{
    const struct tide_keys *const keys = &entry->account->keys;
    const uint32_t last = tide_keys_last(keys, entry->event->stack);
    if (!last || keys->list[last - 1].context != context)
        return tide_entry_key(entry, context, out);
    *out = last - 1;
    return TIDE_OK;
}

/* The block of an ALLOC or MOVE_END. */
static HOT enum tide_status give_birth(const struct tide_entry *entry, uint32_t context)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    struct tide_watermark *const water = entry->water;
    uint32_t index;
    enum tide_status status = TIDE_OK;
    if (RARE(account->detail))
        status = tide_entry_select(entry, TIDE_IN_HEAP, &context);
    if (!status)
        status = find_key(entry, context, &index);
    if (status)
        return status;
    const struct tide_block block = {
        .address = event->address,
        .size = event->size,
        .born = ++water->births & TIDE_BIRTHS_MAX,
        .key = index + 1,
        .slack = slack_of(event),
    };
    status = tide_entry_put(entry, &block);
    if (status)
        return status;

    struct tide_key *const key = &account->keys.list[index];
    key->last_ticks = event->ticks;
    key->slack_bytes += block.slack;
    tide_key_gain(&account->keys, key, water,
                  (struct tide_gain){1, block.size, event->ticks});
    water->usable += block.size + block.slack;

    if (RARE(account->detail))
        tide_entry_born(entry);

    struct tide_lane_book *const lane = entry->lane;
    tide_stretch_touch(&lane->stretch, water);
    tide_stretch_rise(&lane->stretch, block.size);
    lane->newest = block.born;
    if (tide_water_check(water, event->ticks)) {
        water->peak_until = lane->stretch.until;
        water->peak_lane = event->lane;
    }
    return TIDE_OK;
}

enum tide_status tide_entry_birth(const struct tide_entry *entry, uint32_t context)
{
    return give_birth(entry, context);
}

/* BLOCK was freed by this lane, not moved. */
static HOT enum tide_status bury(const struct tide_entry *entry,
                                 const struct tide_block *block)
{
    struct tide_key *const key = give_up(entry, block);
    const struct tide_lane_book *const lane = entry->lane;
    if (block->born == lane->newest) {
        key->temporary_calls++;
        key->temporary_bytes += block->size;
    }
    if (key->context == lane->where.context[TIDE_IN_HEAP])
        return TIDE_OK;
    return tide_entry_flow(entry, (uint32_t)(key - entry->account->keys.list),
                           block->size);
}

enum tide_status tide_entry_bury(const struct tide_entry *entry,
                                 const struct tide_block *block)
{
    return bury(entry, block);
}

enum tide_status tide_entry_free(const struct tide_entry *entry)
{
    struct tide_block block;
    if (tide_live_take(&entry->account->store, &entry->process->live,
                       entry->event->address, &block))
        return bury(entry, &block);
    tide_entry_unknown_free(entry);
    return TIDE_OK;
}

/* --- Groups ----------------------------------------------------------------------------- */

static enum tide_status enter(const struct tide_entry *entry)
{
    if (entry->event->kind == TIDE_EVENT_FREE)
        return tide_entry_free(entry);
    if (entry->event->kind != TIDE_EVENT_ALLOC)
        return tide_entry_other(entry);
    entry->account->alloc_kinds[entry->event->alloc_kind & 15]++;
    return give_birth(entry, entry->lane->where.context[TIDE_IN_HEAP]);
}

/* Fetch what the events of a group will touch of the blocks.  Of births that stand side by
 * side, the first one does it for all. */
static void fetch_blocks(const struct tide_account *account,
                         const struct tide_live *live, const struct tide_event *events,
                         size_t count)
{
    const struct tide_live_page *pages[TIDE_GROUP];
    uint64_t deaths[TIDE_GROUP]; /* address of the death; 0: it is a birth */
    size_t wanted = 0;
    uint64_t last = live->pages.open.number - 1;
    for (const struct tide_event *event = events; event < events + count; event++) {
        const uint64_t number = event->address >> TIDE_PAGE_BITS;
        if (number == last && event->kind == TIDE_EVENT_ALLOC)
            continue;
        last = number;
        pages[wanted] =
            tide_pages_likely(&account->store, &live->pages, event->address);
        __builtin_prefetch(pages[wanted]);
        __builtin_prefetch(tide_live_place(live, event->address));
        deaths[wanted++] =
            event->kind == TIDE_EVENT_FREE || event->kind == TIDE_EVENT_MOVE_BEGIN
                ? event->address
                : 0;
    }
    for (size_t i = 0; i < wanted; i++)
        tide_pages_fetch_leaf(&account->store, pages[i]);
    for (size_t i = 0; i < wanted; i++)
        if (deaths[i])
            tide_pages_fetch_block(&account->store, pages[i], deaths[i]);
}

/* Enter the event, whatever it is. */
static enum tide_status enter_any(const struct tide_entry *entry)
{
    struct tide_account *const account = entry->account;
    enum tide_status status = TIDE_OK;
    if (entry->event->ticks > account->calm_until)
        status = tide_account_look_up(account, entry->event->ticks);
    return status || account->stopped ? status : enter(entry);
}

/* Enter COUNT events, all of one lane of one process. */
static enum tide_status enter_group(struct tide_account *account,
                                    const struct tide_event *events, size_t count)
{
    const uint32_t lane = events->lane;
    enum tide_status status = TIDE_OK;
    if (lane >= account->lane_capacity ||
        events->process >= account->process_capacity || !account->lanes[lane].known)
        status = tide_account_admit(account, events);
    if (status)
        return status;
    struct tide_entry entry = {
        .account = account,
        .lane = &account->lanes[lane],
        .process = &account->processes[events->process],
        .water = &account->water[TIDE_IN_HEAP],
    };
    const struct tide_live *const live = &entry.process->live;
    if (live->pages.count > TIDE_FEW_BLOCKS)
        fetch_blocks(account, live, events, count);
    for (size_t i = 0; i < count && !status && !account->stopped;) {
        size_t entered = 0;
        if (events[i].kind <= TIDE_EVENT_FREE)
            status = tide_entry_quick(&entry, events + i, count - i, &entered);
        i += entered;
        entry.event = &events[i];
        if (!status && i++ < count)
            status = enter_any(&entry);
    }
    return status;
}

enum tide_status tide_account_run(struct tide_account *account,
                                  const struct tide_event *events, size_t count)
{
    enum tide_status status = TIDE_OK;
    for (size_t done = 0; done < count && !status && !account->stopped;) {
        const size_t group = count - done < TIDE_GROUP ? count - done : TIDE_GROUP;
        status = enter_group(account, events + done, group);
        done += group;
    }
    return status;
}

enum tide_status tide_account_events(struct tide_account *account,
                                     const struct tide_event *events, size_t count)
{
    enum tide_status status = TIDE_OK;
    for (size_t done = 0; done < count && !status && !account->stopped;) {
        size_t run = 1;
        while (done + run < count && events[done + run].lane == events[done].lane &&
               events[done + run].process == events[done].process)
            run++;
        status = tide_account_run(account, events + done, run);
        done += run;
    }
    return status;
}
