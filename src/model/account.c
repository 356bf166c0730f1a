/* model/account.c - the books: every event of a run is entered here, once.
 *
 * This is the loop that a report of fifty million events waits for.  Events are taken
 * in groups of one lane each.  When the books have grown beyond the cache, a first pass
 * over the group fetches what its events will touch.  Nothing is allocated per event; the
 * tables grow.
 */
#include "model/account.h"

#include <stdlib.h>

#include "trace/format.h"

enum {
    TIDE_GROUP = 72, /* events, at most: a stretch of a lane, as the recorder stamps */
    /* So many stay in the cache by themselves. */
    TIDE_FEW_BLOCKS = 64 * 1024,
    TIDE_FEW_SITES = 32 * 1024,
};

/* Of what every event needs nothing is left in memory that can stay in registers. */
#define HOT inline __attribute__((always_inline))

/* One event with what its entry needs at hand. */
struct entry {
    struct tide_account *account;
    const struct tide_event *event;
    struct tide_lane_book *lane;
    struct tide_process_book *process;
    struct tide_watermark *water; /* of the heap */
};

/* --- Blocks are born and die ---------------------------------------------------- */

/* The site no longer holds BLOCK. */
static HOT struct tide_site *give_up(const struct entry *entry,
                                     const struct tide_block *block)
{
    struct tide_site *const site = &entry->account->sites.list[block->site - 1];
    tide_site_hold(site, entry->water, -1, -block->size);
    site->freed_calls++;
    site->freed_bytes += block->size;
    entry->water->usable -= block->size + block->slack;
    tide_stretch_touch(&entry->lane->stretch, entry->water);
    tide_stretch_fall(&entry->lane->stretch, block->size);
    return site;
}

static HOT uint32_t slack_of(const struct tide_event *event)
{
    if (event->usable <= event->size)
        return 0;
    const uint64_t slack = event->usable - event->size;
    return slack > UINT32_MAX ? UINT32_MAX : (uint32_t)slack;
}

/* Put BLOCK in, whatever it is and whatever stands at its address: that one ends. */
static enum tide_status __attribute__((noinline))
put_any(const struct entry *entry, const struct tide_block *block)
{
    struct tide_block old;
    const enum tide_status status =
        tide_live_put(&entry->account->store, &entry->process->live, block, &old);
    if (status || !old.site)
        return status;
    entry->account->replaced_blocks++;
    give_up(entry, &old);
    return TIDE_OK;
}

static HOT enum tide_status put(const struct entry *entry,
                                const struct tide_block *block)
{
    if (tide_block_packs(block) &&
        tide_live_add(&entry->account->store, &entry->process->live, block->address,
                      tide_block_pack(block)))
        return TIDE_OK;
    return put_any(entry, block);
}

/* The lane's blocks so far can no longer become temporary, not even those on the move. */
static HOT void forget_newest(struct tide_lane_book *lane)
{
    lane->has_newest = false;
    for (size_t i = 0; i < lane->move_count; i++)
        lane->moves[i].maker = TIDE_NO_MAKER;
}

/* The index of the site that the event's stack is. */
static HOT enum tide_status find_site(const struct entry *entry, uint32_t *out)
{
    struct tide_sites *const sites = &entry->account->sites;
    const uint32_t known = tide_sites_known(sites, entry->event->stack, TIDE_IN_HEAP);
    if (!known)
        return tide_sites_find(sites, entry->event->stack, TIDE_IN_HEAP, entry->water,
                               out);
    *out = known - 1;
    return TIDE_OK;
}

static HOT uint32_t born_at(const struct tide_account *account, uint64_t ticks)
{
    const uint64_t age = (ticks - account->setup.start_ticks) >> account->age_shift;
    return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

/* The block of an ALLOC or MOVE_END. */
static HOT enum tide_status give_birth(const struct entry *entry)
{
    struct tide_account *const account = entry->account;
    const struct tide_event *const event = entry->event;
    uint32_t site_index;
    enum tide_status status = find_site(entry, &site_index);
    if (status)
        return status;
    const struct tide_block block = {
        .address = event->address,
        .size = event->size,
        .site = site_index + 1,
        .slack = slack_of(event),
        .born = born_at(account, event->ticks),
        .maker = (uint16_t)event->lane,
    };
    status = put(entry, &block);
    if (status)
        return status;

    struct tide_site *const site = &account->sites.list[site_index];
    if (!site->calls++)
        site->first_ticks = event->ticks;
    site->last_ticks = event->ticks;
    site->bytes += block.size;
    tide_site_hold(site, entry->water, 1, block.size);
    entry->water->usable += block.size + block.slack;

    struct tide_lane_book *const lane = entry->lane;
    tide_stretch_touch(&lane->stretch, entry->water);
    tide_stretch_rise(&lane->stretch, block.size);
    forget_newest(lane);
    lane->newest = block.address;
    lane->has_newest = true;
    if (tide_water_check(entry->water, event->ticks)) {
        entry->water->peak_until = lane->stretch.until;
        entry->water->peak_lane = event->lane;
    }
    return TIDE_OK;
}

/* BLOCK was freed by this lane, not moved. */
static HOT void bury(const struct entry *entry, const struct tide_block *block)
{
    struct tide_site *const site = give_up(entry, block);
    struct tide_lane_book *const lane = entry->lane;
    if (!lane->has_newest || lane->newest != block->address)
        return;
    lane->has_newest = false;
    if (!tide_block_made_by(block, entry->event->lane))
        return; /* somebody else's, at the same address */
    site->temporary_calls++;
    site->temporary_bytes += block->size;
}

static void count_unknown_free(const struct entry *entry)
{
    if (entry->process->forked)
        entry->account->inherited_frees++;
    else
        entry->account->unmatched_frees++;
}

/* A free of a block that no leaf could hold, or of none. */
static void __attribute__((noinline)) free_any(const struct entry *entry)
{
    struct tide_block block;
    if (tide_live_take(&entry->account->store, &entry->process->live,
                       entry->event->address, &block))
        bury(entry, &block);
    else
        count_unknown_free(entry);
}

static HOT void on_free(const struct entry *entry)
{
    const uint64_t address = entry->event->address;
    const struct tide_packed packed =
        tide_live_pull(&entry->account->store, &entry->process->live, address);
    if (!packed.place) {
        free_any(entry);
        return;
    }
    const struct tide_block block = tide_block_unpack(packed, address);
    bury(entry, &block);
}

/* --- Moves: realloc ---------------------------------------------------------------- */

/* Put a block that was moving back where it was. */
static enum tide_status put_back(const struct entry *entry,
                                 const struct tide_block *block)
{
    return block->site ? put_any(entry, block) : TIDE_OK;
}

static enum tide_status on_move_begin(const struct entry *entry)
{
    struct tide_lane_book *const lane = entry->lane;
    if (lane->move_count == TIDE_MOVES_OPEN) {
        const enum tide_status status = put_back(entry, &lane->moves[0]);
        if (status)
            return status;
        lane->move_count--;
        for (size_t i = 0; i < lane->move_count; i++)
            lane->moves[i] = lane->moves[i + 1];
    }
    struct tide_block *const block = &lane->moves[lane->move_count++];
    *block = (struct tide_block){.address = entry->event->address};
    tide_live_take(&entry->account->store, &entry->process->live, block->address,
                   block);
    const bool newest = lane->has_newest && lane->newest == block->address &&
                        tide_block_made_by(block, entry->event->lane);
    if (!newest)
        block->maker = TIDE_NO_MAKER;
    return TIDE_OK;
}

/* The lane's move of the block at OLD ends: *OUT is that block, with site 0 when nothing
 * is known of it; false when no such move is under way.  Moves that began later are
 * abandoned. */
static bool end_move(const struct entry *entry, uint64_t old, struct tide_block *out,
                     enum tide_status *status)
{
    struct tide_lane_book *const lane = entry->lane;
    size_t at = lane->move_count;
    while (at && lane->moves[at - 1].address != old)
        at--;
    if (!at)
        return false;
    while (lane->move_count > at && !*status)
        *status = put_back(entry, &lane->moves[--lane->move_count]);
    *out = lane->moves[--lane->move_count];
    return true;
}

static enum tide_status on_move_end(const struct entry *entry)
{
    struct tide_watermark *const water = entry->water;
    const struct tide_event *const event = entry->event;
    struct tide_block old = {0};
    enum tide_status status = TIDE_OK;
    entry->account->realloc_calls++;
    end_move(entry, event->value, &old, &status);
    if (status)
        return status;
    if (old.site) {
        const uint64_t both = water->bytes + event->size;
        if (old.address != event->address && both > water->peak_with_realloc)
            water->peak_with_realloc = both;
        give_up(entry, &old);
    } else {
        count_unknown_free(entry);
    }
    return give_birth(entry);
}

static enum tide_status on_move_back(const struct entry *entry)
{
    struct tide_block old;
    enum tide_status status = TIDE_OK;
    if (end_move(entry, entry->event->address, &old, &status) && !status)
        status = put_back(entry, &old);
    return status;
}

static enum tide_status on_move_gone(const struct entry *entry)
{
    struct tide_block old;
    enum tide_status status = TIDE_OK;
    entry->account->realloc_calls++;
    if (!end_move(entry, entry->event->address, &old, &status))
        on_free(entry); /* its MOVE_BEGIN was lost */
    else if (old.site)
        bury(entry, &old);
    else
        count_unknown_free(entry);
    return status;
}

/* --- All kinds of events --------------------------------------------------------------- */

static void on_span(const struct entry *entry)
{
    const struct tide_event *const event = entry->event;
    struct tide_envelope *const envelope = &entry->account->envelope;
    const struct tide_stretches all = tide_account_stretches(entry->account);
    struct tide_stretch *const stretch = &entry->lane->stretch;
    if (event->ticks > entry->water->now)
        entry->water->now = event->ticks;
    tide_stretch_settle(stretch, entry->water, event->ticks);
    tide_envelope_close(envelope, all, event->lane);
    tide_stretch_next(stretch, (struct tide_span){.from = event->ticks,
                                                  .until = event->usable,
                                                  .promised = event->size});
    tide_envelope_open(envelope, all, event->lane);
}

static void on_extra(const struct entry *entry)
{
    struct tide_account *const account = entry->account;
    const unsigned kind = entry->event->extra;
    if (kind < sizeof(account->extra_records) / sizeof(account->extra_records[0]))
        account->extra_records[kind]++;
    if (kind == TIDE_EXTRA_FAILED)
        account->failed_calls++;
    if (kind == TIDE_EXTRA_DROPPED)
        entry->process->dropped += entry->event->value;
    if (kind == TIDE_EXTRA_THREAD_BEGIN || kind == TIDE_EXTRA_THREAD_END)
        forget_newest(entry->lane);
}

/* An event of any kind but the two of which there are most. */
static enum tide_status __attribute__((noinline)) enter_other(const struct entry *entry)
{
    switch (entry->event->kind) {
    case TIDE_EVENT_MOVE_BEGIN:
        return on_move_begin(entry);
    case TIDE_EVENT_MOVE_END:
        entry->account->alloc_kinds[entry->event->alloc_kind & 15]++;
        return on_move_end(entry);
    case TIDE_EVENT_MOVE_BACK:
        return on_move_back(entry);
    case TIDE_EVENT_MOVE_GONE:
        return on_move_gone(entry);
    case TIDE_EVENT_MAP:
        entry->account->map_calls[entry->event->map_call & 7]++;
        return tide_maps_event(&entry->account->maps, &entry->process->mapped,
                               entry->event);
    case TIDE_EVENT_SPAN:
        on_span(entry);
        return TIDE_OK;
    case TIDE_EVENT_EXTRA:
        on_extra(entry);
        return TIDE_OK;
    default:
        return TIDE_OK;
    }
}

static HOT enum tide_status enter(const struct entry *entry)
{
    if (entry->event->kind == TIDE_EVENT_FREE) {
        on_free(entry);
        return TIDE_OK;
    }
    if (entry->event->kind != TIDE_EVENT_ALLOC)
        return enter_other(entry);
    entry->account->alloc_kinds[entry->event->alloc_kind & 15]++;
    return give_birth(entry);
}

/* --- Groups ----------------------------------------------------------------------------- */

/* Fetch what the events of a group will touch. */
static void fetch(const struct tide_account *account, const struct tide_live *live,
                  const struct tide_event *events, size_t count)
{
    const struct tide_live_page *pages[TIDE_GROUP];
    const struct tide_sites *const sites = &account->sites;
    for (size_t i = 0; i < count; i++) {
        pages[i] = tide_live_likely_page(&account->store, live, events[i].address);
        __builtin_prefetch(pages[i]);
        if (events[i].stack < sites->by_stack_capacity[TIDE_IN_HEAP])
            __builtin_prefetch(&sites->by_stack[TIDE_IN_HEAP][events[i].stack]);
    }
    for (size_t i = 0; i < count; i++) {
        tide_live_fetch_leaf(&account->store, pages[i]);
        const uint32_t site = tide_sites_known(sites, events[i].stack, TIDE_IN_HEAP);
        if (!site)
            continue;
        __builtin_prefetch(&sites->list[site - 1]);
        __builtin_prefetch((const char *)&sites->list[site - 1] + 64);
    }
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == TIDE_EVENT_FREE ||
            events[i].kind == TIDE_EVENT_MOVE_BEGIN)
            tide_live_fetch_block(&account->store, pages[i], events[i].address);
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
    struct entry entry = {
        .account = account,
        .lane = &account->lanes[lane],
        .process = &account->processes[events->process],
        .water = &account->water[TIDE_IN_HEAP],
    };
    const struct tide_live *const live = &entry.process->live;
    if (live->pages &&
        (live->count > TIDE_FEW_BLOCKS || account->sites.count > TIDE_FEW_SITES))
        fetch(account, live, events, count);
    for (size_t i = 0; i < count && !status; i++) {
        entry.event = &events[i];
        if (events[i].ticks > account->calm_until) {
            status = tide_account_look_up(account, events[i].ticks);
            if (account->stopped)
                break;
        }
        if (!status)
            status = enter(&entry);
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
