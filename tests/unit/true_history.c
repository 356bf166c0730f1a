/* unit/true_history.c - random histories of whole programs, with all that is true of them.
 */
#include "true_history.h"

#include <sys/mman.h>

#include "make_event.h"
#include "model/model.h"

/* --- Names --- */

static const char *const REGION_NAMES[TIDE_TRUE_NAMES] = {"r1", "r2", "r3", "r4"};
static const char *const LABEL_NAMES[TIDE_TRUE_NAMES] = {"l1", "l2", "l3", "l4"};

/* Each process has numbers of its own. */
static uint64_t region_id(uint32_t process, uint32_t name)
{
    return 100 * (process + 1) + name;
}

static uint64_t label_id(uint32_t process, uint32_t name)
{
    return 100 * (process + 1) + 50 + name;
}

const char *true_name(const void *user, uint32_t process, uint64_t id)
{
    (void)user;
    const uint64_t name = id - 100 * (process + 1);
    return name > 50 ? LABEL_NAMES[name - 51] : REGION_NAMES[name - 1];
}

/* --- What is true --- */

bool true_stands(const struct true_history *history, const struct true_block *block,
                 size_t at)
{
    const struct tide_process *const process = &history->processes[block->process];
    const bool gone = process->ended && at > process->end_ticks;
    return block->birth <= at && at < block->death && !gone;
}

bool true_counts(const struct true_history *history, const struct true_block *block,
                 enum tide_metric metric, size_t peak)
{
    switch (metric) {
    case TIDE_METRIC_PEAK:
        return true_stands(history, block, peak);
    case TIDE_METRIC_LEAKS:
        return block->death == TIDE_TRUE_NEVER;
    case TIDE_METRIC_TOTAL:
        return true;
    case TIDE_METRIC_CHURN:
    default:
        return block->temporary;
    }
}

size_t true_peak(const struct true_history *history, uint32_t space)
{
    uint64_t highest = 0;
    size_t peak = 0;
    for (size_t at = 0; at < history->count; at++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < history->block_count; i++) {
            if (history->blocks[i].space == space &&
                true_stands(history, &history->blocks[i], at))
                sum += history->blocks[i].size;
        }
        if (sum > highest)
            peak = at;
        highest = sum > highest ? sum : highest;
    }
    return peak;
}

/* --- What happens --- */

static uint32_t path_of(const struct true_lane *lane)
{
    uint32_t path = 0;
    for (uint32_t i = 0; i < lane->depth; i++)
        path = path * 8 + lane->regions[i];
    return path;
}

static void emit(struct true_history *history, uint32_t lane, struct tide_event event)
{
    event.lane = lane;
    event.process = lane % TIDE_TRUE_PROCESSES;
    event.ticks = history->count;
    history->events[history->count++] = event;
}

/* Any block of SPACE that the process of LANE has, + 1; 0: none was found. */
static size_t some_block(struct true_history *history, uint32_t lane, uint32_t space)
{
    if (!history->block_count)
        return 0;
    for (int tries = 0; tries < 20; tries++) {
        /* Young ones are taken more often. */
        const uint64_t reach = any_below(&history->random, 2) ? 40 : 2000;
        uint64_t back = any_below(&history->random, reach);
        back = back < history->block_count ? back : history->block_count - 1;
        const struct true_block *const block =
            &history->blocks[history->block_count - 1 - back];
        if (block->space == space && block->process == lane % TIDE_TRUE_PROCESSES &&
            block->death == TIDE_TRUE_NEVER && !block->moving)
            return history->block_count - back;
    }
    return 0;
}

/* A block is born with the event that comes next. */
static struct true_block *birth(struct true_history *history, uint32_t lane,
                                uint32_t space)
{
    struct true_block *const block = &history->blocks[history->block_count++];
    const uint64_t large = any_below(&history->random, 8) == 0 ? 5000 : 200;
    *block = (struct true_block){
        .space = space,
        .process = lane % TIDE_TRUE_PROCESSES,
        .thread = history->lanes[lane].thread,
        .region = path_of(&history->lanes[lane]),
        .stack = history->stacks[any_below(&history->random, TIDE_TRUE_STACKS)],
        .address = 0x10000 * (history->block_count + 1),
        .size = any_below(&history->random, large),
        .birth = history->count,
        .death = TIDE_TRUE_NEVER,
    };
    return block;
}

static void allocate(struct true_history *history, uint32_t lane)
{
    const struct true_block *const block = birth(history, lane, TIDE_IN_HEAP);
    emit(history, lane, alloc_event(lane, block->address, block->size, block->stack));
    history->lanes[lane].newest = history->block_count;
}

static void release(struct true_history *history, uint32_t lane)
{
    const size_t which = some_block(history, lane, TIDE_IN_HEAP);
    if (!which)
        return;
    struct true_block *const block = &history->blocks[which - 1];
    block->death = history->count;
    block->freed_by = history->lanes[lane].thread;
    block->temporary = history->lanes[lane].newest == which;
    emit(history, lane, free_event(lane, block->address));
}

static void begin_move(struct true_history *history, uint32_t lane)
{
    const size_t which = some_block(history, lane, TIDE_IN_HEAP);
    if (!which)
        return;
    history->blocks[which - 1].moving = true;
    history->lanes[lane].moving = which;
    emit(history, lane, move_begin_event(lane, history->blocks[which - 1].address));
}

static void end_move(struct true_history *history, uint32_t lane)
{
    struct true_block *const old = &history->blocks[history->lanes[lane].moving - 1];
    history->lanes[lane].moving = 0;
    old->moving = false;
    if (any_below(&history->random, 5) == 0) {
        emit(history, lane, move_back_event(lane, old->address));
        return;
    }
    struct true_block *const block = birth(history, lane, TIDE_IN_HEAP);
    block->label = old->label;
    block->moved = true;
    block->grown = block->size > old->size ? block->size - old->size : 0;
    block->crept = block->grown && block->grown < old->size / 16;
    if (any_below(&history->random, 2))
        block->address = old->address;
    block->copied = block->crept && block->address != old->address ? old->size : 0;
    old->death = history->count;
    emit(history, lane,
         move_end_event(old->address,
                        alloc_event(lane, block->address, block->size, block->stack)));
    history->lanes[lane].newest = history->block_count;
    history->moves++;
}

static void name_block(struct true_history *history, uint32_t lane)
{
    const uint32_t space = any_below(&history->random, 3) ? TIDE_IN_HEAP : TIDE_IN_MMAP;
    const size_t which = some_block(history, lane, space);
    const uint32_t name = 1 + (uint32_t)any_below(&history->random, TIDE_TRUE_NAMES);
    struct tide_event event = extra_event(lane, TIDE_EXTRA_LABEL, 0x10);
    event.value2 = label_id(lane % TIDE_TRUE_PROCESSES, name);
    if (which) {
        history->blocks[which - 1].label = name;
        event.value = history->blocks[which - 1].address;
    } else {
        history->unmatched_labels++;
    }
    emit(history, lane, event);
}

static void enter_region(struct true_history *history, uint32_t lane)
{
    struct true_lane *const state = &history->lanes[lane];
    const uint32_t name = 1 + (uint32_t)any_below(&history->random, TIDE_TRUE_NAMES);
    if (state->depth == TIDE_TRUE_DEEP)
        return;
    state->regions[state->depth++] = name;
    emit(history, lane,
         extra_event(lane, TIDE_EXTRA_REGION_BEGIN,
                     region_id(lane % TIDE_TRUE_PROCESSES, name)));
}

static void leave_region(struct true_history *history, uint32_t lane)
{
    struct true_lane *const state = &history->lanes[lane];
    uint32_t name = 1 + (uint32_t)any_below(&history->random, TIDE_TRUE_NAMES);
    if (state->depth && any_below(&history->random, 4))
        name = state->regions[state->depth - 1];
    uint32_t depth = state->depth;
    while (depth && state->regions[depth - 1] != name)
        depth--;
    history->mismatches += depth == 0 || depth < state->depth;
    if (depth)
        state->depth = depth - 1;
    emit(history, lane,
         extra_event(lane, TIDE_EXTRA_REGION_END,
                     region_id(lane % TIDE_TRUE_PROCESSES, name)));
}

static void map(struct true_history *history, uint32_t lane)
{
    struct true_block *const block = birth(history, lane, TIDE_IN_MMAP);
    block->size = 4096 * (1 + block->size % 8);
    const uint64_t arguments[4] = {block->address, block->size, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS};
    emit(history, lane, map_event(TIDE_MAP_MMAP, arguments, block->stack));
}

static void unmap(struct true_history *history, uint32_t lane)
{
    const size_t which = some_block(history, lane, TIDE_IN_MMAP);
    if (!which)
        return;
    struct true_block *const block = &history->blocks[which - 1];
    const uint64_t arguments[4] = {block->address, block->size, 0, 0};
    block->death = history->count;
    emit(history, lane, map_event(TIDE_MAP_MUNMAP, arguments, 0));
}

/* Another thread has the lane. */
static void change_thread(struct true_history *history, uint32_t lane)
{
    struct true_lane *const state = &history->lanes[lane];
    if (state->moving)
        return;
    *state = (struct true_lane){.thread = 100 + ++history->thread_count};
    emit(history, lane, extra_event(lane, TIDE_EXTRA_THREAD_BEGIN, state->thread));
}

static void step(struct true_history *history, uint32_t lane, bool labels)
{
    const uint64_t what = any_below(&history->random, 100);
    if (history->lanes[lane].moving && what < 60)
        end_move(history, lane);
    else if (what < 38)
        allocate(history, lane);
    else if (what < 64)
        release(history, lane);
    else if (what < 70 && !history->lanes[lane].moving)
        begin_move(history, lane);
    else if (what < 76)
        enter_region(history, lane);
    else if (what < 82)
        leave_region(history, lane);
    else if (what < 88)
        map(history, lane);
    else if (what < 92)
        unmap(history, lane);
    else if (what < 93)
        change_thread(history, lane);
    else if (labels)
        name_block(history, lane);
}

void true_history_make(struct true_history *history, uint64_t seed, bool labels)
{
    history->random = seed;
    history->count = 0;
    for (uint32_t i = 0; i < TIDE_TRUE_PROCESSES; i++) {
        history->processes[i].ended = i > 0 && any_below(&history->random, 3) == 0;
        history->processes[i].end_ticks =
            TIDE_TRUE_EVENTS / 4 + any_below(&history->random, TIDE_TRUE_EVENTS / 2);
    }
    for (uint32_t lane = 0; lane < TIDE_TRUE_LANES; lane++)
        change_thread(history, lane);
    while (history->count < TIDE_TRUE_EVENTS) {
        const uint32_t lane = (uint32_t)any_below(&history->random, TIDE_TRUE_LANES);
        const struct tide_process *const process =
            &history->processes[lane % TIDE_TRUE_PROCESSES];
        if (process->ended && history->count > process->end_ticks)
            continue;
        step(history, lane, labels);
    }
}
