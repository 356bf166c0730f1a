/* trace/words.h - which word of a stack is expected next.
 *
 * For: both sides of a trace, as piles.h.  The rule is that of frame tokens in format.h.  A
 * slot is a word's place in the dictionary.
 */
#ifndef TIDE_TRACE_WORDS_H
#define TIDE_TRACE_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "trace/format.h"

struct tide_words {
    uint64_t last_new;                     /* word */
    uint32_t first;                        /* slot of the first one of the last DELTA */
    uint16_t after[TIDE_DICTIONARY_SLOTS]; /* slot -> 1 + slot of what stood after it */
    uint16_t after_first[TIDE_DICTIONARY_SLOTS];
};

/* Where the next word of a DELTA stands: `after` what. */
struct tide_word_place {
    uint16_t *expected; /* 1 + slot; 0: nothing is */
    bool first;
};

static inline void tide_words_clear(struct tide_words *words)
{
    words->last_new = 0;
    words->first = tide_word_slot(0);
    memset(words->after, 0, sizeof(words->after));
    memset(words->after_first, 0, sizeof(words->after_first));
}

static inline struct tide_word_place tide_words_begin(struct tide_words *words)
{
    return (struct tide_word_place){&words->after_first[words->first], true};
}

/* The word of SLOT stands at PLACE: go on to the next place. */
static inline void tide_words_step(struct tide_words *words,
                                   struct tide_word_place *place, uint32_t slot)
{
    *place->expected = (uint16_t)(slot + 1);
    if (place->first)
        words->first = slot;
    *place = (struct tide_word_place){&words->after[slot], false};
}

#endif
