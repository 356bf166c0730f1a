/* unit/naive_account.h - the rules of the heap, followed in the plainest way.
 *
 * What model/account.h must come to, by another road: blocks in a list that is searched
 * from end to end, sums made anew at every event, and at each new peak a copy of what
 * every stack holds.  For small histories only.
 */
#ifndef TIDE_UNIT_NAIVE_ACCOUNT_H
#define TIDE_UNIT_NAIVE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/event.h"

enum {
    TIDE_NAIVE_BLOCKS = 4096,
    TIDE_NAIVE_STACKS = 32,
    TIDE_NAIVE_LANES = 16,
    TIDE_NAIVE_PROCESSES = 8,
    TIDE_NAIVE_MOVES = 4,
};

enum naive_state {
    TIDE_NAIVE_DEAD,
    TIDE_NAIVE_LIVE,
    TIDE_NAIVE_MOVING,
    TIDE_NAIVE_LEFT, /* its process ended */
};

struct naive_block {
    enum naive_state state;
    uint32_t process, lane, stack; /* of its birth */
    uint64_t address, size, usable;
    uint64_t number; /* of the birth, over all */
};

struct naive_stack {
    uint64_t calls, bytes, freed_calls, freed_bytes, temporary_calls, temporary_bytes;
    uint64_t live_blocks, live_bytes, peak_blocks, peak_bytes;
};

struct naive_lane {
    uint64_t last_birth; /* number of the block it made last; 0: none by this thread */
    size_t
        moves[TIDE_NAIVE_MOVES]; /* block + 1, 0: of an unknown one; innermost last */
    uint64_t move_addresses[TIDE_NAIVE_MOVES];
    size_t move_count;
};

struct naive_account {
    struct naive_block blocks[TIDE_NAIVE_BLOCKS];
    size_t block_count;
    struct naive_stack stacks[TIDE_NAIVE_STACKS];
    struct naive_lane lanes[TIDE_NAIVE_LANES];
    bool forked[TIDE_NAIVE_PROCESSES];
    uint64_t births;
    uint64_t alloc_calls, free_calls, realloc_calls, failed_calls;
    uint64_t unmatched, inherited, replaced;
    uint64_t peak_bytes, peak_blocks, peak_usable, peak_with_realloc, peak_ticks;
};

void naive_enter(struct naive_account *account, const struct tide_event *event);
/* PROCESS ends: what it holds is in no later peak. */
void naive_end_process(struct naive_account *account, uint32_t process);
/* Bytes standing now. */
uint64_t naive_standing(const struct naive_account *account);
/* Fill the stacks' live_* by what was never freed. */
void naive_finish(struct naive_account *account);

#endif
