/* model/account_end.c - how an account begins and ends, and lanes and processes in it.
 */
#include "model/account.h"

#include <stdlib.h>

#include "model/account_evidence.h"
#include "model/grow.h"

static int by_ticks(const void *one, const void *other)
{
    const struct tide_process_end *const a = one;
    const struct tide_process_end *const b = other;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static enum tide_status list_ends(struct tide_account *account)
{
    const struct tide_account_setup *const setup = &account->setup;
    if (setup->process_count == 0)
        return TIDE_OK;
    account->ends = calloc(setup->process_count, sizeof(*account->ends));
    if (!account->ends)
        return TIDE_ENOMEM;
    for (size_t i = 0; i < setup->process_count; i++) {
        const struct tide_process *const process = &setup->processes[i];
        if (!process->ended || process->end_ticks == 0)
            continue;
        account->ends[account->end_count++] = (struct tide_process_end){
            .ticks = process->end_ticks,
            .process = (uint32_t)i,
        };
    }
    qsort(account->ends, account->end_count, sizeof(*account->ends), by_ticks);
    if (account->end_count)
        account->next_end_ticks = account->ends[0].ticks;
    return TIDE_OK;
}

/* So that nobody can foresee which entries collide. */
static void seed_tables(struct tide_account *account)
{
    struct tide_pairs *const tables[] = {
        &account->contexts.contexts, &account->contexts.regions,
        &account->contexts.names,    &account->contexts.texts,
        &account->contexts.rests,    &account->keys.crowded,
        &account->keys.crowd_names,  &account->flow_pairs,
    };
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        tables[i]->seed = account->store.seed;
}

enum tide_status tide_account_init(struct tide_account *account,
                                   const struct tide_account_setup *setup)
{
    *account = (struct tide_account){
        .setup = *setup,
        .next_end_ticks = UINT64_MAX,
    };
    tide_live_store_init(&account->store);
    account->store.helped = setup->helped;
    account->contexts.source = setup->names;
    seed_tables(account);
    if (account->setup.stop_ticks == 0)
        account->setup.stop_ticks = UINT64_MAX;
    enum tide_status status = tide_envelope_init(&account->envelope);
    if (status)
        return status;
    account->maps.keys = &account->keys;
    account->maps.water = &account->water[TIDE_IN_MMAP];
    account->maps.heap = &account->water[TIDE_IN_HEAP];
    status = tide_account_detail_begin(account);
    if (!status)
        status = tide_account_evidence_begin(account);
    return status ? status : list_ends(account);
}

void tide_account_release(struct tide_account *account)
{
    for (size_t i = 0; i < account->process_capacity; i++) {
        tide_live_abandon(&account->processes[i].live);
        tide_ranges_release(&account->processes[i].mapped.ranges);
    }
    free(account->processes);
    free(account->lanes);
    free(account->ends);
    tide_maps_release(&account->maps);
    tide_envelope_release(&account->envelope);
    tide_sites_release(&account->sites);
    tide_keys_release(&account->keys);
    tide_contexts_release(&account->contexts);
    tide_pairs_release(&account->flow_pairs);
    free(account->flows);
    free(account->detail);
    tide_account_evidence_release(account);
    tide_live_store_release(&account->store);
    *account = (struct tide_account){0};
}

/* --- The beginning of a lane --------------------------------------------------------- */

static enum tide_status admit_process(struct tide_account *account,
                                      const struct tide_event *event)
{
    const uint32_t process = event->process;
    struct tide_process_book *const books =
        tide_grown(account->processes, &account->process_capacity, (size_t)process + 1,
                   sizeof(*books));
    if (!books)
        return TIDE_ENOMEM;
    account->processes = books;
    struct tide_process_book *const book = &books[process];
    if (book->known)
        return TIDE_OK;
    book->known = true;
    book->forked = process < account->setup.process_count &&
                   account->setup.processes[process].forked;
    book->first_ticks = event->ticks;
    book->births_before = account->water[TIDE_IN_HEAP].births;
    book->mapped.ranges.random = (uint32_t)account->store.seed ^ process;
    return TIDE_OK;
}

enum tide_status tide_account_admit(struct tide_account *account,
                                    const struct tide_event *event)
{
    const enum tide_status status = admit_process(account, event);
    if (status)
        return status;
    struct tide_lane_book *const books =
        tide_grown(account->lanes, &account->lane_capacity, (size_t)event->lane + 1,
                   sizeof(*books));
    if (!books)
        return TIDE_ENOMEM;
    account->lanes = books;
    struct tide_lane_book *const book = &books[event->lane];
    if (book->known)
        return TIDE_OK;
    struct tide_process_book *const process = &account->processes[event->process];
    book->known = true;
    book->process = event->process;
    book->next_lane = process->first_lane;
    process->first_lane = event->lane + 1;
    tide_stretch_begin(&book->stretch, &account->water[TIDE_IN_HEAP]);
    tide_where_begin(&book->where);
    account->lanes_seen++;
    return TIDE_OK;
}

/* --- The end of a process --------------------------------------------------------- */

static enum tide_status leave_block(struct tide_account *account,
                                    const struct tide_block *block)
{
    struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    if (!block->key)
        return TIDE_OK;
    uint32_t key = block->key - 1;
    const enum tide_status status =
        account->detail ? tide_account_survives(account, block, &key) : TIDE_OK;
    if (status)
        return status;
    water->usable -= block->size + block->slack;
    return tide_keys_leave(&account->keys, key, water, 1, block->size);
}

static enum tide_status leave_blocks(struct tide_account *account,
                                     const struct tide_live *live)
{
    struct tide_live_walk walk = {0};
    struct tide_block block;
    enum tide_status status = TIDE_OK;
    while (!status && tide_live_next(&account->store, live, &walk, &block))
        status = leave_block(account, &block);
    return status;
}

static enum tide_status leave_moves(struct tide_account *account, uint32_t first)
{
    enum tide_status status = TIDE_OK;
    for (uint32_t at = first; at && !status; at = account->lanes[at - 1].next_lane) {
        struct tide_lane_book *const lane = &account->lanes[at - 1];
        while (lane->move_count && !status)
            status = leave_block(account, &lane->moves[--lane->move_count]);
        lane->newest = 0;
    }
    return status;
}

/* PROCESS ended at TICKS: what its lanes hold is in doubt until then, not longer. */
static void end_stretches(struct tide_account *account, uint32_t process,
                          uint64_t ticks)
{
    const struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    const struct tide_stretches all = tide_account_stretches(account);
    const bool own =
        water->peaks && account->lanes[water->peak_lane].process == process;
    uint32_t at = account->processes[process].first_lane;
    uint64_t height = 0;
    for (; at; at = account->lanes[at - 1].next_lane) {
        struct tide_stretch *const stretch = &account->lanes[at - 1].stretch;
        tide_stretch_settle(stretch, water, ticks);
        tide_envelope_close(&account->envelope, all, at - 1);
        tide_stretch_empty(stretch, ticks, !own);
        height += (uint64_t)tide_envelope_leave(all, at - 1);
    }
    tide_envelope_drop(&account->envelope, all, (int64_t)height, ticks);
}

static bool is_known(const struct tide_account *account, uint32_t process)
{
    return process < account->process_capacity && account->processes[process].known;
}

enum tide_status tide_account_retire(struct tide_account *account, uint32_t process,
                                     uint64_t ticks)
{
    if (!is_known(account, process))
        return TIDE_OK;
    struct tide_process_book *const book = &account->processes[process];
    end_stretches(account, process, ticks);
    enum tide_status status =
        account->evidence ? tide_account_remains(account, process, ticks) : TIDE_OK;
    if (!status)
        status = leave_moves(account, book->first_lane);
    if (!status)
        status = leave_blocks(account, &book->live);
    if (!status)
        status = tide_maps_retire(&account->maps, &book->mapped);
    tide_live_release(&account->store, &book->live);
    return status;
}

/* Processes that ended before TICKS. */
static enum tide_status retire_ended(struct tide_account *account, uint64_t ticks)
{
    while (account->next_end_ticks < ticks) {
        const struct tide_process_end *const end = &account->ends[account->next_end++];
        account->next_end_ticks = account->next_end < account->end_count
                                      ? account->ends[account->next_end].ticks
                                      : UINT64_MAX;
        const enum tide_status status =
            tide_account_retire(account, end->process, end->ticks);
        if (status)
            return status;
    }
    return TIDE_OK;
}

/* Nothing happens up to TICKS but that processes end and that the window opens: with what
 * stands by then, also when there is no event in it. */
static enum tide_status come_to(struct tide_account *account, uint64_t ticks)
{
    const uint64_t from = account->select.window_from;
    enum tide_status status = TIDE_OK;
    if (!account->window_open && from <= ticks) {
        status = retire_ended(account, from);
        tide_account_open_window(account, from);
    }
    return status ? status : retire_ended(account, ticks);
}

enum tide_status tide_account_look_up(struct tide_account *account, uint64_t ticks)
{
    const uint64_t stop = account->setup.stop_ticks;
    account->stopped = ticks > stop;
    const enum tide_status status = come_to(account, account->stopped ? stop : ticks);
    if (account->stopped)
        return status;
    account->calm_until =
        stop < account->next_end_ticks ? stop : account->next_end_ticks;
    if (!account->window_open && account->select.window_from <= account->calm_until)
        account->calm_until = account->select.window_from - 1;
    return status;
}

/* --- The end of the account ---------------------------------------------------------- */

static void sum_sites(const struct tide_sites *sites, struct tide_summary *summary)
{
    for (size_t i = 0; i < sites->count; i++) {
        const struct tide_site *const site = &sites->list[i];
        struct tide_summary *const space = &summary[site->space];
        space->alloc_calls += site->calls;
        space->allocated_bytes += site->bytes;
        space->free_calls += site->freed_calls;
        space->live_blocks += (uint64_t)site->live_blocks;
        space->live_bytes += (uint64_t)site->live_bytes;
        space->temporary_calls += site->temporary_calls;
        space->temporary_bytes += site->temporary_bytes;
    }
}

static void copy_water(const struct tide_watermark *water, struct tide_summary *summary)
{
    summary->peak_bytes = water->peak_bytes;
    summary->peak_blocks = water->peak_blocks;
    summary->peak_births = water->peak_births;
    summary->peak_now = water->peak_now;
    summary->peak_usable_bytes = water->peak_usable;
    summary->peak_with_realloc_bytes = water->peak_with_realloc > water->peak_bytes
                                           ? water->peak_with_realloc
                                           : water->peak_bytes;
}

/* The most that any process held which has one lane, whose order is exact; 0 where blocks
 * were selected. */
static uint64_t sure_height(const struct tide_account *account)
{
    int64_t sure = 0;
    for (uint32_t i = 0; i < account->lane_capacity && !account->setup.select; i++) {
        const struct tide_lane_book *const lane = &account->lanes[i];
        if (!lane->known || lane->next_lane ||
            account->processes[lane->process].first_lane != i + 1)
            continue;
        const int64_t highest = tide_stretch_highest(&lane->stretch);
        sure = highest > sure ? highest : sure;
    }
    return (uint64_t)sure;
}

static uint64_t lesser(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* See docs/internals/peak.md. */
static uint64_t heap_uncertainty(struct tide_account *account)
{
    if (account->lanes_seen <= 1)
        return 0;
    /* The last events may truly have come after processes ended. */
    for (size_t i = account->next_end; i < account->end_count; i++) {
        if (is_known(account, account->ends[i].process))
            end_stretches(account, account->ends[i].process, account->ends[i].ticks);
    }
    const struct tide_watermark *const water = &account->water[TIDE_IN_HEAP];
    uint64_t near = 0;
    uint64_t far = 0;
    for (uint32_t i = 0; i < account->lane_capacity; i++) {
        if (!account->lanes[i].known)
            continue;
        near += tide_stretch_near(&account->lanes[i].stretch, water);
        if (i != water->peak_lane)
            far += tide_stretch_far(&account->lanes[i].stretch, water);
    }
    const uint64_t unsure =
        water->peak_bytes - lesser(sure_height(account), water->peak_bytes);
    const uint64_t below = lesser(unsure, lesser(near, far));
    const uint64_t most =
        tide_envelope_finish(&account->envelope, tide_account_stretches(account));
    const uint64_t above = most > water->peak_bytes ? most - water->peak_bytes : 0;
    return above > below ? above : below;
}

/* When a process could have held its most. */
struct stay {
    uint64_t ticks;
    uint64_t bytes; /* its own peak; taken off again when it leaves */
    bool leaves;
};

static int by_moment(const void *one, const void *other)
{
    const struct stay *const a = one;
    const struct stay *const b = other;
    if (a->ticks != b->ticks)
        return a->ticks > b->ticks ? 1 : -1;
    return (int)a->leaves - (int)b->leaves;
}

/* The processes that mapped anything, coming and going. */
static size_t list_stays(const struct tide_account *account, struct stay *stays)
{
    size_t count = 0;
    for (size_t i = 0; i < account->process_capacity; i++) {
        const uint64_t bytes = account->processes[i].mapped.peak_bytes;
        if (!bytes)
            continue;
        uint64_t from = 0;
        uint64_t until = UINT64_MAX;
        if (i < account->setup.process_count) {
            const struct tide_process *const process = &account->setup.processes[i];
            from = process->birth_ticks;
            until = process->ended && process->end_ticks ? process->end_ticks : until;
        }
        stays[count++] = (struct stay){from, bytes, false};
        stays[count++] = (struct stay){until, bytes, true};
    }
    return count;
}

/* One process's MAP events are in true order, so its own peak is exact; only how the
 * processes add up is not.  The true peak is at least the largest of their own, and at
 * most the sum of those that were there together. */
static uint64_t mapped_uncertainty(const struct tide_account *account)
{
    struct stay *const stays =
        calloc(account->process_capacity * 2 + 1, sizeof(*stays));
    if (!stays)
        return account->water[TIDE_IN_MMAP].peak_bytes;
    const size_t count = list_stays(account, stays);
    qsort(stays, count, sizeof(*stays), by_moment);
    uint64_t least = 0;
    uint64_t most = 0;
    uint64_t now = 0;
    for (size_t i = 0; i < count; i++) {
        now += stays[i].leaves ? -stays[i].bytes : stays[i].bytes;
        most = now > most ? now : most;
        least = stays[i].bytes > least ? stays[i].bytes : least;
    }
    free(stays);
    const uint64_t peak = account->water[TIDE_IN_MMAP].peak_bytes;
    const uint64_t above = most > peak ? most - peak : 0;
    const uint64_t below = peak > least ? peak - least : 0;
    return above > below ? above : below;
}

uint64_t tide_account_dropped(const struct tide_account *account)
{
    const size_t told = account->setup.process_count;
    const size_t seen = account->process_capacity;
    uint64_t sum = 0;
    for (size_t i = 0; i < told || i < seen; i++) {
        const uint64_t noted = i < told ? account->setup.processes[i].dropped : 0;
        const uint64_t recorded = i < seen ? account->processes[i].dropped : 0;
        sum += noted > recorded ? noted : recorded;
    }
    return sum;
}

/* After the last event nothing may have come to the stop yet, nor to the window. */
static enum tide_status come_to_the_end(struct tide_account *account)
{
    const uint64_t stop = account->setup.stop_ticks;
    enum tide_status status = TIDE_OK;
    if (!account->stopped && stop != UINT64_MAX) {
        account->stopped = true;
        status = come_to(account, stop);
    }
    if (!status && !account->window_open)
        status = come_to(account, account->select.window_from);
    return status;
}

enum tide_status tide_account_finish(struct tide_account *account,
                                     struct tide_summary *summary)
{
    for (size_t space = 0; space < TIDE_SPACES; space++)
        summary[space] = (struct tide_summary){0};
    enum tide_status status = come_to_the_end(account);
    if (!status)
        status = tide_account_detail_finish(account);
    if (!status && account->evidence)
        status = tide_account_evidence_finish(account);
    if (status)
        return status;
    tide_keys_finish(&account->keys, account->water);
    status = tide_sites_gather(&account->sites, &account->keys, !account->stopped);
    sum_sites(&account->sites, summary);

    struct tide_summary *const heap = &summary[TIDE_IN_HEAP];
    copy_water(&account->water[TIDE_IN_HEAP], heap);
    heap->free_calls += account->unmatched_frees + account->inherited_frees;
    heap->free_calls -= account->replaced_blocks;
    heap->realloc_calls = account->realloc_calls;
    heap->failed_calls = account->failed_calls;
    heap->peak_uncertainty_bytes = heap_uncertainty(account);

    struct tide_summary *const mapped = &summary[TIDE_IN_MMAP];
    copy_water(&account->water[TIDE_IN_MMAP], mapped);
    mapped->peak_usable_bytes = mapped->peak_bytes;
    mapped->free_calls = account->maps.free_calls;
    mapped->realloc_calls = account->maps.realloc_calls;
    mapped->peak_uncertainty_bytes = mapped_uncertainty(account);
    mapped->reserved_peak_bytes = account->maps.highest[TIDE_MAPPED_RESERVED];
    mapped->file_peak_bytes = account->maps.highest[TIDE_MAPPED_FILE];
    mapped->shared_peak_bytes = account->maps.highest[TIDE_MAPPED_SHARED];
    return status;
}
