/* model/account_state.c - put an account aside, and take it up again.
 *
 * Plain arrays go as they are: an index belongs to one machine and one build.  What is
 * linked (the lanes of a process, unused commits, the tree of ranges, the table of live
 * blocks) is built anew from its members, so that nothing in the file is ever followed.
 * Every number that is used as an index is checked.
 */
#include "model/account_state.h"

#include <stdlib.h>
#include <string.h>

#include "model/grow.h"

enum {
    TIDE_BLOCKS_AT_ONCE = 64,
    TIDE_COUNTED_TAG = 8, /* tags of ranges from here on are commits: see mapped.c */
};

/* The account without its arrays. */
struct saved_account {
    uint64_t sites, left, lanes, processes, commits;
    uint64_t lanes_seen, next_end;
    uint64_t realloc_calls, failed_calls, unmatched_frees, inherited_frees;
    uint64_t replaced_blocks;
    uint64_t extra_records[16];
    uint64_t alloc_kinds[16];
    uint64_t map_calls[8];
    uint64_t standing[TIDE_MAPPED_KINDS], highest[TIDE_MAPPED_KINDS];
    uint64_t map_free_calls, map_realloc_calls;
    struct tide_watermark water[TIDE_SPACES];
    uint64_t first_moment, last_moment, moment_ticks;
    int64_t sum, highest_sum;
    uint64_t open_lanes;
};

struct saved_process {
    uint64_t known, forked;
    uint64_t dropped;
    uint64_t blocks, ranges;
    uint64_t mapped_bytes, mapped_peak;
};

struct saved_range {
    uint64_t start, end, tag;
};

/* --- Saving --- */

/* How many lanes are in a stretch; the number of each, oldest first, is put into OUT
 * unless that is NULL. */
static uint64_t walk_open_lanes(const struct tide_account *account,
                                struct tide_index_out *out)
{
    uint64_t count = 0;
    for (uint32_t at = account->envelope.oldest; at;
         at = account->lanes[at - 1].stretch.newer) {
        if (out)
            (void)tide_index_put(out, &at, sizeof(at));
        count++;
    }
    return count;
}

static struct saved_account summary_of(const struct tide_account *account)
{
    const struct tide_sites *sites = &account->sites;
    struct saved_account saved;
    memset(&saved, 0, sizeof(saved)); /* holes too: this goes into a file */
    saved.sites = sites->count;
    saved.left =
        sites->left_capacity < sites->count ? sites->left_capacity : sites->count;
    saved.lanes = account->lane_capacity;
    saved.processes = account->process_capacity;
    saved.commits = account->maps.commit_count;
    saved.lanes_seen = account->lanes_seen;
    saved.next_end = account->next_end;
    saved.realloc_calls = account->realloc_calls;
    saved.failed_calls = account->failed_calls;
    saved.unmatched_frees = account->unmatched_frees;
    saved.inherited_frees = account->inherited_frees;
    saved.replaced_blocks = account->replaced_blocks;
    memcpy(saved.extra_records, account->extra_records, sizeof(saved.extra_records));
    memcpy(saved.alloc_kinds, account->alloc_kinds, sizeof(saved.alloc_kinds));
    memcpy(saved.map_calls, account->map_calls, sizeof(saved.map_calls));
    memcpy(saved.standing, account->maps.standing, sizeof(saved.standing));
    memcpy(saved.highest, account->maps.highest, sizeof(saved.highest));
    saved.map_free_calls = account->maps.free_calls;
    saved.map_realloc_calls = account->maps.realloc_calls;
    memcpy(saved.water, account->water, sizeof(saved.water));
    saved.first_moment = account->envelope.first;
    saved.last_moment = account->envelope.last;
    saved.moment_ticks = account->envelope.ticks;
    saved.sum = account->envelope.sum;
    saved.highest_sum = account->envelope.highest;
    saved.open_lanes = walk_open_lanes(account, NULL);
    return saved;
}

/* Blocks are saved whole, whatever their leaves make of them. */
static void save_blocks(const struct tide_live_store *store,
                        const struct tide_live *live, struct tide_index_out *out)
{
    struct tide_live_walk walk = {0};
    struct tide_block block;
    memset(&block, 0, sizeof(block)); /* holes too: this goes into a file */
    while (tide_live_next(store, live, &walk, &block))
        (void)tide_index_put(out, &block, sizeof(block));
}

/* How many ranges there are; each is put into OUT unless that is NULL. */
static uint64_t walk_ranges(const struct tide_ranges *ranges,
                            struct tide_index_out *out)
{
    uint64_t count = 0;
    for (uint32_t at = tide_ranges_after(ranges, 0); at;
         at = tide_ranges_after(ranges, ranges->list[at].end)) {
        const struct tide_range *range = &ranges->list[at];
        const struct saved_range saved = {range->start, range->end, range->tag};
        if (out)
            (void)tide_index_put(out, &saved, sizeof(saved));
        count++;
    }
    return count;
}

static void save_process(const struct tide_live_store *store,
                         const struct tide_process_book *book,
                         struct tide_index_out *out)
{
    const struct saved_process saved = {
        .known = book->known,
        .forked = book->forked,
        .dropped = book->dropped,
        .blocks = book->live.count,
        .ranges = walk_ranges(&book->mapped.ranges, NULL),
        .mapped_bytes = book->mapped.bytes,
        .mapped_peak = book->mapped.peak_bytes,
    };
    (void)tide_index_put(out, &saved, sizeof(saved));
    save_blocks(store, &book->live, out);
    walk_ranges(&book->mapped.ranges, out);
}

enum tide_status tide_account_save(const struct tide_account *account,
                                   struct tide_index_out *out)
{
    const struct saved_account saved = summary_of(account);
    const struct tide_sites *sites = &account->sites;
    (void)tide_index_put(out, &saved, sizeof(saved));
    (void)tide_index_put(out, sites->list, saved.sites * sizeof(*sites->list));
    (void)tide_index_put(out, sites->left, saved.left * sizeof(*sites->left));
    (void)tide_index_put(out, account->lanes, saved.lanes * sizeof(*account->lanes));
    (void)tide_index_put(out, account->maps.commits,
                         saved.commits * sizeof(*account->maps.commits));
    (void)tide_index_put(out, account->envelope.moments,
                         TIDE_MOMENTS * sizeof(*account->envelope.moments));
    walk_open_lanes(account, out);
    for (size_t i = 0; i < account->process_capacity; i++)
        save_process(&account->store, &account->processes[i], out);
    return tide_index_put(out, NULL, 0); /* says whether all of it went well */
}

/* --- Restoring --- */

/* An account being read back. */
struct reading {
    struct tide_account *account;
    const struct tide_stacks *stacks;
    struct tide_index *index;
    struct saved_account saved;
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

/* Each site takes the place that its stack gives it, then its saved self. */
static enum tide_status get_site(struct reading *reading, uint32_t number)
{
    struct tide_sites *sites = &reading->account->sites;
    struct tide_site site;
    uint32_t place;
    enum tide_status status = tide_index_get(reading->index, &site, sizeof(site));
    if (status)
        return status;
    if (site.space >= TIDE_SPACES || site.stack >= reading->stacks->node_count)
        return TIDE_ECORRUPT;
    status = tide_sites_find(sites, site.stack, (enum tide_space)site.space,
                             &reading->account->water[site.space], &place);
    if (status)
        return status;
    if (place != number)
        return TIDE_ECORRUPT;
    sites->list[place] = site;
    return TIDE_OK;
}

static enum tide_status get_sites(struct reading *reading)
{
    struct tide_sites *sites = &reading->account->sites;
    const uint64_t count = reading->saved.sites;
    if (count >= UINT32_MAX || reading->saved.left > count)
        return TIDE_ECORRUPT;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = get_site(reading, i);
    if (status)
        return status;
    void *left;
    status = get_array(reading, reading->saved.left, sizeof(*sites->left), &left,
                       &sites->left_capacity);
    sites->left = left;
    return status;
}

static bool is_site(const struct reading *reading, uint32_t site)
{
    return site <= reading->saved.sites; /* 0 is none */
}

/* A byte of the file is not a bool before it has been made one. */
static bool made_bool(const bool *place)
{
    uint8_t byte;
    memcpy(&byte, place, sizeof(byte));
    return byte != 0;
}

static enum tide_status check_lane(const struct reading *reading,
                                   struct tide_lane_book *lane)
{
    lane->known = made_bool(&lane->known);
    lane->has_newest = made_bool(&lane->has_newest);
    if (lane->process >= reading->saved.processes || lane->move_count > TIDE_MOVES_OPEN)
        return TIDE_ECORRUPT;
    for (size_t i = 0; i < lane->move_count; i++)
        if (!is_site(reading, lane->moves[i].site))
            return TIDE_ECORRUPT;
    return TIDE_OK;
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
        if (maps->commits[i].site >= reading->saved.sites && maps->commits[i].bytes)
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
    if (!block->site || !is_site(reading, block->site))
        return TIDE_ECORRUPT;
    const enum tide_status status =
        tide_live_put(&reading->account->store, live, block, &old);
    return status || !old.site ? status : TIDE_ECORRUPT;
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
        struct saved_range saved;
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
    struct saved_process saved;
    enum tide_status status = tide_index_get(reading->index, &saved, sizeof(saved));
    if (status)
        return status;
    book->known = saved.known != 0;
    book->forked = saved.forked != 0;
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
    if (count > tide_index_left(reading->index) / sizeof(struct saved_process))
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
    struct saved_account *saved = &reading->saved;
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
        status = get_sites(&reading);
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
