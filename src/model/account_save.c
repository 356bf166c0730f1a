/* model/account_save.c - put an account aside.
 */
#include <string.h>

#include "model/account_saved.h"
#include "model/account_state.h"

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

static struct tide_saved_account summary_of(const struct tide_account *account)
{
    const struct tide_keys *keys = &account->keys;
    struct tide_saved_account saved;
    memset(&saved, 0, sizeof(saved)); /* holes too: this goes into a file */
    saved.names = account->contexts.names.count;
    saved.regions = account->contexts.regions.count;
    saved.contexts = account->contexts.contexts.count;
    saved.rests = account->contexts.rests.count;
    saved.threads = account->contexts.thread_count;
    saved.crowds = keys->crowd_names.count;
    saved.keys = keys->count;
    saved.more = keys->more_capacity < keys->count ? keys->more_capacity : keys->count;
    saved.flows = account->flow_pairs.count;
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
    saved.unmatched_labels = account->unmatched_labels;
    saved.oversized_labels = account->oversized_labels;
    saved.paused_frees = account->paused_frees;
    saved.region_mismatches = account->contexts.region_mismatches;
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
        const struct tide_saved_range saved = {range->start, range->end, range->tag};
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
    const struct tide_saved_process saved = {
        .known = book->known,
        .forked = book->forked,
        .paused = book->paused,
        .phases = book->phases,
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

static void save_pairs(const struct tide_pairs *pairs, struct tide_index_out *out)
{
    (void)tide_index_put(out, pairs->list, pairs->count * sizeof(*pairs->list));
}

static void save_contexts(const struct tide_contexts *contexts,
                          struct tide_index_out *out)
{
    save_pairs(&contexts->names, out);
    save_pairs(&contexts->regions, out);
    save_pairs(&contexts->contexts, out);
    save_pairs(&contexts->rests, out);
    (void)tide_index_put(out, contexts->threads,
                         contexts->thread_count * sizeof(*contexts->threads));
}

static void save_keys(const struct tide_keys *keys, uint64_t more,
                      struct tide_index_out *out)
{
    save_pairs(&keys->crowd_names, out);
    (void)tide_index_put(out, keys->crowds,
                         keys->crowd_names.count * sizeof(*keys->crowds));
    (void)tide_index_put(out, keys->list, keys->count * sizeof(*keys->list));
    (void)tide_index_put(out, keys->more, more * sizeof(*keys->more));
}

enum tide_status tide_account_save(const struct tide_account *account,
                                   struct tide_index_out *out)
{
    const struct tide_saved_account saved = summary_of(account);
    (void)tide_index_put(out, &saved, sizeof(saved));
    save_contexts(&account->contexts, out);
    save_keys(&account->keys, saved.more, out);
    save_pairs(&account->flow_pairs, out);
    (void)tide_index_put(out, account->flows, saved.flows * sizeof(*account->flows));
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
