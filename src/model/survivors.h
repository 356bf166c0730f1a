/* model/survivors.h - what was never freed: when it was born, and who made it.
 *
 * For: model/, tests/.  Nothing is counted as events pass.  A block knows the number of
 * its birth; when its process ends, or the account, one walk over the blocks that are
 * left says which part of the process's life each comes from.  When a birth was is
 * looked up in a diary of at most TIDE_DIARY_LINES lines, written between runs of events,
 * so it is known to one in some thousand births.
 *
 * There may be millions of blocks.  Those that stand side by side were mostly born so, and
 * what births between two lines of the diary have in common is found out once.
 */
#ifndef TIDE_MODEL_SURVIVORS_H
#define TIDE_MODEL_SURVIVORS_H

#include <stddef.h>
#include <stdint.h>

#include <tidemark/status.h>

#include "model/key.h"
#include "model/live.h"
#include "model/model.h"

enum { TIDE_DIARY_LINES = 8192 }; /* a power of two */

/* By TICKS, so many blocks had been born. */
struct tide_diary_line {
    uint64_t births, ticks;
};

/* The life of a process, from its first event to its end. */
struct tide_life_span {
    uint64_t births[2], ticks[2];
};

/* Births between two lines of the diary that come from the same part of a life. */
struct tide_birth_row {
    uint64_t first, count;           /* 0: none */
    uint32_t slices[TIDE_LIFE_AXES]; /* the bit of that part */
    /* From 0 to 1 in the life: that of the first, and what each has more than the one
     * before. */
    double place[TIDE_LIFE_AXES], step[TIDE_LIFE_AXES];
};

/* The first and the last of some births; last is 0 when there are none. */
struct tide_births {
    uint64_t first, last;
};

/* All zeros is ready for use. */
struct tide_survivors {
    struct tide_diary_line diary[TIDE_DIARY_LINES];
    size_t lines;
    uint64_t apart;             /* births between two lines, at least */
    struct tide_survival *list; /* owned, per key; without threads and processes */
    size_t capacity;

    /* Of the process whose blocks are added. */
    struct tide_life_span span;
    size_t near;                /* the line that was found last */
    struct tide_birth_row row;  /* up to that line, if they are alike */
    struct tide_births *births; /* owned, per key */
    size_t births_capacity;
    uint32_t *keys; /* owned: those that it has blocks of */
    size_t key_count, key_capacity;
};

void tide_survivors_release(struct tide_survivors *survivors);

/* Time has come to TICKS, and BIRTHS blocks were born. */
void tide_survivors_note(struct tide_survivors *survivors, uint64_t births,
                         uint64_t ticks);
/* When birth NUMBER was, as far as the diary knows. */
uint64_t tide_survivors_when(const struct tide_survivors *survivors, uint64_t number);

/* The blocks that are added next are of a process that lived so long ... */
void tide_survivors_begin(struct tide_survivors *survivors,
                          const struct tide_life_span *span);
/* ... and these were all: when they were born is in the list from here on. */
void tide_survivors_end(struct tide_survivors *survivors);

/* A block of SIZE bytes, of KEY and BORN then, was never freed. */
enum tide_status tide_survivors_add(struct tide_survivors *survivors, uint32_t key,
                                    uint64_t born, uint64_t size);
/* The same of COUNT blocks, as they are in STORE. */
enum tide_status tide_survivors_add_packed(struct tide_survivors *survivors,
                                           const struct tide_live_store *store,
                                           const struct tide_packed *blocks,
                                           size_t count);

/* Other survivors of the process at hand, none so far: for a part of its blocks, in another
 * thread.  Owned by the caller; NULL without memory. */
struct tide_survivors *tide_survivors_beside(const struct tide_survivors *survivors);
/* Both have ended: add those of OTHER, which are gone then.  False without memory. */
bool tide_survivors_join(struct tide_survivors *survivors,
                         struct tide_survivors *other);

/* Add the survivors of ONE to SUM, all but how many threads and processes made them. */
void tide_survival_merge(struct tide_survival *sum, const struct tide_survival *one);

/* Sum them up by site: all, or only what is LOST, and was not held by a process that broke
 * off.  Owned by the caller, one per site; NULL without memory. */
struct tide_survival *tide_survivors_by_site(const struct tide_survivors *survivors,
                                             const struct tide_model *model, bool lost);

#endif
