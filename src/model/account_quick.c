/* model/account_quick.c - births and deaths of the usual kind, entered fast.
 *
 * What is entered here comes to the same as if account.c had entered it.  All events are of
 * one lane, so what the heap holds and the lane's balance move together: it is enough to
 * follow the one.  What of both has to be known only at the end of a run of events (how
 * high it came, how low, where the last peak was) is kept at hand till then.  Whatever is
 * not usual is left to account.c.
 */
#include "model/account_enter.h"

/* Of what every event needs nothing is left in memory that can stay in registers. */
#define HOT static inline __attribute__((always_inline))

#define RARE(condition) __builtin_expect((condition) != 0, 0)

/* Where sums are far from wrapping, whatever a run of usual events does to them. */
#define TIDE_SANE_BYTES (1ull << 62)

/* What the heap holds, as events are entered. */
struct tally {
    const struct tide_event *first; /* of the run */
    uint64_t bytes, usable;         /* standing */
    uint64_t births;                /* as water counts them */
    uint64_t newest;                /* as in the lane's book */
    uint64_t top;                   /* the most bytes after a birth */
    uint64_t low;                  /* the least after a death since the last peak ... */
    uint64_t low_before;           /* ... and before it */
    uint64_t peaks;                /* as water counts them */
    const struct tide_event *peak; /* what made the last peak; NULL: nothing did */
    uint64_t peak_bytes, peak_usable;
    uint64_t peak_births;
    uint32_t context; /* of the heap, where the lane is */
    enum tide_status status;
};

HOT struct tally begin(const struct tide_entry *entry, const struct tide_event *first)
{
    const struct tide_watermark *const water = entry->water;
    return (struct tally){
        .first = first,
        .bytes = water->bytes,
        .usable = water->usable,
        .births = water->births,
        .newest = entry->lane->newest,
        .low = UINT64_MAX,
        .low_before = UINT64_MAX,
        .peaks = water->peaks,
        .context = entry->lane->where.context[TIDE_IN_HEAP],
        .peak_bytes = water->peak_bytes,
        .peak_usable = water->peak_usable,
    };
}

static int64_t lesser(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* The blocks that stand when EVENTS of the run are entered, by which BIRTHS have been. */
static uint64_t blocks_behind(const struct tide_watermark *water, uint64_t births,
                              size_t events)
{
    const uint64_t born = births - water->births;
    return water->blocks + born - (events - born);
}

/* The lane has come by the last peak.  BASE: its balance is so much less than what the heap
 * holds. */
static void note_peak(const struct tide_entry *entry, const struct tally *tally,
                      uint64_t base)
{
    struct tide_watermark *const water = entry->water;
    struct tide_stretch *const stretch = &entry->lane->stretch;
    water->peaks = tally->peaks;
    water->peak_bytes = tally->peak_bytes;
    water->peak_births = tally->peak_births;
    water->peak_blocks = blocks_behind(water, tally->peak_births,
                                       (size_t)(tally->peak + 1 - tally->first));
    water->peak_ticks = tally->peak->ticks;
    water->peak_now = water->now;
    water->peak_until = stretch->until;
    water->peak_lane = tally->peak->lane;
    if (tally->low_before != UINT64_MAX)
        stretch->lowest = lesser(stretch->lowest, (int64_t)(tally->low_before - base));
    stretch->balance = (int64_t)(tally->peak_bytes - base);
    tide_stretch_touch(stretch, water);
}

/* Enter what is at hand in the books: EVENTS of the run. */
static void end(const struct tide_entry *entry, const struct tally *tally,
                size_t events)
{
    struct tide_watermark *const water = entry->water;
    struct tide_stretch *const stretch = &entry->lane->stretch;
    const uint64_t base = water->bytes - (uint64_t)stretch->balance;
    if (tally->peak)
        note_peak(entry, tally, base);
    if (tally->low != UINT64_MAX) {
        const int64_t low = (int64_t)(tally->low - base);
        stretch->lowest = lesser(stretch->lowest, low);
        stretch->mark_lowest = lesser(stretch->mark_lowest, low);
    }
    if (tally->top) {
        const int64_t high = (int64_t)(tally->top - base);
        stretch->highest = high > stretch->highest ? high : stretch->highest;
        water->highest = tally->top > water->highest ? tally->top : water->highest;
    }
    stretch->balance = (int64_t)(tally->bytes - base);
    water->blocks = blocks_behind(water, tally->births, events);
    water->births = tally->births;
    water->bytes = tally->bytes;
    water->usable = tally->usable;
    water->peak_usable = tally->peak_usable;
    entry->lane->newest = tally->newest;
}

/* --- Events --- */

/* After EVENT the heap stands higher than at any time before. */
HOT void reach_peak(const struct tide_event *event, struct tally *tally)
{
    tally->peak = event;
    tally->peak_bytes = tally->bytes;
    tally->peak_births = tally->births;
    if (tally->low == UINT64_MAX)
        return;
    if (tally->low < tally->low_before)
        tally->low_before = tally->low;
    tally->low = UINT64_MAX;
}

/* The heap has risen, perhaps by several births. */
HOT void see_height(struct tally *tally)
{
    tally->newest = tally->births;
    if (tally->usable > tally->peak_usable)
        tally->peak_usable = tally->usable;
    if (tally->bytes > tally->top)
        tally->top = tally->bytes;
}

/* What KEY gains by a block. */
HOT void gain(const struct tide_keys *keys, struct tide_key *key, uint64_t size,
              uint64_t slack, uint64_t ticks)
{
    const uint64_t bytes = key->bytes + size;
    const uint64_t held = bytes - key->freed_bytes;
    key->calls++;
    key->bytes = bytes;
    key->last_ticks = ticks;
    key->slack_bytes += slack;
    if (held > key->most_bytes) {
        key->most_bytes = held;
        key->most_ticks = ticks;
    }
    if (RARE(key->crowd))
        tide_crowd_gain(&keys->crowds[key->crowd - 1], size, ticks);
}

/* The key of EVENT: index + 1; 0 when it cannot be had. */
static uint32_t __attribute__((noinline))
other_key(const struct tide_entry *entry, const struct tide_event *event)
{
    struct tide_entry other = *entry;
    uint32_t index;
    other.event = event;
    return tide_entry_key(&other, entry->lane->where.context[TIDE_IN_HEAP], &index)
               ? 0
               : index + 1;
}

HOT uint32_t find_key(const struct tide_entry *entry, const struct tide_event *event,
                      struct tally *tally)
{
    const struct tide_keys *const keys = &entry->account->keys;
    uint32_t key = tide_keys_last(keys, event->stack);
    if (RARE(!key) || RARE(keys->list[key - 1].context != tally->context)) {
        key = other_key(entry, event);
        tally->context = entry->lane->where.context[TIDE_IN_HEAP];
    }
    return key;
}

/* False: it is not usual, and nothing was entered.  What a new height means is left to the
 * caller, but for the key: it has nothing to save then, for what it will hold from here on
 * is what it held at the height.  CLIMBS: it makes one. */
HOT bool birth(const struct tide_entry *entry, const struct tide_event *event,
               struct tally *tally, bool climbs)
{
    struct tide_account *const account = entry->account;
    const uint64_t size = event->size, usable = event->usable, slack = usable - size;
    if (RARE((size >> 32 | slack >> 16) != 0))
        return false;
    const uint64_t ticks = event->ticks;
    const unsigned kind = event->alloc_kind & 15;
    const struct tide_block block = {
        .size = size,
        .born = tally->births + 1,
        .key = find_key(entry, event, tally),
        .slack = (uint32_t)slack,
    };
    if (RARE(!block.key) ||
        RARE(!tide_live_add(&account->store, &entry->process->live, event->address,
                            tide_block_pack(&block))))
        return false;
    struct tide_key *const key = &account->keys.list[block.key - 1];
    account->alloc_kinds[kind]++;
    tally->births++;
    tally->usable += usable;
    tally->bytes += size;
    if (!climbs && tally->bytes <= tally->peak_bytes)
        tide_key_touch_at(key, tally->peaks);
    gain(&account->keys, key, size, slack, ticks);
    return true;
}

HOT bool usual_birth(const struct tide_entry *entry, const struct tide_event *event,
                     struct tally *tally)
{
    if (!birth(entry, event, tally, false))
        return false;
    see_height(tally);
    if (tally->bytes > tally->peak_bytes) {
        tally->peaks++;
        reach_peak(event, tally);
    }
    return true;
}

/* Births in a row, when the heap has never stood higher: each makes a new height, and the
 * last one's is the one that counts. */
HOT const struct tide_event *climb(const struct tide_entry *entry,
                                   const struct tide_event *event,
                                   const struct tide_event *behind, struct tally *tally)
{
    const struct tide_event *const first = event;
    if (tally->bytes != tally->peak_bytes)
        return event;
    while (event < behind && event->kind == TIDE_EVENT_ALLOC && event->size &&
           birth(entry, event, tally, true))
        event++;
    if (event == first)
        return event;
    see_height(tally);
    tally->peaks += (uint64_t)(event - first);
    reach_peak(event - 1, tally);
    return event;
}

/* The block of KEY, SIZE bytes, was made elsewhere: perhaps by another thread. */
static enum tide_status __attribute__((noinline))
note_flow(const struct tide_entry *entry, const struct tide_event *event, uint32_t key,
          uint64_t size)
{
    struct tide_entry other = *entry;
    other.event = event;
    return tide_entry_flow(&other, key, size);
}

/* The same for a death. */
HOT bool death(const struct tide_entry *entry, const struct tide_event *event,
               struct tally *tally)
{
    struct tide_account *const account = entry->account;
    const struct tide_packed packed =
        tide_live_pull(&account->store, &entry->process->live, event->address);
    if (RARE(!packed.what))
        return false;
    const struct tide_block block = tide_block_unpack(packed, event->address);
    struct tide_key *const key = &account->keys.list[block.key - 1];
    tide_key_touch_at(key, tally->peaks);
    key->freed_calls++;
    key->freed_bytes += block.size;
    if (RARE(key->crowd))
        account->keys.crowds[key->crowd - 1].bytes -= block.size;
    tally->usable -= block.size + block.slack;
    tally->bytes -= block.size;
    tally->low = tally->bytes < tally->low ? tally->bytes : tally->low;
    if (block.born == tally->newest) {
        key->temporary_calls++;
        key->temporary_bytes += block.size;
    }
    if (RARE(key->context != tally->context)) {
        tally->status = note_flow(entry, event, block.key - 1, block.size);
        tally->context = entry->lane->where.context[TIDE_IN_HEAP];
    }
    return !RARE(tally->status);
}

/* Are the sums such that nothing wraps in COUNT events, do all blocks pack but for their
 * size, and does nobody want to know more? */
static bool is_usual(const struct tide_entry *entry, size_t count)
{
    const uint64_t balance = (uint64_t)entry->lane->stretch.balance;
    return !entry->account->detail && entry->water->births < TIDE_BIRTHS_MAX - count &&
           entry->account->keys.count + count < TIDE_WIDE_KEY &&
           entry->water->bytes < TIDE_SANE_BYTES &&
           entry->water->usable < TIDE_SANE_BYTES &&
           balance + TIDE_SANE_BYTES < 2 * TIDE_SANE_BYTES &&
           tide_live_ready(&entry->process->live);
}

/* Those of COUNT events that come before something ends: a lane's time never goes back. */
static size_t count_calm(const struct tide_event *events, size_t count, uint64_t until)
{
    while (RARE(count && events[count - 1].ticks > until))
        count--;
    return count;
}

enum tide_status tide_entry_quick(const struct tide_entry *entry,
                                  const struct tide_event *events, size_t count,
                                  size_t *entered)
{
    *entered = 0;
    count = count_calm(events, count, entry->account->calm_until);
    if (RARE(!count || !is_usual(entry, count)))
        return TIDE_OK;
    const struct tide_event *const behind = events + count;
    struct tally tally = begin(entry, events);
    tide_stretch_touch(&entry->lane->stretch, entry->water);
    const struct tide_event *event = climb(entry, events, behind, &tally);
    for (; event < behind; event++) {
        if (event->kind == TIDE_EVENT_ALLOC) {
            if (!usual_birth(entry, event, &tally))
                break;
        } else if (event->kind != TIDE_EVENT_FREE || !death(entry, event, &tally)) {
            break;
        }
    }
    *entered = (size_t)(event - events);
    end(entry, &tally, *entered);
    return tally.status;
}
