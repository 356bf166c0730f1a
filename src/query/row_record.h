/* query/row_record.h - one row before anybody looks at it: what happened, and to whom.
 *
 * For: query/, tests/.  A record borrows from the walk; attributes are taken out of it
 * one by one (field.h), those that the query needs.
 */
#ifndef TIDE_QUERY_ROW_RECORD_H
#define TIDE_QUERY_ROW_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "model/block_stream.h"

#define TIDE_NO_PLACE UINT32_MAX

enum tide_record_kind {
    TIDE_RECORD_BIRTH,     /* events */
    TIDE_RECORD_DEATH,     /* events */
    TIDE_RECORD_LABEL,     /* events: memory gets a label... */
    TIDE_RECORD_LABEL_END, /* events: ...or loses it */
    TIDE_RECORD_THREAD,    /* events: a thread begins */
    TIDE_RECORD_BEGIN,     /* events: of a region */
    TIDE_RECORD_END,       /* events */
    TIDE_RECORD_ITERATION, /* events: of the outer loop */
    TIDE_RECORD_ROUND,     /* events: an iteration of another loop begins */
    TIDE_RECORD_ROUND_END, /* events: and ends */
    TIDE_RECORD_SET,       /* events: a value is set... */
    TIDE_RECORD_SET_BEGIN, /* events: ...or begins... */
    TIDE_RECORD_SET_END,   /* events: ...or ends */
    TIDE_RECORD_BLOCK,     /* blocks: all of it */
    TIDE_RECORD_STANDING,  /* snapshots: a block that lived then */
    TIDE_RECORD_VISIT,     /* regions */
    TIDE_RECORD_STRETCH,   /* timeline */
};

/* What a thread did while it was in a region, or a process while it was in a phase. */
struct tide_visit {
    uint64_t begin_ticks;
    uint32_t
        region; /* where it was when it began; 0: it was not entered, but inherited */
    uint64_t inside; /* ticks of the visits in it */
    uint64_t own;    /* ticks without them, when it has ended */
    uint32_t lane;   /* of a phase: who began it */
    uint64_t before; /* of a phase: ticks that the lane had spent in regions by then */
    uint64_t allocs, allocated, frees, freed; /* counts at its begin; then during it */
    uint64_t active;                          /* at its begin */
    uint64_t high_water;
};

/* How things stood in a stretch of time. */
struct tide_stretch_facts {
    uint64_t active, peak, mapped, blocks, rss;
    bool rss_known;
};

struct tide_record {
    enum tide_record_kind kind;
    uint32_t process;
    uint32_t place;               /* where the thread is; of blocks: their birth */
    uint32_t other_place;         /* of their death; TIDE_NO_PLACE: none */
    uint64_t ticks;               /* when; of blocks: their birth */
    const struct tide_life *life; /* NULL: no block has to do with it */
    const struct tide_death *death;
    uint32_t label;       /* id of the block's name + 1, 0: none */
    uint32_t shape;       /* of the block: see shapes.h; 0: none */
    bool foreseen;        /* label and shape are those that the block will get */
    bool temporary, peak; /* of blocks that died; of blocks */
    uint64_t active;      /* heap of the process, before */
    uint64_t high_water;
    uint32_t name;        /* text: of the region, the loop, the snapshot */
    uint32_t region_kind; /* text: what the region is that begins or ends */
    uint64_t number;
    uint32_t attribute; /* that is set to number: its own number */
    const struct tide_visit *visit;
    const struct tide_stretch_facts *stretch;
};

#endif
