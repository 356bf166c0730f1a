/* model/account_restore.c - take up an account that was put aside.
 *
 * Every number that is used as an index is checked.
 */
#include <stdlib.h>
#include <string.h>

#include "model/account_saved.h"
#include "model/account_state.h"
#include "model/grow.h"

/* An account being read back. */
struct reading {
    struct tide_account *account;
    const struct tide_stacks *stacks;
    struct tide_index *index;
    struct tide_saved_account saved;
};

/* COUNT items into new memory at *ITEMS, with *CAPACITY.  None is fine. */
static enum tide_status get_array(struct reading *reading, uint64_t count,
                                  size_t item_bytes, void **items, size_t *capacity)
{
    *items = NULL;
    if (count == 0)
        return TIDE_OK;
    if (count > tide_index_left(reading->index) / item_bytes)
        return TIDE_ECORRUPT;
    *items = tide_grown(NULL, capacity, (size_t)count, item_bytes);
    if (!*items)
        return TIDE_ENOMEM;
    return tide_index_get(reading->index, *items, (size_t)count * item_bytes);
}

static bool is_key(const struct reading *reading, uint32_t key)
{
    return key <= reading->saved.keys; /* 0 is none */
}

/* --- Names, and what is made of them --- */

/* COUNT pairs, which get the numbers that they had. */
static enum tide_status get_pairs(struct reading *reading, struct tide_pairs *pairs,
                                  uint64_t count)
{
    enum tide_status status = TIDE_OK;
    for (uint64_t i = 0; i < count && !status; i++) {
        struct tide_pair pair;
        uint32_t number;
        status = tide_index_get(reading->index, &pair, sizeof(pair));
        if (!status)
            status = tide_pairs_find(pairs, pair, &number);
        if (!status && number != i)
            return TIDE_ECORRUPT;
    }
    return status;
}

static enum tide_status get_names(struct reading *reading)
{
    enum tide_status status = TIDE_OK;
    for (uint64_t i = 0; i < reading->saved.names && !status; i++) {
        struct tide_pair name;
        status = tide_index_get(reading->index, &name, sizeof(name));
        if (!status && (name.one > UINT32_MAX || !name.other))
            return TIDE_ECORRUPT;
        if (!status)
            status = tide_context_name(&reading->account->contexts, (uint32_t)name.one,
                                       name.other);
    }
    return status;
}

/* A region's surroundings come before it, and all have names. */
static bool are_regions(const struct tide_contexts *contexts)
{
    for (size_t i = 0; i < contexts->regions.count; i++) {
        const struct tide_pair *const region = &contexts->regions.list[i];
        if (region->one > i || region->other > contexts->texts.count)
            return false;
    }
    return true;
}

static bool are_contexts(const struct tide_contexts *contexts)
{
    for (uint32_t i = 0; i < contexts->contexts.count; i++) {
        const struct tide_context context = tide_context_of(contexts, i);
        if (context.space >= TIDE_SPACES || context.thread >= contexts->thread_count ||
            context.region > contexts->regions.count ||
            context.label > contexts->texts.count)
            return false;
    }
    return true;
}

static enum tide_status get_contexts(struct reading *reading)
{
    const struct tide_saved_account *const saved = &reading->saved;
    struct tide_contexts *const contexts = &reading->account->contexts;
    enum tide_status status = get_names(reading);
    if (!status)
        status = get_pairs(reading, &contexts->regions, saved->regions);
    if (!status)
        status = get_pairs(reading, &contexts->contexts, saved->contexts);
    if (!status)
        status = get_pairs(reading, &contexts->rests, saved->rests);
    if (status)
        return status;
    void *threads;
    status = get_array(reading, saved->threads, sizeof(*contexts->threads), &threads,
                       &contexts->thread_capacity);
    contexts->threads = threads;
    contexts->thread_count = status ? 0 : (size_t)saved->threads;
    for (size_t i = 0; i < contexts->thread_count; i++)
        contexts->threads[i].name = NULL;
    if (status)
        return status;
    const size_t apart = contexts->thread_count < TIDE_THREADS_APART
                             ? contexts->thread_count
                             : TIDE_THREADS_APART;
    const bool good = contexts->rests.count == contexts->thread_count - apart &&
                      are_regions(contexts) && are_contexts(contexts);
    return good ? TIDE_OK : TIDE_ECORRUPT;
}

/* --- Keys --- */

static enum tide_status get_key(struct reading *reading)
{
    struct tide_account *const account = reading->account;
    struct tide_key key;
    const enum tide_status status = tide_index_get(reading->index, &key, sizeof(key));
    if (status)
        return status;
    if (key.space >= TIDE_SPACES || key.stack >= reading->stacks->node_count ||
        key.context >= account->contexts.contexts.count ||
        tide_context_of(&account->contexts, key.context).space != key.space)
        return TIDE_ECORRUPT;
    return tide_keys_restore(&account->keys, &key);
}

static enum tide_status get_keys(struct reading *reading)
{
    struct tide_keys *const keys = &reading->account->keys;
    const struct tide_saved_account *const saved = &reading->saved;
    if (saved->keys >= UINT32_MAX || saved->more > saved->keys)
        return TIDE_ECORRUPT;
    enum tide_status status = get_pairs(reading, &keys->crowd_names, saved->crowds);
    if (status)
        return status;
    void *array;
    status = get_array(reading, saved->crowds, sizeof(*keys->crowds), &array,
                       &keys->crowd_capacity);
    keys->crowds = array;
    for (uint64_t i = 0; i < saved->keys && !status; i++)
        status = get_key(reading);
    if (status)
        return status;
    status = get_array(reading, saved->more, sizeof(*keys->more), &array,
                       &keys->more_capacity);
    keys->more = array;
    return status;
}

static enum tide_status get_flows(struct reading *reading)
{
    struct tide_account *const account = reading->account;
    enum tide_status status =
        get_pairs(reading, &account->flow_pairs, reading->saved.flows);
    if (status)
        return status;
    void *flows;
    status = get_array(reading, reading->saved.flows, sizeof(*account->flows), &flows,
                       &account->flow_capacity);
    account->flows = flows;
    for (size_t i = 0; account->flows && i < account->flow_pairs.count && !status;
         i++) {
        if (account->flows[i].from >= account->contexts.thread_count ||
            account->flows[i].to >= account->contexts.thread_count)
            status = TIDE_ECORRUPT;
    }
    return status;
}

/* --- Lanes --- */

/* A byte of the file is not a bool before it has been made one. */
static bool made_bool(const bool *place)
{
    uint8_t byte;
    memcpy(&byte, place, sizeof(byte));
    return byte != 0;
}

static uint32_t depth_of(const struct tide_contexts *contexts, uint32_t region)
{
    uint32_t depth = 0;
    for (; region; region = (uint32_t)contexts->regions.list[region - 1].one)
        depth++;
    return depth;
}

/* Its depth is that of its region, unless that is as deep as they are told apart. */
static bool is_where(const struct tide_contexts *contexts,
                     const struct tide_where *where)
{
    if ((where->thread != TIDE_NO_THREAD && where->thread >= contexts->thread_count) ||
        where->region > contexts->regions.count)
        return false;
    const uint32_t depth = depth_of(contexts, where->region);
    if (where->phases > depth || where->inherited > depth - where->phases)
        return false;
    for (size_t space = 0; space < TIDE_SPACES; space++) {
        if (where->context[space] != TIDE_NO_CONTEXT &&
            where->context[space] >= contexts->contexts.count)
            return false;
    }
    return depth == where->depth ||
           (depth == TIDE_REGIONS_DEEP && where->depth > depth);
}

static enum tide_status check_lane(const struct reading *reading,
                                   struct tide_lane_book *lane)
{
    lane->known = made_bool(&lane->known);
    memset(lane->flow_hints, 0, sizeof(lane->flow_hints));
    if (lane->process >= reading->saved.processes || lane->move_count > TIDE_MOVES_OPEN)
        return TIDE_ECORRUPT;
    for (size_t i = 0; i < lane->move_count; i++)
        if (!is_key(reading, lane->moves[i].key))
            return TIDE_ECORRUPT;
    return is_where(&reading->account->contexts, &lane->where) ? TIDE_OK
                                                               : TIDE_ECORRUPT;
}

static enum tide_status get_lanes(struct reading *reading)
{
    struct tide_account *account = reading->account;
    void *lanes;
    enum tide_status status =
        get_array(reading, reading->saved.lanes, sizeof(*account->lanes), &lanes,
                  &account->lane_capacity);
    account->lanes = lanes;
    for (size_t i = 0; i < reading->saved.lanes && !status; i++)
        status = check_lane(reading, &account->lanes[i]);
    if (status)
        return status;
    const bool no_lane =
        account->water[TIDE_IN_HEAP].peak_lane >= account->lane_capacity;
    return no_lane && account->water[TIDE_IN_HEAP].peaks ? TIDE_ECORRUPT : TIDE_OK;
}

/* Put lane NUMBER (index + 1) last into the list of those that are in a stretch. */
static enum tide_status link_open(struct tide_account *account, uint32_t number)
{
    struct tide_envelope *envelope = &account->envelope;
    if (number == 0 || number > account->lane_capacity)
        return TIDE_ECORRUPT;
    struct tide_stretch *stretch = &account->lanes[number - 1].stretch;
    const uint32_t newest = envelope->newest;
    const uint64_t before =
        newest ? account->lanes[newest - 1].stretch.moment : envelope->first;
    if (stretch->open || stretch->moment < before || stretch->moment > envelope->last)
        return TIDE_ECORRUPT;
    stretch->open = true;
    stretch->older = newest;
    if (newest)
        account->lanes[newest - 1].stretch.newer = number;
    else
        envelope->oldest = number;
    envelope->newest = number;
    return TIDE_OK;
}

static enum tide_status get_envelope(struct reading *reading)
{
    struct tide_account *account = reading->account;
    struct tide_envelope *envelope = &account->envelope;
    if (envelope->last < envelope->first || envelope->last == UINT64_MAX ||
        envelope->last - envelope->first >= TIDE_MOMENTS)
        return TIDE_ECORRUPT;
    enum tide_status status = tide_index_get(reading->index, envelope->moments,
                                             TIDE_MOMENTS * sizeof(*envelope->moments));
    for (size_t i = 0; i < account->lane_capacity; i++) {
        struct tide_stretch *stretch = &account->lanes[i].stretch;
        stretch->open = false;
        stretch->older = stretch->newer = 0;
    }
    for (uint64_t i = 0; i < reading->saved.open_lanes && !status; i++) {
        uint32_t number;
        status = tide_index_get(reading->index, &number, sizeof(number));
        if (!status)
            status = link_open(account, number);
    }
    return status;
}

static enum tide_status get_commits(struct reading *reading)
{
    struct tide_maps *maps = &reading->account->maps;
    const uint64_t count = reading->saved.commits;
    void *commits;
    if (count >= UINT32_MAX - TIDE_COUNTED_TAG)
        return TIDE_ECORRUPT;
    const enum tide_status status = get_array(reading, count, sizeof(*maps->commits),
                                              &commits, &maps->commit_capacity);
    maps->commits = commits;
    if (status)
        return status;
    maps->commit_count = (size_t)count;
    for (uint32_t i = 0; i < count; i++) {
        if (maps->commits[i].key >= reading->saved.keys && maps->commits[i].bytes)
            return TIDE_ECORRUPT;
        maps->commits[i].next = 0;
        if (maps->commits[i].bytes)
            continue;
        maps->commits[i].next = maps->spare_commit;
        maps->spare_commit = i + 1;
    }
    return TIDE_OK;
}

static enum tide_status put_block(const struct reading *reading, struct tide_live *live,
                                  const struct tide_block *block)
{
    struct tide_block old;
    if (!block->key || !is_key(reading, block->key))
        return TIDE_ECORRUPT;
    const enum tide_status status =
        tide_live_put(&reading->account->store, live, block, &old);
    return status || !old.key ? status : TIDE_ECORRUPT;
}

static enum tide_status get_blocks(struct reading *reading, struct tide_live *live,
                                   uint64_t count)
{
    struct tide_block blocks[TIDE_BLOCKS_AT_ONCE];
    enum tide_status status = TIDE_OK;
    while (count && !status) {
        const size_t some =
            count < TIDE_BLOCKS_AT_ONCE ? (size_t)count : TIDE_BLOCKS_AT_ONCE;
        status = tide_index_get(reading->index, blocks, some * sizeof(*blocks));
        for (size_t i = 0; i < some && !status; i++)
            status = put_block(reading, live, &blocks[i]);
        count -= some;
    }
    return status;
}

/* A range is of some kind, or of a commit that still has bytes. */
static bool is_tag(const struct reading *reading, uint64_t tag)
{
    const uint64_t commit = tag - TIDE_COUNTED_TAG;
    if (tag < TIDE_COUNTED_TAG)
        return true;
    return commit < reading->saved.commits &&
           reading->account->maps.commits[commit].bytes > 0;
}

static enum tide_status get_ranges(struct reading *reading, struct tide_ranges *ranges,
                                   uint64_t count)
{
    uint64_t end = 0;
    enum tide_status status = TIDE_OK;
    for (uint64_t i = 0; i < count && !status; i++) {
        struct tide_saved_range saved;
        status = tide_index_get(reading->index, &saved, sizeof(saved));
        if (status)
            break;
        if (saved.start < end || saved.end <= saved.start ||
            !is_tag(reading, saved.tag))
            return TIDE_ECORRUPT;
        end = saved.end;
        status = tide_ranges_add(ranges, saved.start, saved.end, (uint32_t)saved.tag);
    }
    return status;
}

static enum tide_status get_process(struct reading *reading, uint32_t number)
{
    struct tide_account *account = reading->account;
    struct tide_process_book *book = &account->processes[number];
    struct tide_saved_process saved;
    enum tide_status status = tide_index_get(reading->index, &saved, sizeof(saved));
    if (status)
        return status;
    book->known = saved.known != 0;
    book->forked = saved.forked != 0;
    book->paused = saved.paused != 0;
    if (saved.phases.region > account->contexts.regions.count ||
        saved.phases.depth != depth_of(&account->contexts, saved.phases.region))
        return TIDE_ECORRUPT;
    book->phases = saved.phases;
    book->dropped = saved.dropped;
    book->mapped.bytes = saved.mapped_bytes;
    book->mapped.peak_bytes = saved.mapped_peak;
    book->mapped.ranges.random = (uint32_t)account->store.seed ^ number;
    status = get_blocks(reading, &book->live, saved.blocks);
    return status ? status : get_ranges(reading, &book->mapped.ranges, saved.ranges);
}

static enum tide_status get_processes(struct reading *reading)
{
    struct tide_account *account = reading->account;
    const uint64_t count = reading->saved.processes;
    if (count > tide_index_left(reading->index) / sizeof(struct tide_saved_process))
        return TIDE_ECORRUPT;
    if (count)
        account->processes = tide_grown(NULL, &account->process_capacity, (size_t)count,
                                        sizeof(*account->processes));
    if (count && !account->processes)
        return TIDE_ENOMEM;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = get_process(reading, i);
    return status;
}

/* Say again which lanes a process has. */
static enum tide_status link_lanes(struct tide_account *account)
{
    for (uint32_t i = 0; i < account->lane_capacity; i++) {
        struct tide_lane_book *lane = &account->lanes[i];
        lane->next_lane = 0;
        if (!lane->known)
            continue;
        struct tide_process_book *process = &account->processes[lane->process];
        if (!process->known)
            return TIDE_ECORRUPT;
        lane->next_lane = process->first_lane;
        process->first_lane = i + 1;
    }
    return TIDE_OK;
}

static enum tide_status get_summary(struct reading *reading)
{
    struct tide_saved_account *saved = &reading->saved;
    struct tide_account *account = reading->account;
    const enum tide_status status =
        tide_index_get(reading->index, saved, sizeof(*saved));
    if (status)
        return status;
    if (saved->next_end > account->end_count)
        return TIDE_ECORRUPT;
    account->next_end = (size_t)saved->next_end;
    account->next_end_ticks = account->next_end < account->end_count
                                  ? account->ends[account->next_end].ticks
                                  : UINT64_MAX;
    account->lanes_seen = (size_t)saved->lanes_seen;
    account->realloc_calls = saved->realloc_calls;
    account->failed_calls = saved->failed_calls;
    account->unmatched_frees = saved->unmatched_frees;
    account->inherited_frees = saved->inherited_frees;
    account->replaced_blocks = saved->replaced_blocks;
    account->unmatched_labels = saved->unmatched_labels;
    account->oversized_labels = saved->oversized_labels;
    account->paused_frees = saved->paused_frees;
    account->contexts.region_mismatches = saved->region_mismatches;
    memcpy(account->extra_records, saved->extra_records, sizeof(saved->extra_records));
    memcpy(account->alloc_kinds, saved->alloc_kinds, sizeof(saved->alloc_kinds));
    memcpy(account->map_calls, saved->map_calls, sizeof(saved->map_calls));
    memcpy(account->maps.standing, saved->standing, sizeof(saved->standing));
    memcpy(account->maps.highest, saved->highest, sizeof(saved->highest));
    account->maps.free_calls = saved->map_free_calls;
    account->maps.realloc_calls = saved->map_realloc_calls;
    memcpy(account->water, saved->water, sizeof(saved->water));
    account->envelope.first = saved->first_moment;
    account->envelope.last = saved->last_moment;
    account->envelope.ticks = saved->moment_ticks;
    account->envelope.sum = saved->sum;
    account->envelope.highest = saved->highest_sum;
    return TIDE_OK;
}

enum tide_status tide_account_restore(struct tide_account *account,
                                      const struct tide_stacks *stacks,
                                      struct tide_index *index)
{
    struct reading reading = {.account = account, .stacks = stacks, .index = index};
    enum tide_status status = get_summary(&reading);
    if (!status)
        status = get_contexts(&reading);
    if (!status)
        status = get_keys(&reading);
    if (!status)
        status = get_flows(&reading);
    if (!status)
        status = get_lanes(&reading);
    if (!status)
        status = get_commits(&reading);
    if (!status)
        status = get_envelope(&reading);
    if (!status)
        status = get_processes(&reading);
    if (!status)
        status = link_lanes(account);
    return status ? status : tide_index_check(index);
}
