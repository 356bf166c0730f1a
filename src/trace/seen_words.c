/* trace/seen_words.c - which addresses stood in the stacks of which process. */
#include "trace/seen_words.h"

#include <stdbool.h>
#include <stdlib.h>

#include "trace/format.h"

enum {
    TIDE_SEEN_FIRST = 4096,      /* slots */
    TIDE_SEEN_MOST = 512 * 1024, /* 4 MiB of them */
    TIDE_SEEN_PROCESSES =
        65534, /* what fits above an address, with 0 for a free slot */
};

void tide_seen_words_release(struct tide_seen_words *seen)
{
    free(seen->slots);
    *seen = (struct tide_seen_words){0};
}

/* Where WORD is, or the free slot where it belongs. */
static uint64_t *place_of(uint64_t *slots, size_t capacity, uint64_t word)
{
    size_t at = (size_t)((word * 0x9e3779b97f4a7c15ull) >> 32) & (capacity - 1);
    while (slots[at] && slots[at] != word)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool widen(struct tide_seen_words *seen)
{
    const size_t capacity = seen->capacity ? seen->capacity * 2 : TIDE_SEEN_FIRST;
    uint64_t *const slots =
        capacity <= TIDE_SEEN_MOST ? calloc(capacity, sizeof(*slots)) : NULL;
    if (!slots)
        return false;
    for (size_t i = 0; i < seen->capacity; i++)
        if (seen->slots[i])
            *place_of(slots, capacity, seen->slots[i]) = seen->slots[i];
    free(seen->slots);
    seen->slots = slots;
    seen->capacity = capacity;
    return true;
}

void tide_seen_words_add(struct tide_seen_words *seen, uint32_t process, uint64_t word)
{
    if (TIDE_WORD_KIND(word) != TIDE_FRAME_NATIVE || word >> 48 || word == 0)
        return;
    const uint64_t key = word | ((uint64_t)process + 1) << 48;
    if (process >= TIDE_SEEN_PROCESSES ||
        (seen->count >= seen->capacity / 4 * 3 && !widen(seen))) {
        seen->left_out++;
        return;
    }
    uint64_t *const place = place_of(seen->slots, seen->capacity, key);
    if (*place)
        return;
    *place = key;
    seen->count++;
}
