/* model/block_stream.h - every block of a run, one at a time.
 *
 * For: model/, view/, cli/, tests/.  A walk through all events for those who want blocks,
 * levels and marks themselves and not their sums.  Memory is proportional to the blocks
 * that are alive, or to those of them that are followed.  What a block is, and when it
 * dies, is as in account.h and mapped.h: the sums over all blocks are those of the model.
 */
#ifndef TIDE_MODEL_BLOCK_STREAM_H
#define TIDE_MODEL_BLOCK_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/life_table.h"
#include "model/model.h"
#include "trace/event.h"

struct tide_death {
    uint64_t ticks;
    uint64_t moved_to; /* by realloc or mremap: the address of its new block; 0: not */
    uint32_t tid;      /* of the thread that freed it, 0: not known, or nobody did */
    uint32_t lane;     /* in which it died: index into the trace's lanes */
    uint32_t stack;    /* node: where it was freed, or moved; 0: not recorded */
};

/* Bytes of a block of the space mmap, whose parts may be unmapped one by one. */
struct tide_part {
    uint64_t start, end; /* addresses */
};

/* What a process holds from TICKS on. */
struct tide_level {
    uint32_t process;
    enum tide_space space;
    uint64_t ticks;
    uint64_t bytes;
};

/* Who is told; each may be NULL.  A status other than OK ends the walk. */
struct tide_block_watch {
    void *user;
    /* The walk begins; LIVES is borrowed, and good until it ends: who is asked at a mark
     * what is alive looks there. */
    void (*begin)(void *user, const struct tide_lives *lives);
    /* Shall LIFE, which is about to be born in the heap, be followed?  NULL: all shall.
     * Nobody is told of the end of others, unless they have a label, which a realloc may
     * take to one that shall; levels are not those of all blocks then. */
    bool (*follow)(void *user, const struct tide_life *life);
    /* A block is born, in LANE.  Its note may be set, for the other calls to find. */
    enum tide_status (*birth)(void *user, struct tide_life *life, uint32_t lane);
    /* A block is dead, or, after the last event and with DEATH NULL, still alive: those
     * come in the order of their birth. */
    enum tide_status (*block)(void *user, const struct tide_life *life,
                              const struct tide_death *death);
    /* mmap: a part of LIFE is unmapped or, after the last event and with DEATH NULL, still
     * there. */
    enum tide_status (*part)(void *user, const struct tide_life *life,
                             struct tide_part part, const struct tide_death *death);
    enum tide_status (*level)(void *user, const struct tide_level *level);
    /* An EXTRA event, and the thread whose it is. */
    enum tide_status (*mark)(void *user, const struct tide_event *event, uint32_t tid);
    /* A SPAN event: what its lane does from now on lies between two stamps. */
    enum tide_status (*span)(void *user, const struct tide_event *event);
};

/* Walk through the trace of MODEL.  Stacks have the numbers that they have there. */
enum tide_status tide_block_stream(struct tide_model *model,
                                   const struct tide_block_watch *watch,
                                   const struct tide_progress *progress);

#endif
