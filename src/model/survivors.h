/* model/survivors.h - what was never freed: when it was born, and who made it.
 *
 * For: model/, tests/.  Nothing is counted as events pass.  A block knows the number of
 * its birth; when its process ends, or the account, one walk over the blocks that are
 * left says which part of the process's life each comes from.  When a birth was is
 * looked up in a diary of at most TIDE_DIARY_LINES lines, written between runs of events,
 * so it is known to one in some thousand births.
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

/* All zeros is ready for use. */
struct tide_survivors {
    struct tide_diary_line diary[TIDE_DIARY_LINES];
    size_t lines;
    uint64_t apart;             /* births between two lines, at least */
    size_t near;                /* the line that was found last */
    struct tide_survival *list; /* owned, per key; without threads and processes */
    size_t capacity;
};

/* The life of a process, from its first event to its end. */
struct tide_life_span {
    uint64_t births[2], ticks[2];
};

void tide_survivors_release(struct tide_survivors *survivors);

/* Time has come to TICKS, and BIRTHS blocks were born. */
void tide_survivors_note(struct tide_survivors *survivors, uint64_t births,
                         uint64_t ticks);
/* When birth NUMBER was, as far as the diary knows. */
uint64_t tide_survivors_when(const struct tide_survivors *survivors, uint64_t number);

/* BLOCK, of KEY, was never freed; its process lived so long. */
enum tide_status tide_survivors_add(struct tide_survivors *survivors,
                                    const struct tide_block *block, uint32_t key,
                                    const struct tide_life_span *span);

/* Add the survivors of ONE to SUM, all but how many threads and processes made them. */
void tide_survival_merge(struct tide_survival *sum, const struct tide_survival *one);

/* Sum them up by site.  Owned by the caller, one per site; NULL without memory. */
struct tide_survival *tide_survivors_by_site(const struct tide_survivors *survivors,
                                             const struct tide_model *model);

#endif
