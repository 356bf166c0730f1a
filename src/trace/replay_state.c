/* trace/replay_state.c - put a replay back to where another one stood.
 *
 * A lane's decoder is not saved: the lane is read again from its last chunk that starts
 * with a reset, which is never far.  Nor is it saved which lanes are parked: all that
 * have not ended are ready again, and those that must wait find out at their turn.
 *
 * Bytes, all varints: VERSION, lanes, processes, counts; per lane its state, and for one
 * under way its mark and how much of the stretch was given; per process whether its gate
 * is open, and its slots' counts that are not 0, as distances and counts.
 */
#include "trace/replay_state.h"

#include <string.h>

#include "base/raw/varint.h"
#include "trace/cursor.h"
#include "trace/format.h"

enum { TIDE_STATE_VERSION = 1 };

enum saved_lane {
    TIDE_SAVED_FRESH = 0, /* has given nothing */
    TIDE_SAVED_BEGUN = 1,
    TIDE_SAVED_ENDED = 2,
};

/* --- Saving --- */

static void put(struct tide_text *out, uint64_t value)
{
    uint8_t bytes[TIDE_VARINT_MAX];
    const uint8_t *end = tide_put_varint(bytes, value);
    tide_text_add_bytes(out, (const char *)bytes, (size_t)(end - bytes));
}

static void save_lane(const struct tide_merge_lane *lane, struct tide_text *out)
{
    if (lane->state == TIDE_LANE_ENDED) {
        put(out, TIDE_SAVED_ENDED);
        return;
    }
    put(out, lane->begun ? TIDE_SAVED_BEGUN : TIDE_SAVED_FRESH);
    if (!lane->begun)
        return;
    const struct tide_lane_mark *mark = &lane->in.mark;
    put(out, mark->chunk);
    put(out, mark->stretches);
    put(out, mark->ticks);
    put(out, mark->move_count);
    for (uint32_t i = 0; i < mark->move_count; i++)
        put(out, mark->moves[i]);
    put(out, lane->in.taken);
}

/* The first slot from FROM on whose count is not 0; beyond TIDE_SLOT_MAP: none.  Most are
 * 0, so four are looked at together. */
static uint32_t next_used(const uint16_t *counts, uint32_t from)
{
    uint64_t four;
    for (; from + 4 <= TIDE_SLOT_MAP; from += 4) {
        memcpy(&four, counts + from, sizeof(four));
        if (four)
            break;
    }
    while (from <= TIDE_SLOT_MAP && !counts[from])
        from++;
    return from;
}

static void save_slots(const uint16_t *counts, struct tide_text *out)
{
    uint32_t last = 0;
    for (uint32_t i = counts ? next_used(counts, 0) : UINT32_MAX; i <= TIDE_SLOT_MAP;
         i = next_used(counts, i + 1)) {
        put(out, i - last);
        put(out, counts[i]);
        last = i;
    }
    put(out, 0);
    put(out, 0); /* no count is 0: this ends them */
}

enum tide_status tide_replay_save(const struct tide_replay *replay,
                                  struct tide_text *out)
{
    const struct tide_merge *merge = &replay->merge;
    const struct tide_replay_counts *counts = &replay->counts;
    put(out, TIDE_STATE_VERSION);
    put(out, merge->lane_count);
    put(out, merge->process_count);
    put(out, counts->events);
    put(out, counts->dropped);
    put(out, merge->reordered);
    put(out, replay->source.cut_stacks);
    put(out, replay->source.lost);
    put(out, replay->reader.bytes);
    for (uint32_t i = 0; i < merge->lane_count; i++)
        save_lane(&merge->lanes[i], out);
    for (uint32_t i = 0; i < merge->process_count; i++) {
        put(out, merge->processes[i].gate_open);
        save_slots(merge->processes[i].counts, out);
    }
    return out->failed ? TIDE_ENOMEM : TIDE_OK;
}

/* --- Restoring --- */

static enum tide_status restore_begun(struct tide_merge_lane *lane,
                                      struct tide_cursor *cursor)
{
    struct tide_lane_mark mark = {0};
    mark.chunk = tide_cursor_varint32(cursor);
    mark.stretches = tide_cursor_varint32(cursor);
    mark.ticks = tide_cursor_varint(cursor);
    mark.move_count = tide_cursor_varint32(cursor);
    if (mark.move_count > TIDE_MOVES_KEPT)
        return TIDE_ECORRUPT;
    for (uint32_t i = 0; i < mark.move_count; i++)
        mark.moves[i] = tide_cursor_varint(cursor);
    const uint32_t taken = tide_cursor_varint32(cursor);
    if (cursor->failed)
        return TIDE_ECORRUPT;
    const enum tide_status status = tide_lane_in_seek(&lane->in, &mark);
    if (status)
        return status;
    if (taken > lane->in.events.count)
        return TIDE_ECORRUPT;
    lane->in.taken = taken;
    lane->key = lane->in.ticks;
    lane->begun = true;
    return TIDE_OK;
}

static enum tide_status restore_lane(struct tide_merge_lane *lane,
                                     struct tide_cursor *cursor)
{
    const uint64_t saved = tide_cursor_varint(cursor);
    if (cursor->failed || saved > TIDE_SAVED_ENDED)
        return TIDE_ECORRUPT;
    lane->state = saved == TIDE_SAVED_ENDED ? TIDE_LANE_ENDED : TIDE_LANE_READY;
    return saved == TIDE_SAVED_BEGUN ? restore_begun(lane, cursor) : TIDE_OK;
}

static enum tide_status restore_slots(struct tide_merge_process *process,
                                      struct tide_cursor *cursor)
{
    uint64_t slot = 0;
    for (;;) {
        slot = tide_add_saturating(slot, tide_cursor_varint(cursor));
        const uint64_t count = tide_cursor_varint(cursor);
        if (cursor->failed || slot > TIDE_SLOT_MAP || count > UINT16_MAX)
            return TIDE_ECORRUPT;
        if (!count)
            return TIDE_OK;
        if (tide_merge_need_slots(process) != TIDE_OK)
            return TIDE_ENOMEM;
        process->counts[slot] = (uint16_t)count;
    }
}

/* The lanes' states are set; give PROCESS its gate and its counts. */
static enum tide_status restore_process(struct tide_merge *merge,
                                        struct tide_merge_process *process,
                                        struct tide_cursor *cursor)
{
    process->gate_open = tide_cursor_varint(cursor) != 0;
    process->live = 0;
    for (uint32_t i = 0; i < process->lane_count; i++) {
        struct tide_merge_lane *lane = &merge->lanes[process->first_lane + i];
        process->live += lane->state != TIDE_LANE_ENDED;
        if (!process->gate_open && i > 0)
            lane->state = TIDE_LANE_BEHIND_GATE;
    }
    return restore_slots(process, cursor);
}

/* Nothing is ready until all is restored. */
static void empty_heaps(struct tide_merge *merge)
{
    merge->ready.count = 0;
    merge->current = TIDE_NO_LANE;
    for (uint32_t i = 0; i < merge->process_count; i++)
        merge->processes[i].ready = 0;
}

static void restore_counts(struct tide_replay *replay,
                           const struct tide_replay_counts *counts)
{
    replay->counts = *counts;
    replay->merge.reordered = counts->reordered;
    replay->source.cut_stacks = counts->cut_stacks;
    replay->source.lost = counts->lost_records;
    replay->reader.bytes = counts->bytes_read;
}

static enum tide_status restore_all(struct tide_replay *replay,
                                    struct tide_cursor *cursor)
{
    struct tide_merge *merge = &replay->merge;
    enum tide_status status = TIDE_OK;
    for (uint32_t i = 0; !status && i < merge->lane_count; i++)
        status = restore_lane(&merge->lanes[i], cursor);
    for (uint32_t i = 0; !status && i < merge->process_count; i++)
        status = restore_process(merge, &merge->processes[i], cursor);
    if (status)
        return status;
    tide_merge_fill_heap(merge);
    for (uint32_t i = 0; i < merge->process_count; i++) {
        const struct tide_merge_process *process = &merge->processes[i];
        if (!process->gate_open && process->lane_count &&
            merge->lanes[process->first_lane].begun)
            tide_merge_look_for_gate(merge, process->first_lane);
    }
    return TIDE_OK;
}

enum tide_status tide_replay_restore(struct tide_replay *replay, const void *bytes,
                                     size_t length)
{
    struct tide_cursor cursor = tide_cursor_over(bytes, length);
    struct tide_replay_counts counts = {0};
    if (tide_cursor_varint(&cursor) != TIDE_STATE_VERSION ||
        tide_cursor_varint(&cursor) != replay->merge.lane_count ||
        tide_cursor_varint(&cursor) != replay->merge.process_count)
        return TIDE_ECORRUPT;
    counts.events = tide_cursor_varint(&cursor);
    counts.dropped = tide_cursor_varint(&cursor);
    counts.reordered = tide_cursor_varint(&cursor);
    counts.cut_stacks = tide_cursor_varint(&cursor);
    counts.lost_records = tide_cursor_varint(&cursor);
    counts.bytes_read = tide_cursor_varint(&cursor);
    empty_heaps(&replay->merge);
    const enum tide_status status = restore_all(replay, &cursor);
    if (status || cursor.failed)
        return status ? status : TIDE_ECORRUPT;
    restore_counts(replay, &counts);
    return TIDE_OK;
}
