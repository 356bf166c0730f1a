/* trace/merge.c - all lanes of a trace, in one order that could have happened.
 *
 * Of the lanes that may go on, the one with the smallest time goes on, up to the end of
 * its stretch.  A lane whose next event carries a number that has not come up is parked
 * on its slot, and is ready again when the slot's count reaches that number.  Each
 * process has its own slots; between processes only time counts.
 *
 * The gate: a process that had one thread so far counts nothing.  Its other lanes begin
 * when its first lane has given all its events before NUMBERS.
 *
 * Holes: a number may never come up (a record was lost).  When every lane of a process is
 * parked or ended, or when the others are `patience` past the end of a parked lane's
 * stretch, the parked lane with the smallest time goes on all the same, its slot takes
 * over its number, and it is counted as reordered.
 */
#include "trace/merge.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "trace/format.h"

enum {
    TIDE_NUMBERS_TRIED = 64,                 /* when a hole is jumped */
    TIDE_SLOTS = (1u << TIDE_SLOT_BITS) + 1, /* with TIDE_SLOT_MAP */
};

/* --- Heaps --- */

static bool before(const struct tide_merge *merge, uint32_t a, uint32_t b)
{
    const uint64_t x = merge->lanes[a].key, y = merge->lanes[b].key;
    return x != y ? x < y : a < b;
}

static void put(struct tide_merge *merge, struct tide_lane_heap *heap, uint32_t place,
                uint32_t lane)
{
    heap->lanes[place] = lane;
    merge->lanes[lane].place = place;
}

static void sift_up(struct tide_merge *merge, struct tide_lane_heap *heap,
                    uint32_t place)
{
    const uint32_t lane = heap->lanes[place];
    while (place && before(merge, lane, heap->lanes[(place - 1) / 2])) {
        put(merge, heap, place, heap->lanes[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(merge, heap, place, lane);
}

static void sift_down(struct tide_merge *merge, struct tide_lane_heap *heap,
                      uint32_t place)
{
    const uint32_t lane = heap->lanes[place];
    for (uint32_t child = 2 * place + 1; child < heap->count; child = 2 * place + 1) {
        if (child + 1 < heap->count &&
            before(merge, heap->lanes[child + 1], heap->lanes[child]))
            child++;
        if (!before(merge, heap->lanes[child], lane))
            break;
        put(merge, heap, place, heap->lanes[child]);
        place = child;
    }
    put(merge, heap, place, lane);
}

static void heap_add(struct tide_merge *merge, struct tide_lane_heap *heap,
                     uint32_t lane)
{
    put(merge, heap, heap->count++, lane);
    sift_up(merge, heap, heap->count - 1);
}

static void heap_remove(struct tide_merge *merge, struct tide_lane_heap *heap,
                        uint32_t lane)
{
    const uint32_t place = merge->lanes[lane].place;
    const uint32_t last = heap->lanes[--heap->count];
    if (last == lane)
        return;
    put(merge, heap, place, last);
    sift_up(merge, heap, place);
    sift_down(merge, heap, merge->lanes[last].place);
}

/* --- Lanes that wait for a number --- */

static struct tide_merge_process *process_of(const struct tide_merge *merge,
                                             uint32_t lane)
{
    return &merge->processes[merge->lanes[lane].in.lane->process];
}

static const struct tide_event *next_event(const struct tide_merge_lane *lane)
{
    return tide_lane_in_events(&lane->in) + lane->in.taken;
}

static uint32_t slot_of_event(const struct tide_event *event)
{
    return event->kind == TIDE_EVENT_MAP ? TIDE_SLOT_MAP : tide_slot_of(event->address);
}

static void make_ready(struct tide_merge *merge, uint32_t lane)
{
    merge->lanes[lane].state = TIDE_LANE_READY;
    process_of(merge, lane)->ready++;
    heap_add(merge, &merge->ready, lane);
}

/* LANE, which is parked and stands in the list at *LINK, may go on. */
static void unpark(struct tide_merge *merge, uint32_t lane, uint32_t *link)
{
    *link = merge->lanes[lane].next_waiter;
    heap_remove(merge, &process_of(merge, lane)->parked, lane);
    make_ready(merge, lane);
}

static uint32_t *bucket_of(const struct tide_merge_process *process, uint32_t slot,
                           uint16_t number)
{
    const uint32_t hash = (slot ^ (uint32_t)number << 16) * 0x9e3779b1u;
    return &process->waiters[(hash >> 8) & process->waiter_mask];
}

/* The link to a lane that waits for NUMBER to come up on SLOT; NULL when none does. */
static uint32_t *find_waiter(const struct tide_merge *merge,
                             const struct tide_merge_process *process, uint32_t slot,
                             uint16_t number)
{
    uint32_t *link = bucket_of(process, slot, number);
    while (*link != TIDE_NO_LANE) {
        struct tide_merge_lane *lane = &merge->lanes[*link];
        if (lane->slot == slot && next_event(lane)->number == number)
            return link;
        link = &lane->next_waiter;
    }
    return NULL;
}

/* Give up waiting for the number of the parked lane with the smallest time, or for one of
 * the same slot that comes up before it. */
static void jump_hole(struct tide_merge *merge, struct tide_merge_process *process)
{
    const struct tide_merge_lane *first = &merge->lanes[process->parked.lanes[0]];
    const uint32_t slot = first->slot;
    uint16_t number = process->counts[slot];
    uint32_t *link = NULL;
    for (int tried = 0; !link && tried < TIDE_NUMBERS_TRIED; tried++)
        link = find_waiter(merge, process, slot, ++number);
    if (!link) {
        number = next_event(first)->number;
        link = find_waiter(merge, process, slot, number);
    }
    process->counts[slot] = number;
    merge->reordered++;
    if (link)
        unpark(merge, *link, link);
}

/* The current lane of PROCESS cannot go on. */
static void step_aside(struct tide_merge *merge, struct tide_merge_process *process)
{
    merge->current = TIDE_NO_LANE;
    process->ready--;
    if (process->ready == 0 && process->parked.count)
        jump_hole(merge, process);
}

static void park(struct tide_merge *merge, struct tide_merge_process *process,
                 uint32_t slot)
{
    const uint32_t number = merge->current;
    struct tide_merge_lane *lane = &merge->lanes[number];
    uint32_t *bucket = bucket_of(process, slot, next_event(lane)->number);
    lane->state = TIDE_LANE_PARKED;
    lane->slot = slot;
    lane->next_waiter = *bucket;
    *bucket = number;
    heap_add(merge, &process->parked, number);
    step_aside(merge, process);
}

/* --- The gate --- */

static void open_gate(struct tide_merge *merge, struct tide_merge_process *process)
{
    if (process->gate_open)
        return;
    process->gate_open = true;
    for (uint32_t i = 1; i < process->lane_count; i++)
        make_ready(merge, process->first_lane + i);
}

static bool is_numbers(const struct tide_event *event)
{
    return event->kind == TIDE_EVENT_EXTRA && event->extra == TIDE_EXTRA_NUMBERS;
}

/* The gate opens when everything before NUMBERS has been given, not when NUMBERS is: the
 * first thread writes that with its next event, which may be hours later. */
void tide_merge_look_for_gate(struct tide_merge *merge, uint32_t number)
{
    struct tide_merge_process *process = process_of(merge, number);
    struct tide_merge_lane *lane = &merge->lanes[number];
    lane->gate_at = UINT32_MAX;
    if (process->gate_open || number != process->first_lane)
        return;
    const struct tide_event *events = tide_lane_in_events(&lane->in);
    const uint32_t count = (uint32_t)lane->in.events.count;
    uint32_t numbers = lane->in.taken;
    while (numbers < count && !lane->in.numbers && !is_numbers(&events[numbers]))
        numbers++;
    if (numbers == count)
        return;
    uint32_t open_at = numbers;
    while (open_at > lane->in.taken && (events[open_at - 1].kind == TIDE_EVENT_EXTRA ||
                                        events[open_at - 1].kind == TIDE_EVENT_SPAN))
        open_at--;
    if (open_at == lane->in.taken)
        open_gate(merge, process);
    else
        lane->gate_at = open_at;
}

/* --- Giving events --- */

static void give_up_slots(struct tide_merge_process *process)
{
    if (process->counts)
        munmap(process->counts, TIDE_SLOTS * sizeof(*process->counts));
    free(process->waiters);
    process->counts = NULL;
    process->waiters = NULL;
}

/* Pages that no slot needs are never touched; calloc might clear them all. */
static uint16_t *map_counts(void)
{
    void *counts = mmap(NULL, TIDE_SLOTS * sizeof(uint16_t), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return counts == MAP_FAILED ? NULL : counts;
}

enum tide_status tide_merge_need_slots(struct tide_merge_process *process)
{
    if (process->counts)
        return TIDE_OK;
    size_t buckets = 64;
    while (buckets < process->lane_count)
        buckets *= 2;
    process->waiter_mask = (uint32_t)buckets - 1;
    process->counts = map_counts();
    process->waiters = malloc(buckets * sizeof(*process->waiters));
    if (!process->counts || !process->waiters)
        return TIDE_ENOMEM;
    memset(process->waiters, 0xff, buckets * sizeof(*process->waiters));
    return TIDE_OK;
}

/* Put the current lane back when another one is before it. */
static void let_earlier_pass(struct tide_merge *merge)
{
    const uint32_t current = merge->current;
    if (current == TIDE_NO_LANE || !merge->ready.count ||
        before(merge, current, merge->ready.lanes[0]))
        return;
    heap_add(merge, &merge->ready, current);
    merge->current = TIDE_NO_LANE;
}

/* A lane of PROCESS has come to KEY: do not wait any longer for what should have come up
 * before.  True when a parked lane was let go. */
static bool lose_patience(struct tide_merge *merge, struct tide_merge_process *process,
                          uint64_t key)
{
    if (!process->parked.count)
        return false;
    const uint64_t end = merge->lanes[process->parked.lanes[0]].in.end_ticks;
    if (end >= key || key - end <= merge->patience)
        return false;
    jump_hole(merge, process);
    return true;
}

/* The lane's stretch is used up: go to the next one. */
static enum tide_status advance(struct tide_merge *merge)
{
    const uint32_t number = merge->current;
    struct tide_merge_lane *lane = &merge->lanes[number];
    struct tide_merge_process *process = process_of(merge, number);
    bool more;
    const enum tide_status status = tide_lane_in_next(&lane->in, &more);
    if (status)
        return status;
    lane->begun = true;
    if (more) {
        lane->key = lane->in.ticks;
        tide_merge_look_for_gate(merge, number);
        let_earlier_pass(merge);
        /* Only the earliest of all may say that others have been waited for. */
        if (merge->current == number && lose_patience(merge, process, lane->key))
            let_earlier_pass(merge);
        return TIDE_OK;
    }
    lane->state = TIDE_LANE_ENDED;
    process->live--;
    if (number == process->first_lane)
        open_gate(merge, process);
    step_aside(merge, process);
    if (process->live == 0)
        give_up_slots(process);
    return TIDE_OK;
}

/* Make the ready lane with the smallest time the current one; false when none is left. */
static bool take(struct tide_merge *merge)
{
    while (merge->ready.count) {
        const uint32_t lane = merge->ready.lanes[0];
        if (lose_patience(merge, process_of(merge, lane), merge->lanes[lane].key))
            continue;
        heap_remove(merge, &merge->ready, lane);
        merge->current = lane;
        return true;
    }
    return false;
}

/* The event at hand of the current lane counts on its slot: take it, and tell whether the
 * lane may go on.  If it must wait for its number, it is not taken. */
static bool take_on_slot(struct tide_merge *merge, struct tide_merge_process *process)
{
    struct tide_merge_lane *lane = &merge->lanes[merge->current];
    const struct tide_event *event = next_event(lane);
    const uint32_t slot = slot_of_event(event);
    if ((event->numbered & TIDE_HAS_NUMBER) && event->number != process->counts[slot]) {
        park(merge, process, slot);
        return false;
    }
    const uint16_t count = ++process->counts[slot];
    lane->in.taken++;
    if (!process->parked.count)
        return true;
    uint32_t *link = find_waiter(merge, process, slot, count);
    if (!link)
        return true;
    unpark(merge, *link, link);
    let_earlier_pass(merge);
    return merge->current != TIDE_NO_LANE;
}

/* Take events of the current lane up to END that wait for nobody. */
static void take_free(struct tide_merge_lane *lane, uint32_t end)
{
    const struct tide_event *events = tide_lane_in_events(&lane->in);
    while (lane->in.taken < end && !events[lane->in.taken].numbered)
        lane->in.taken++;
}

/* Take events of the current lane, MAX at most, until it cannot go on or another one is
 * earlier. */
static enum tide_status give(struct tide_merge *merge, size_t max)
{
    struct tide_merge_lane *lane = &merge->lanes[merge->current];
    struct tide_merge_process *process = process_of(merge, merge->current);
    const uint32_t from = lane->in.taken;
    uint32_t end = (uint32_t)lane->in.events.count;
    if (end - from > max)
        end = from + (uint32_t)max;
    if (end > lane->gate_at)
        end = lane->gate_at;
    if (process->lane_count == 1) {
        lane->in.taken = end;
        return TIDE_OK;
    }
    bool goes_on = true;
    while (goes_on && lane->in.taken < end) {
        take_free(lane, end);
        if (lane->in.taken == end)
            break;
        if (!process->counts && tide_merge_need_slots(process) != TIDE_OK)
            return TIDE_ENOMEM;
        goes_on = take_on_slot(merge, process);
    }
    if (goes_on && lane->in.taken == lane->gate_at) {
        tide_merge_look_for_gate(merge, merge->current);
        let_earlier_pass(merge);
    }
    return TIDE_OK;
}

enum tide_status tide_merge_next(struct tide_merge *merge, size_t max,
                                 const struct tide_event **events, size_t *count)
{
    enum tide_status status = TIDE_OK;
    *events = NULL;
    *count = 0;
    while (!status && !*count) {
        if (merge->current == TIDE_NO_LANE && !take(merge))
            break;
        const struct tide_lane_in *in = &merge->lanes[merge->current].in;
        if (in->taken == in->events.count) {
            status = advance(merge);
            continue;
        }
        const uint32_t from = in->taken;
        *events = tide_lane_in_events(in) + from;
        merge->usual = in->usual;
        status = give(merge, max);
        *count = in->taken - from;
    }
    return status;
}

/* --- Beginning and end --- */

/* Lanes stand sorted by process and number: each process has a range of them. */
static void assign_lanes(struct tide_merge *merge, struct tide_lane_source *source)
{
    const struct tide_trace *trace = source->trace;
    for (uint32_t i = 0; i < merge->lane_count; i++) {
        struct tide_merge_lane *lane = &merge->lanes[i];
        tide_lane_in_init(&lane->in, source, i);
        lane->key = trace->lane_chunks[trace->lanes[i].first_chunk].first_ticks;
        lane->state = TIDE_LANE_BEHIND_GATE;
        lane->gate_at = UINT32_MAX;
        struct tide_merge_process *process = process_of(merge, i);
        if (process->lane_count == 0) {
            process->first_lane = i;
            process->gate_open = i + 1 == merge->lane_count ||
                                 trace->lanes[i + 1].process != trace->lanes[i].process;
            lane->state = TIDE_LANE_READY;
            process->parked.lanes = merge->heap_room + merge->lane_count + i;
        }
        process->lane_count++;
        process->live++;
    }
}

void tide_merge_fill_heap(struct tide_merge *merge)
{
    for (uint32_t i = 0; i < merge->lane_count; i++)
        if (merge->lanes[i].state == TIDE_LANE_READY)
            make_ready(merge, i);
}

enum tide_status tide_merge_init(struct tide_merge *merge,
                                 struct tide_lane_source *source)
{
    const struct tide_trace *trace = source->trace;
    *merge = (struct tide_merge){
        .lanes = calloc(trace->lane_count + 1, sizeof(struct tide_merge_lane)),
        .lane_count = (uint32_t)trace->lane_count,
        .processes =
            calloc(trace->process_count + 1, sizeof(struct tide_merge_process)),
        .process_count = (uint32_t)trace->process_count,
        .heap_room = calloc(trace->lane_count * 2 + 1, sizeof(uint32_t)),
        .current = TIDE_NO_LANE,
        .patience =
            (uint64_t)(trace->ticks_per_second < 1e18 ? trace->ticks_per_second : 1e18),
    };
    if (!merge->lanes || !merge->processes || !merge->heap_room)
        return TIDE_ENOMEM;
    merge->ready.lanes = merge->heap_room;
    assign_lanes(merge, source);
    tide_merge_fill_heap(merge);
    return TIDE_OK;
}

void tide_merge_release(struct tide_merge *merge)
{
    for (uint32_t i = 0; merge->lanes && i < merge->lane_count; i++)
        tide_lane_in_release(&merge->lanes[i].in);
    for (uint32_t i = 0; merge->processes && i < merge->process_count; i++)
        give_up_slots(&merge->processes[i]);
    free(merge->lanes);
    free(merge->processes);
    free(merge->heap_room);
    *merge = (struct tide_merge){.current = TIDE_NO_LANE};
}
