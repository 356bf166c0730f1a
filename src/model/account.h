/* model/account.h - the books: every event of a run is entered here, once.
 *
 * For: model/, tests/.  load.c feeds it what a replay gives out; tests feed it events
 * made by hand.  Memory is live blocks + mapped ranges + distinct keys + lanes.
 *
 * Rules of the heap
 *   - ALLOC at an address that is live ends the old block (replaced_blocks).
 *   - FREE of an unknown address is inherited in a forked process, else unmatched.  It
 *     is a free call all the same.
 *   - A block in MOVE_BEGIN leaves its address at once (others may be given it) but
 *     stands until MOVE_END.  Then the old half dies, the new one is born at the stack
 *     of MOVE_END: one alloc call, one free call, one realloc call.  The peak counts it
 *     once; peak_with_realloc counts both while a block moves to another address.
 *     MOVE_BACK puts it back as it was.  Moves nest (a signal handler may interrupt a
 *     realloc); one that its lane's later moves show to be abandoned is put back.
 *   - A block is temporary when its lane frees it before that lane's next ALLOC or
 *     MOVE_END, without a change of thread.  A block that moved was not freed.
 *   - A block belongs to the thread and the region in which it was made.  LABEL names the
 *     block at its address (or the mapping that holds it), which then counts as if it had
 *     always had the label, also at a peak that has passed.  Through realloc it keeps it.
 *   - What a process holds when it ends stands no more, so it is in no later peak; it is
 *     live at the end of the run all the same, since nothing freed it.
 */
#ifndef TIDE_MODEL_ACCOUNT_H
#define TIDE_MODEL_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/context.h"
#include "model/detail.h"
#include "model/envelope.h"
#include "model/key.h"
#include "model/live.h"
#include "model/mapped.h"
#include "model/model.h"
#include "model/peak.h"
#include "model/site.h"
#include "trace/event.h"

enum {
    TIDE_MOVES_OPEN = 4, /* of a lane at once; the oldest makes room */
    TIDE_FLOW_HINTS = 8, /* a power of two */
};

/* Which flow the blocks of MAKER go into when this lane's thread frees them. */
struct tide_flow_hint {
    uint32_t maker;
    uint32_t flow; /* index + 1; 0: nothing is known */
};

struct tide_lane_book {
    uint64_t newest; /* the birth of the block the lane's thread made last; 0: none */
    uint32_t process;
    uint32_t next_lane; /* of the same process, index + 1 */
    bool known;         /* the lane has had an event */
    uint8_t move_count;
    struct tide_stretch stretch;
    struct tide_where where;
    struct tide_flow_hint flow_hints[TIDE_FLOW_HINTS]; /* by maker */
    /* Innermost last; key 0: its address held no block that we know. */
    struct tide_block moves[TIDE_MOVES_OPEN];
};

struct tide_process_book {
    struct tide_live live;
    struct tide_mapped mapped;
    struct tide_phases phases;
    uint64_t dropped;    /* said by DROPPED records */
    uint32_t first_lane; /* index + 1 */
    bool known;
    bool forked;
    bool paused;                         /* it has been: not all its blocks are known */
    uint64_t first_ticks, births_before; /* of the first event seen of it */
};

/* A process that will end. */
struct tide_process_end {
    uint64_t ticks;
    uint32_t process;
};

/* What there is to know beforehand; all borrowed, all optional. */
struct tide_account_setup {
    const struct tide_process *processes;
    size_t process_count;
    struct tide_name_source names;       /* of regions and labels */
    const struct tide_selection *select; /* NULL: every block counts */
    double ns_per_tick;                  /* of lives */
    bool details;                        /* fill detail->histograms */
    bool evidence;                       /* see account_evidence.h */
    bool helped;                         /* threads may take over some of the work */
    uint64_t stop_ticks; /* the first event after it ends the account; 0: none does */
};

struct tide_account {
    struct tide_account_setup setup;
    struct tide_live_store store;
    struct tide_contexts contexts;
    struct tide_keys keys;
    struct tide_sites sites; /* when the account is finished */
    struct tide_watermark water[TIDE_SPACES];
    struct tide_maps maps;
    struct tide_envelope envelope;  /* of the heap */
    struct tide_detail *detail;     /* owned; NULL: nobody asked for it */
    struct tide_evidence *evidence; /* owned; NULL: the same */
    struct tide_selection select;
    bool window_open;         /* the window of the selection has begun */
    enum tide_status trouble; /* that could not be told when it came up */

    struct tide_lane_book *lanes; /* owned */
    size_t lane_capacity;
    size_t lanes_seen;
    struct tide_process_book *processes; /* owned */
    size_t process_capacity;
    struct tide_process_end *ends; /* owned, by time */
    size_t end_count, next_end;
    uint64_t next_end_ticks; /* UINT64_MAX: no more */
    uint64_t calm_until;     /* ticks up to which no process ends, nor the account */
    bool stopped;            /* stop_ticks was passed */

    uint64_t realloc_calls, failed_calls, unmatched_frees, inherited_frees;
    uint64_t replaced_blocks, unmatched_labels, oversized_labels, paused_frees;
    struct tide_unmatched unmatched[TIDE_UNMATCHED_KEPT]; /* of unmatched_frees */
    size_t unmatched_count;
    struct tide_pairs flow_pairs; /* (maker, taker) of each flow */
    struct tide_flow *flows;      /* owned */
    size_t flow_capacity;
    uint64_t extra_records[32];
    uint64_t alloc_kinds[16]; /* blocks made, by enum tide_alloc_kind */
    uint64_t map_calls[8];    /* by enum tide_map_call */
};

/* SETUP is copied, what it points to must outlive the account. */
enum tide_status tide_account_init(struct tide_account *account,
                                   const struct tide_account_setup *setup);
void tide_account_release(struct tide_account *account);

/* Enter COUNT events.  When account->stopped is set, no more are wanted. */
enum tide_status tide_account_events(struct tide_account *account,
                                     const struct tide_event *events, size_t count);

/* The same, when all events are of one lane. */
enum tide_status tide_account_run(struct tide_account *account,
                                  const struct tide_event *events, size_t count);

/* The stretches of all lanes. */
static inline struct tide_stretches tide_account_stretches(
    const struct tide_account *account)
{
    return (struct tide_stretches){
        .first = account->lanes ? &account->lanes->stretch : NULL,
        .apart_bytes = sizeof(*account->lanes),
    };
}

/* All is entered: settle keys and sites and fill SUMMARY (TIDE_SPACES of them), except
 * peak_time_s.  Call it once. */
enum tide_status tide_account_finish(struct tide_account *account,
                                     struct tide_summary *summary);

/* Events that were lost: of each process what its records or its end said, whichever is
 * more. */
uint64_t tide_account_dropped(const struct tide_account *account);

/* Find out where the lane of EVENT is: its where has a context of SPACE from then on. */
enum tide_status tide_account_locate(struct tide_account *account,
                                     const struct tide_event *event,
                                     enum tide_space space);

/* --- For account_end.c: see account_detail.c --- */

enum tide_status tide_account_detail_begin(struct tide_account *account);
/* From here on, at TICKS, blocks are selected; peaks are those since. */
void tide_account_open_window(struct tide_account *account, uint64_t ticks);
/* BLOCK never died: it has lived longer than any maximum.  *KEY becomes the index of the
 * key that it counts in. */
enum tide_status tide_account_survives(struct tide_account *account,
                                       const struct tide_block *block, uint32_t *key);
/* Before keys are finished. */
enum tide_status tide_account_detail_finish(struct tide_account *account);

/* --- For account.c: see account_end.c --- */

/* EVENT is the first of its lane, perhaps of its process. */
enum tide_status tide_account_admit(struct tide_account *account,
                                    const struct tide_event *event);
/* Time has come to TICKS, after calm_until: see what has ended. */
enum tide_status tide_account_look_up(struct tide_account *account, uint64_t ticks);
/* A process ended before the next event. */
enum tide_status tide_account_retire(struct tide_account *account, uint32_t process,
                                     uint64_t ticks);

#endif
