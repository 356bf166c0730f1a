/* unit/naive_account.c - the rules of the heap, followed in the plainest way. */
#include "naive_account.h"

#include <stdlib.h>

#include "trace/format.h"

static bool stands(const struct naive_block *block)
{
    return block->state == TIDE_NAIVE_LIVE || block->state == TIDE_NAIVE_MOVING;
}

uint64_t naive_standing(const struct naive_account *account)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < account->block_count; i++) {
        if (stands(&account->blocks[i]))
            sum += account->blocks[i].size;
    }
    return sum;
}

static struct naive_block *find(struct naive_account *account, uint32_t process,
                                uint64_t address)
{
    for (size_t i = 0; i < account->block_count; i++) {
        struct naive_block *block = &account->blocks[i];
        if (block->state == TIDE_NAIVE_LIVE && block->process == process &&
            block->address == address)
            return block;
    }
    return NULL;
}

static void die(struct naive_account *account, struct naive_block *block)
{
    block->state = TIDE_NAIVE_DEAD;
    account->stacks[block->stack].freed_calls++;
    account->stacks[block->stack].freed_bytes += block->size;
}

static void replace(struct naive_account *account, struct naive_block *block)
{
    if (!block)
        return;
    account->replaced++;
    die(account, block);
}

static void look_at_peak(struct naive_account *account, uint64_t ticks)
{
    uint64_t bytes = 0, blocks = 0, usable = 0;
    for (size_t i = 0; i < account->block_count; i++) {
        if (!stands(&account->blocks[i]))
            continue;
        bytes += account->blocks[i].size;
        usable += account->blocks[i].usable;
        blocks++;
    }
    if (usable > account->peak_usable)
        account->peak_usable = usable;
    if (bytes > account->peak_with_realloc)
        account->peak_with_realloc = bytes;
    if (bytes <= account->peak_bytes)
        return;
    account->peak_bytes = bytes;
    account->peak_blocks = blocks;
    account->peak_ticks = ticks;
    for (size_t i = 0; i < TIDE_NAIVE_STACKS; i++) {
        account->stacks[i].peak_bytes = 0;
        account->stacks[i].peak_blocks = 0;
    }
    for (size_t i = 0; i < account->block_count; i++) {
        const struct naive_block *block = &account->blocks[i];
        if (!stands(block))
            continue;
        account->stacks[block->stack].peak_bytes += block->size;
        account->stacks[block->stack].peak_blocks++;
    }
}

static void birth(struct naive_account *account, const struct tide_event *event)
{
    replace(account, find(account, event->process, event->address));
    if (account->block_count == TIDE_NAIVE_BLOCKS)
        abort();
    account->births++;
    account->blocks[account->block_count++] = (struct naive_block){
        .state = TIDE_NAIVE_LIVE,
        .process = event->process,
        .lane = event->lane,
        .stack = event->stack,
        .address = event->address,
        .size = event->size,
        .usable = event->usable,
        .number = account->births,
    };
    account->lanes[event->lane].last_birth = account->births;
    account->alloc_calls++;
    account->stacks[event->stack].calls++;
    account->stacks[event->stack].bytes += event->size;
    look_at_peak(account, event->ticks);
}

static void unknown_free(struct naive_account *account, const struct tide_event *event)
{
    account->free_calls++;
    if (account->forked[event->process])
        account->inherited++;
    else
        account->unmatched++;
}

static void freed(struct naive_account *account, const struct tide_event *event,
                  struct naive_block *block)
{
    account->free_calls++;
    if (block->lane == event->lane &&
        block->number == account->lanes[event->lane].last_birth) {
        account->stacks[block->stack].temporary_calls++;
        account->stacks[block->stack].temporary_bytes += block->size;
    }
    die(account, block);
}

/* --- Moves --- */

static void put_back(struct naive_account *account, size_t block_plus_one)
{
    if (!block_plus_one)
        return;
    struct naive_block *block = &account->blocks[block_plus_one - 1];
    replace(account, find(account, block->process, block->address));
    block->state = TIDE_NAIVE_LIVE;
}

static void move_begin(struct naive_account *account, const struct tide_event *event)
{
    struct naive_lane *lane = &account->lanes[event->lane];
    if (lane->move_count == TIDE_NAIVE_MOVES) {
        put_back(account, lane->moves[0]);
        for (size_t i = 1; i < TIDE_NAIVE_MOVES; i++) {
            lane->moves[i - 1] = lane->moves[i];
            lane->move_addresses[i - 1] = lane->move_addresses[i];
        }
        lane->move_count--;
    }
    struct naive_block *block = find(account, event->process, event->address);
    lane->moves[lane->move_count] = block ? (size_t)(block - account->blocks) + 1 : 0;
    lane->move_addresses[lane->move_count++] = event->address;
    if (block)
        block->state = TIDE_NAIVE_MOVING;
}

/* Which of the lane's moves took OLD, the innermost first; -1 for none. */
static int find_move(const struct naive_lane *lane, uint64_t old)
{
    for (int i = (int)lane->move_count - 1; i >= 0; i--) {
        if (lane->move_addresses[i] == old)
            return i;
    }
    return -1;
}

/* End move number AT of the lane; the block that moved, NULL when unknown. */
static struct naive_block *end_move(struct naive_account *account,
                                    struct naive_lane *lane, int at)
{
    for (int i = (int)lane->move_count - 1; i > at; i--)
        put_back(account, lane->moves[i]);
    lane->move_count = (size_t)at;
    const size_t block = lane->moves[at];
    return block ? &account->blocks[block - 1] : NULL;
}

static void move_end(struct naive_account *account, const struct tide_event *event)
{
    struct naive_lane *lane = &account->lanes[event->lane];
    const int at = find_move(lane, event->value);
    struct naive_block *old = at >= 0 ? end_move(account, lane, at) : NULL;
    account->realloc_calls++;
    if (!old) {
        unknown_free(account, event);
    } else {
        const uint64_t both = naive_standing(account) + event->size;
        if (old->address != event->address && both > account->peak_with_realloc)
            account->peak_with_realloc = both;
        account->free_calls++;
        die(account, old);
    }
    birth(account, event);
}

static void move_back(struct naive_account *account, const struct tide_event *event)
{
    struct naive_lane *lane = &account->lanes[event->lane];
    const int at = find_move(lane, event->address);
    if (at < 0)
        return;
    struct naive_block *old = end_move(account, lane, at);
    if (old)
        put_back(account, (size_t)(old - account->blocks) + 1);
}

static void free_address(struct naive_account *account, const struct tide_event *event)
{
    struct naive_block *block = find(account, event->process, event->address);
    if (block)
        freed(account, event, block);
    else
        unknown_free(account, event);
}

static void move_gone(struct naive_account *account, const struct tide_event *event)
{
    struct naive_lane *lane = &account->lanes[event->lane];
    const int at = find_move(lane, event->address);
    account->realloc_calls++;
    if (at < 0) {
        free_address(account, event);
        return;
    }
    struct naive_block *old = end_move(account, lane, at);
    if (old)
        freed(account, event, old);
    else
        unknown_free(account, event);
}

void naive_enter(struct naive_account *account, const struct tide_event *event)
{
    switch (event->kind) {
    case TIDE_EVENT_ALLOC:
        birth(account, event);
        break;
    case TIDE_EVENT_FREE:
        free_address(account, event);
        break;
    case TIDE_EVENT_MOVE_BEGIN:
        move_begin(account, event);
        break;
    case TIDE_EVENT_MOVE_END:
        move_end(account, event);
        break;
    case TIDE_EVENT_MOVE_BACK:
        move_back(account, event);
        break;
    case TIDE_EVENT_MOVE_GONE:
        move_gone(account, event);
        break;
    case TIDE_EVENT_EXTRA:
        if (event->extra == TIDE_EXTRA_FAILED)
            account->failed_calls++;
        else
            account->lanes[event->lane].last_birth = 0;
        break;
    default:
        break;
    }
}

void naive_end_process(struct naive_account *account, uint32_t process)
{
    for (size_t i = 0; i < account->block_count; i++) {
        struct naive_block *block = &account->blocks[i];
        if (stands(block) && block->process == process)
            block->state = TIDE_NAIVE_LEFT;
    }
}

void naive_finish(struct naive_account *account)
{
    for (size_t i = 0; i < account->block_count; i++) {
        const struct naive_block *block = &account->blocks[i];
        if (block->state == TIDE_NAIVE_DEAD)
            continue;
        account->stacks[block->stack].live_blocks++;
        account->stacks[block->stack].live_bytes += block->size;
    }
}
